// Every page: its address, and what shows it. Sections are what the head of each page leads to.
import type { FunctionComponent } from "preact";
import { may, is_admin_of_all } from "./api/me";
import { Audit } from "./pages/audit";
import { Compare } from "./pages/compare";
import { CrossValidation } from "./pages/cross_validation";
import { CrossValidations } from "./pages/cross_validations";
import { Dataset } from "./pages/dataset";
import { DatasetNew } from "./pages/dataset_new";
import { Datasets } from "./pages/datasets";
import { Job } from "./pages/job";
import { Jobs } from "./pages/jobs";
import { Keys } from "./pages/keys";
import { Machine } from "./pages/machine";
import { Evaluations, Predictions } from "./pages/measured_lists";
import { Overview } from "./pages/overview";
import { Project } from "./pages/project";
import { Projects } from "./pages/projects";
import { Queue } from "./pages/queue";
import { Submit } from "./pages/submit";
import { Sweep } from "./pages/sweep";
import { Sweeps } from "./pages/sweeps";
import { Tokens } from "./pages/tokens";

interface Page {
  pattern: RegExp;
  Show: FunctionComponent<{ id: string }>;
}

export const pages: Page[] = [
  { pattern: /^\/$/, Show: Overview },
  { pattern: /^\/jobs$/, Show: Jobs },
  { pattern: /^\/jobs\/(job_[0-9a-z]+)$/, Show: Job },
  { pattern: /^\/submit$/, Show: Submit },
  { pattern: /^\/compare$/, Show: Compare },
  { pattern: /^\/datasets$/, Show: Datasets },
  { pattern: /^\/datasets\/new$/, Show: DatasetNew },
  { pattern: /^\/datasets\/(ds_[0-9a-z]+)$/, Show: Dataset },
  { pattern: /^\/sweeps$/, Show: Sweeps },
  { pattern: /^\/sweeps\/(swp_[0-9a-z]+)$/, Show: Sweep },
  { pattern: /^\/cross-validations$/, Show: CrossValidations },
  { pattern: /^\/cross-validations\/(cv_[0-9a-z]+)$/, Show: CrossValidation },
  { pattern: /^\/evaluations$/, Show: Evaluations },
  { pattern: /^\/predictions$/, Show: Predictions },
  { pattern: /^\/queue$/, Show: Queue },
  { pattern: /^\/machine$/, Show: Machine },
  { pattern: /^\/projects$/, Show: Projects },
  { pattern: /^\/projects\/([^/]+)$/, Show: Project },
  { pattern: /^\/tokens$/, Show: Tokens },
  { pattern: /^\/audit$/, Show: Audit },
  { pattern: /^\/keys$/, Show: Keys },
];

interface Section {
  path: string;
  name: string;
  key: string; // what one presses after "g" to go there
  offered?: () => boolean; // to whom; without it: to everybody
}

export const sections: Section[] = [
  { path: "/", name: "Overview", key: "o" },
  { path: "/jobs", name: "Jobs", key: "j" },
  { path: "/datasets", name: "Datasets", key: "d" },
  { path: "/sweeps", name: "Sweeps", key: "s" },
  { path: "/cross-validations", name: "Cross-validations", key: "c" },
  { path: "/evaluations", name: "Evaluations", key: "e" },
  { path: "/predictions", name: "Predictions", key: "p" },
  { path: "/queue", name: "Queue", key: "q" },
  { path: "/machine", name: "Machine", key: "m" },
  { path: "/projects", name: "Projects", key: "r" },
  { path: "/tokens", name: "Tokens", key: "t", offered: () => may("admin") },
  { path: "/audit", name: "Audit", key: "a", offered: is_admin_of_all },
];
