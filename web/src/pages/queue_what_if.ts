// What if: another class of a job, one more job, more hosts. The service simulates its queue with and without the change; nothing is stored.
import { useState } from "preact/hooks";
import { post } from "../api/client";
import type { QueueSimulate, QueueSimulation, QueuedJob } from "../api/schema";
import { duration, number, sentence, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { certainty } from "../parts/certainty";
import { Curls, type Request } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { NamedLink } from "../parts/named_link";
import { Table, type Column } from "../parts/table";
import { ChoiceValue, same_words, TextValue } from "../parts/values";
import { JsonBox } from "../schema_form/json_box";

const changes_shown = 10; // of those that would start later, and of those sooner: each may take a request for its name
const classes = ["urgent", "high", "normal", "low", "idle"] as const;
const path = "/v1/queue/simulate";
const no_job = "";
const new_job = "new";

const sample = {
  name: "what-if",
  model: { arch: "mlp" },
  task: { type: "classification" },
  data: { dataset: "DATASET" },
  train: { epochs: 5 },
  accelerator: { cores: 1 },
  queue: { class: "normal" },
};

/** A number that somebody typed; what is none goes to the service as it is, which says what it wants. */
const number_of = (text: string) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text) as number;

interface Change {
  job: string; // its id, or one of the words above
  class: string; // "": its own
  spec: unknown;
  hosts: string;
  cores: string;
}

function body_of(change: Change): QueueSimulate {
  const of_job: QueueSimulate = change.job === new_job ? { job: change.spec as QueueSimulate["job"] }
    : change.job === no_job ? {} : { job_id: change.job, ...(change.class ? { class: change.class as QueueSimulate["class"] } : {}) };
  return { ...of_job, ...(change.hosts.trim() && change.hosts.trim() !== "0" ? { more_hosts: number_of(change.hosts), cores_per_host: number_of(change.cores) } : {}) };
}

interface Row {
  job_id: string | null; // none: the job that would be submitted
  before_at: string | null | undefined; // undefined: it is not in the queue
  after_at: string | null;
  by_s: number | null;
}

function job_row({ job }: QueueSimulation): Row[] {
  if (!job) return [];
  const [before_at, after_at] = [job.job_id === null ? undefined : job.unchanged_starts_at, job.starts_at];
  const by_s = before_at && after_at ? Math.abs(Date.parse(after_at) - Date.parse(before_at)) / 1000 : null;
  return [{ job_id: job.job_id, before_at, after_at, by_s }];
}

/** The job of the question, then those that would start later, then those sooner: the most changed ones first. */
function rows_of(answer: QueueSimulation): Row[] {
  return [...job_row(answer), ...answer.delayed.slice(0, changes_shown), ...answer.sooner.slice(0, changes_shown)];
}

function difference({ before_at, after_at, by_s }: Row): string {
  if (before_at === undefined || (!before_at && !after_at)) return "–";
  if (!before_at) return "sooner"; // one of the two is later than was simulated
  if (!after_at) return "later";
  return (by_s ?? 0) < 1 ? "none" : `${duration(by_s)} ${Date.parse(after_at) > Date.parse(before_at) ? "later" : "sooner"}`;
}

function columns_of(names: ReadonlyMap<string, string>, until: string): Column<Row>[] {
  const start = (at: string | null) => (at ? time(at) : html`<span title=${`Simulated until ${time(until)}`}>not known</span>`);
  const link = (id: string) => (names.has(id) ? html`<a href=${href(`/jobs/${id}`)}>${names.get(id)}</a>` : html`<${NamedLink} id=${id} />`);
  return [
    { name: "job", wide: true, head: true, cell: ({ job_id }) => (job_id ? link(job_id) : "the new job") },
    { name: "start as it is", cell: ({ before_at }) => (before_at === undefined ? "–" : start(before_at)) },
    { name: "start with the change", cell: ({ after_at }) => start(after_at) },
    { name: "difference", cell: difference },
  ];
}

function counts_of({ job, jobs, delayed_jobs, sooner_jobs }: QueueSimulation): string {
  const others = jobs - (job?.job_id ? 1 : 0);
  if (others === 0) return `No ${job ? "other " : ""}job is ready to start.`;
  const count = (of: number) => (of === 0 ? "none" : number(of));
  return `Of ${number(others)} ${job ? "other " : ""}${others === 1 ? "job" : "jobs"} ${count(delayed_jobs)} would start later, ${count(sooner_jobs)} sooner.`;
}

function job_sentence({ job }: QueueSimulation): string {
  if (!job) return "";
  const name = job.job_id === null ? "The new job" : "The job";
  if (!job.starts_at) return `${name} would not start in the time that was simulated. ${sentence(job.message)} `;
  const place = `on ${job.host}, ${job.cores?.length === 1 ? "core" : "cores"} ${job.cores?.join(", ")}`;
  const soon = (job.starts_in_s ?? 0) < 1;
  const sure = soon ? "" : certainty[job.estimate_from ?? "known"];
  return `${name} would start ${soon ? "at once" : `in ${duration(job.starts_in_s)}`} ${place}${sure && `, ${sure}`}. ${job.code ? `${sentence(job.message)} ` : ""}`;
}

function Answer({ answer, names }: { answer: QueueSimulation; names: ReadonlyMap<string, string> }) {
  const rows = rows_of(answer);
  const not_shown = answer.delayed_jobs + answer.sooner_jobs - (rows.length - (answer.job ? 1 : 0));
  return html`<p role="status">${job_sentence(answer)}${counts_of(answer)}</p>
    ${!answer.complete && html`<p class="hint">The simulation ended at its limit: it knows what starts until ${time(answer.until)}.</p>`}
    ${rows.length > 0 && html`<${Table} label="what would change" columns=${columns_of(names, answer.until)} rows=${rows} key_of=${(row: Row) => row.job_id ?? new_job} />`}
    ${rows.length > 0 && not_shown > 0 && html`<p class="hint">The jobs that change most; ${number(not_shown)} more are not shown.</p>`}`;
}

/** `waiting`: the jobs of the page, to choose from. */
export function WhatIf({ waiting }: { waiting: QueuedJob[] }) {
  const [change, set_change] = useState<Change>({ job: no_job, class: "", spec: sample, hosts: "0", cores: "8" });
  const [asked, set_asked] = useState<QueuedJob>(); // stays a choice when it starts or the page is turned
  const [answer, set_answer] = useState<QueueSimulation>();
  const [error, set_error] = useState<unknown>();
  const choices = asked && !waiting.some(({ job_id }) => job_id === asked.job_id) ? [asked, ...waiting] : waiting;
  const set = (part: Partial<Change>) => {
    set_change({ ...change, ...part });
    set_answer(undefined);
    set_error(undefined);
  };
  const choose_job = (job: string) => {
    set_asked(choices.find(({ job_id }) => job_id === job));
    set({ job, class: "" });
  };
  const request: Request = { label: "What would happen", method: "POST", path, body: body_of(change) };
  const ask = (event: Event) => {
    event.preventDefault();
    set_answer(undefined);
    set_error(undefined);
    post<QueueSimulation>(path, request.body).then(set_answer, set_error);
  };
  const jobs: [string, string][] = [[no_job, "no job"], [new_job, "one that is submitted now"], ...choices.map(({ job_id, name, position }): [string, string] => [job_id, position ? `${name}, place ${position}` : name])];
  return html`<section><h2>What if…</h2>
    <form class="controls" aria-label="what if" onSubmit=${ask}>
      <${ChoiceValue} label="Job" value=${change.job} set=${choose_job} choices=${jobs} />
      ${asked && html`<${ChoiceValue} label="were of class" value=${change.class} set=${(name: string) => set({ class: name })} choices=${[["", `${asked.class}, as now`], ...same_words(classes.filter((name) => name !== asked.class))]} />`}
      <${TextValue} label="More hosts" type="number" value=${change.hosts} set=${(hosts: string) => set({ hosts })} />
      <${TextValue} label="Cores of each" type="number" value=${change.cores} set=${(cores: string) => set({ cores })} />
      <button type="submit">Simulate</button>
    </form>
    ${change.job === new_job && html`<${JsonBox} label="the new job as JSON" value=${change.spec} set=${(spec: unknown) => set({ spec })} />`}
    <${ErrorNote} error=${error} />
    ${answer ? html`<${Answer} answer=${answer} names=${new Map(choices.map(({ job_id, name }) => [job_id, name]))} />` : html`<p class="hint">Says when jobs would start, beside when they start as it is. Nothing is stored or changed.</p>`}
    <${Curls} of="what if" requests=${[request]} /></section>`;
}
