// The browser's half of dashboard.py: each part adds figures to `found.figures`.
import { run } from "../../tests/web/browser.mjs";
import { free_port } from "../../tests/web/lighthouse.mjs";
import { compare_runs } from "./compare.mjs";
import { idle_list, job_page } from "./bytes.mjs";
import { lighthouse_marks } from "./lighthouse.mjs";
import { list_actions } from "./list_actions.mjs";
import { live_lag } from "./live.mjs";
import { long_curve } from "./long_curve.mjs";
import { brushed } from "./parallel.mjs";
import { first_views } from "./views.mjs";

// `live` is last: its job runs from the beginning, and is slowed by whatever is measured beside it.
const parts = { views: first_views, job: job_page, idle: idle_list, list: list_actions, compare: compare_runs, long: long_curve, parallel: brushed,
                lighthouse: lighthouse_marks, live: live_lag };

const port = await free_port();
await run(async (with_page) => {
  with_page.found.figures = {};
  with_page.data.devtools_port = port;
  for (const name of with_page.data.parts) await parts[name](with_page);
}, [`--remote-debugging-port=${port}`]);
