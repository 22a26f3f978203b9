// A new job: a form made from the schema of the API, the same as JSON beside it, and the commands that would submit it. With `from` in the address it
// begins with the spec of a job, marks what is changed, and may go on from that job's checkpoint.
import { useEffect, useState } from "preact/hooks";
import { get, post, query, type List } from "../api/client";
import type { Dataset, Job, JobPreview, JobSpec } from "../api/schema";
import { html } from "../html";
import { go, href, route } from "../route";
import { save_blob } from "../save_blob";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { PageState } from "../parts/page_state";
import { chosen_fields, shortest_spec } from "../schema_form/chosen_fields";
import { JsonBox } from "../schema_form/json_box";
import { merge_patch } from "../schema_form/merge_patch";
import { Members } from "../schema_form/node";
import { differences } from "../schema_form/pointer";
import { problems_of } from "../schema_form/problems";
import { is_object, type Definitions } from "../schema_form/schema";
import { schemas } from "../schema_form/schemas";
import { Changes, Preview, starts, type Start } from "./submit_preview";

const first_fields = ["name", "data", "model", "task", "train", "accelerator"];
const datasets_known_max = 200;

interface Begun {
  definitions: Definitions;
  spec: JobSpec;
  datasets: string[];
}

function new_spec(asked: URLSearchParams): JobSpec {
  const project = asked.get("project");
  return {
    ...(project && project !== "default" ? { project } : {}),
    model: { arch: "mlp" },
    task: { type: "classification" },
    data: { dataset: asked.get("dataset") ?? "" },
    train: { epochs: 5, optimizer: { name: "adam", lr: 0.001 } },
  };
}

/** What was chosen of a job's spec; all of it when the service would not take such a job now. */
async function spec_to_clone(id: string): Promise<JobSpec> {
  const spec = await get<JobSpec>(`/v1/jobs/${id}/spec`);
  const shortest = shortest_spec(spec);
  const filled = await post<JobPreview>("/v1/jobs?dry_run=true", shortest).catch(() => undefined);
  return filled ? (chosen_fields(spec, filled.spec, shortest) as JobSpec) : spec;
}

async function begin(from: string | null, asked: URLSearchParams): Promise<Begun> {
  const [definitions, spec, datasets] = await Promise.all([
    schemas(),
    from ? spec_to_clone(from) : new_spec(asked),
    get<List<Dataset>>(`/v1/datasets${query({ limit: datasets_known_max, state: "ready" })}`).catch(() => ({ items: [] })),
  ]);
  return { definitions, spec, datasets: datasets.items.map(({ name }) => name) };
}

/** The request that submits `spec`: a job of its own, or one that goes on from another. */
function request_of(spec: JobSpec, from: string | null, before: JobSpec | undefined, start: Start) {
  if (!from || start === "new") return { path: "/v1/jobs", body: spec as unknown, prefix: "" };
  return { path: `/v1/jobs/${from}/fork`, body: { changes: merge_patch(before, spec) ?? {}, start }, prefix: "/changes" };
}

function Form({ definitions, spec: begun, datasets, from }: Begun & { from: string | null }) {
  const [spec, set_spec] = useState<JobSpec>(begun);
  const [start, set_start] = useState<Start>("new");
  const [error, set_error] = useState<unknown>();
  const [preview, set_preview] = useState<JobPreview>();
  const before = from ? begun : undefined;
  const { path, body, prefix } = request_of(spec, from, before, start);
  const change = (next: unknown) => {
    if (!is_object(next)) return;
    set_spec(next);
    set_preview(undefined);
  };
  const ask = <T,>(dry: boolean, done: (answer: T) => void) => {
    set_error(undefined);
    post<T>(`${path}${dry ? "?dry_run=true" : ""}`, body).then(done, (problem) => {
      set_preview(undefined);
      set_error(problem);
    });
  };
  const check = () => ask<JobPreview>(true, set_preview);
  const submit = (event: Event) => {
    event.preventDefault();
    ask<Job>(false, (job) => go(`/jobs/${job.id}`));
  };
  const form = { id: "job", definitions, problems: problems_of(error, prefix), before, suggestions: { "/data/dataset": datasets } };
  const save = () => save_blob(new Blob([`${JSON.stringify(spec, null, 2)}\n`], { type: "application/json" }), "job.json");
  return html`<div class="halves">
    <form class="schema-form" aria-label="job" onSubmit=${submit}>
      ${from && html`<label for="start">Start</label> <select id="start" onChange=${(event: Event) => set_start((event.target as HTMLSelectElement).value as Start)}>
        ${starts.map(([name, words]) => html`<option key=${name} value=${name} selected=${name === start}>${words}</option>`)}</select>`}
      <${Members} form=${form} schema=${definitions.JobSpec} value=${spec} set=${change} pointer="" name="job" required=${true} first=${first_fields} />
      <${ErrorNote} error=${error} />
      <p class="row"><button type="button" onClick=${check}>Check</button> <button type="submit">Submit</button>
        <span class="hint">Check stores nothing.</span></p>
      ${preview && html`<${Preview} preview=${preview} />`}
    </form>
    <section class="beside"><h2>As JSON</h2>
      <${JsonBox} label="job as JSON" value=${spec} set=${change} />
      ${before && html`<${Changes} before=${before} spec=${spec} pointers=${differences(before, spec)} />`}
      ${start === "new" && html`<h2>As a command</h2>
        <pre tabindex="0" aria-label="command">slipway submit job.json --follow</pre>
        <p><button onClick=${save}>Save job.json</button></p>`}
      <${Curls} requests=${[{ label: "Only check", method: "POST", path: `${path}?dry_run=true`, body }, { label: "Submit", method: "POST", path, body }]} />
    </section></div>`;
}

export function Submit() {
  const asked = route.value.query;
  const from = asked.get("from");
  const [begun, set_begun] = useState<Begun>();
  const [error, set_error] = useState<unknown>();
  const title = from ? "Clone with changes" : "New job";
  use_title(title);
  useEffect(() => {
    set_begun(undefined);
    begin(from, asked).then(set_begun, set_error);
  }, [from]);
  if (!begun) return html`<${PageState} title=${title} error=${error} back=${{ href: href("/jobs"), name: "All jobs" }} />`;
  return html`<main class="full">
    <nav aria-label="breadcrumb"><a href=${href("/jobs")}>Jobs</a></nav>
    <h1>${title}</h1>
    ${from && html`<p>Begins with the spec of <a href=${href(`/jobs/${from}`)}>${begun.spec.name ?? from}</a>; what you change is marked.</p>`}
    <${Form} key=${from ?? "new"} ...${begun} from=${from} />
  </main>`;
}
