// One sweep: its best trial, what its parameters do to the objective, every trial, and every decision with its reason.
import { useMemo, useRef, useState } from "preact/hooks";
import { get, post, query, type List } from "../api/client";
import { may } from "../api/me";
import type { Sweep as SweepObject, SweepBest, SweepParameterImportance, SweepTrial } from "../api/schema";
import { any_value, duration, number, sentence, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { axes_of } from "../search/axis";
import { Decisions } from "../search/decisions";
import { Importance } from "../search/importance";
import { Parallel } from "../search/parallel";
import { Promote } from "../search/promote";
import { Scatter } from "../search/scatter";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { now_and_then } from "../parts/now_and_then";
import { PageState } from "../parts/page_state";
import { use_refreshed } from "../parts/refreshed";
import { State } from "../parts/state";
import { Table, type Column } from "../parts/table";

const trials_max = 5000;
const compared_max = 20;
const rows_at_first = 200; // a table of thousands would hold up the pictures beside it
const pause_ms = 1000;
const pause_ms_per_trial = 10; // a page of 200 is a request
const ends = ["finished", "stopped", "failed"];

interface Shown {
  sweep: SweepObject;
  trials: SweepTrial[]; // the best first, then those without a value
  importance: SweepParameterImportance[];
  best: SweepBest | null;
  revision: number;
}

async function all_trials(id: string, order_by: string | null): Promise<SweepTrial[]> {
  const trials: SweepTrial[] = [];
  let cursor: string | null = null;
  do {
    const page: List<SweepTrial> = await get<List<SweepTrial>>(`/v1/sweeps/${id}/trials${query({ order_by, limit: 200, cursor })}`);
    trials.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && trials.length < trials_max);
  return trials;
}

async function read(id: string): Promise<Shown> {
  const path = `/v1/sweeps/${id}`;
  const [sweep, best, all, importance] = await Promise.all([
    get<SweepObject>(path), all_trials(id, "best"), all_trials(id, null), get<List<SweepParameterImportance>>(`${path}/importance`)]);
  const winner = sweep.best ? await get<SweepBest>(`${path}/best`) : null;
  const listed = new Set(best.map((trial) => trial.number));
  return { sweep, trials: [...best, ...all.filter((trial) => !listed.has(trial.number))], importance: importance.items, best: winner, revision: Date.now() };
}

/** "trial 4 at 3": at this time of its own it went on with the weights of that trial. */
function weights_of({ lineage }: SweepTrial): string {
  return lineage.map(({ time, source, source_time }) => `trial ${source}${source_time === time ? "" : `'s of ${source_time}`} at ${time}`).join(", ") || "–";
}

/** When the value was measured, and how far the trial has trained. */
function times_of({ cross_validation, algorithm }: SweepObject["spec"]): Column<SweepTrial>[] {
  const trained: Column<SweepTrial> = { name: cross_validation ? "folds done" : "trained", cell: (trial) => trial.last_time ?? "–" };
  return cross_validation ? [trained] : [{ name: algorithm?.time_attr ?? "epoch", title: "When the value was measured", cell: (trial) => trial.value_time ?? "–" }, trained];
}

/** Where the weights with the value of the best trial are. */
function Weights({ best }: { best: SweepBest }) {
  if (best.folds.length > 0) return null; // each fold has its own
  if (!best.checkpoint_id) return html` No checkpoint has this value: ${sentence(best.checkpoint_reason ?? "")}`;
  return html` Its weights: <code>${best.checkpoint_id}</code> of <a href=${href(`/jobs/${best.job_id}`)}>its job</a>.`;
}

function columns_of({ spec }: SweepObject): Column<SweepTrial>[] {
  const lineage: Column<SweepTrial>[] = spec.algorithm?.name === "pbt"
    ? [{ name: "weights from", title: "Trials whose weights it took over, and when", wide: true, cell: weights_of }] : [];
  const folds: Column<SweepTrial>[] = spec.cross_validation
    ? [{ name: "folds", title: "Values of the folds that have trained, in order", wide: true, cell: (trial) => trial.fold_values.map(number).join(", ") || "–" }] : [];
  return [
    { name: "trial", cell: (trial) => (trial.job_id ? html`<a href=${href(`/jobs/${trial.job_id}`)}>${trial.number}</a>` : trial.number) },
    { name: "state", cell: (trial) => html`<${State} state=${trial.state} />` },
    { name: spec.objective?.metric ?? "value", cell: (trial) => number(trial.value) },
    ...folds,
    ...times_of(spec),
    ...Object.keys(spec.space ?? {}).map((path): Column<SweepTrial> => ({ name: path, cell: (trial) => any_value(trial.point[path]) })),
    ...lineage,
    { name: "last decision", wide: true, cell: (trial) => trial.reason ?? "" },
  ];
}

const verbs: { verb: string; label: string; hint: string; offered: (state: string) => boolean; danger?: boolean }[] = [
  { verb: "pause", label: "Pause", hint: "Start no more trials and pause the running ones", offered: (state) => state === "running" },
  { verb: "resume", label: "Resume", hint: "Go on", offered: (state) => state === "paused" },
  { verb: "stop", label: "Stop", hint: "End the sweep; its results are kept", danger: true, offered: (state) => ["running", "paused"].includes(state) },
];

function Actions({ sweep, done, failed }: { sweep: SweepObject; done: () => void; failed: (problem: unknown) => void }) {
  const run = (verb: string, danger?: boolean) =>
    (!danger || confirm(`Stop ${sweep.name}? Trials that run are ended; what was found stays.`)) && post(`/v1/sweeps/${sweep.id}/${verb}`).then(done, failed);
  return html`${verbs.filter(({ offered }) => offered(sweep.state)).map(({ verb, label, hint, danger }) =>
    html`<button key=${verb} class=${danger ? "danger" : ""} title=${hint} onClick=${() => run(verb, danger)}>${label}</button>`)}`;
}

function Facts({ sweep }: { sweep: SweepObject }) {
  const { spec, trials } = sweep;
  const states = (["running", "paused", "completed", "stopped", "failed"] as const).filter((state) => trials[state] > 0).map((state) => `${number(trials[state])} ${state}`);
  const facts: [string, unknown][] = [
    ["id", html`<code>${sweep.id}</code>`],
    ["project", sweep.project],
    ["algorithm", spec.algorithm?.name ?? "–"],
    ["objective", `${spec.objective?.mode === "max" ? "greatest" : "least"} ${spec.objective?.metric ?? "value"}`],
    ["trials", `${number(trials.total)} of ${number(sweep.max_trials)}${states.length > 0 ? `: ${states.join(", ")}` : ""}`],
    ["used", `${duration(sweep.core_s)} of a core`],
    ["created", time(sweep.created_at)],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function Pictures({ trials, sweep, importance, choose }: Shown & { choose: (trials: SweepTrial[] | undefined) => void }) {
  const axes = useMemo(() => axes_of(trials, sweep.spec.space ?? {}, sweep.spec.objective?.metric ?? "value"), [trials]);
  const has_values = axes.length > 1 && trials.some((trial) => trial.value !== null);
  const ended = ends.includes(sweep.state);
  if (!has_values) return html`<p class="hint">${ended ? "No trial has a value, so there are no plots of the parameters." : "Plots of the parameters are drawn once a trial has a value."}</p>`;
  return html`<section><h2>Parameters</h2><${Parallel} trials=${trials} axes=${axes} chosen=${choose} />
    <div class="charts"><${Scatter} trials=${trials} axes=${axes} />
      <section class="chart"><h3>Importance</h3><p class="hint">Fraction of the variance of the objective that each parameter explains, by itself and in pairs.</p><${Importance} items=${importance} ended=${ended} /></section></div></section>`;
}

export function Sweep({ id }: { id: string }) {
  const count = useRef(0);
  const concerns = useMemo(() => now_and_then(() => Math.max(pause_ms, count.current * pause_ms_per_trial)), [id]);
  const { value, error, again } = use_refreshed(id, () => read(id), (shown) => ends.includes(shown.sweep.state), concerns);
  count.current = value?.trials.length ?? 0;
  const [refused, set_refused] = useState<unknown>();
  const [chosen, set_chosen] = useState<SweepTrial[]>();
  const [all_rows, show_all_rows] = useState(false);
  const pictures = useMemo(() => value && html`<${Pictures} ...${value} choose=${set_chosen} />`, [value]); // not drawn again when some are chosen
  use_title(value ? `${value.sweep.name}, ${value.sweep.state}` : id);
  if (!value) return html`<${PageState} title=${`Sweep ${id}`} error=${error} back=${{ href: href("/sweeps"), name: "All sweeps" }} />`;
  const { sweep, trials, best } = value;
  const path = `/v1/sweeps/${id}`;
  const writes = may("editor", sweep.project);
  const ended = ends.includes(sweep.state);
  const chosen_numbers = chosen && new Set(chosen.map((trial) => trial.number));
  const shown = chosen_numbers ? trials.filter((trial) => chosen_numbers.has(trial.number)) : trials;
  const jobs = shown.flatMap((trial) => trial.job_id ?? []).slice(0, compared_max);
  return html`<main class="full">
    <nav aria-label="breadcrumb"><a href=${href("/sweeps")}>Sweeps</a></nav>
    <div class="title"><h1>${sweep.name}</h1> <${State} state=${sweep.state} />
      ${writes && html`<${Actions} sweep=${sweep} done=${again} failed=${set_refused} />`}
      ${jobs.length > 0 && html`<a href=${href("/compare", { jobs: jobs.join(",") })}>Curves of ${jobs.length === trials.length ? "all" : chosen && jobs.length === shown.length ? `these ${jobs.length}` : `the first ${jobs.length}`} trials</a>`}</div>
    <${ErrorNote} error=${refused ?? error} />
    ${sweep.reason && html`<p class=${sweep.state === "failed" ? "error" : "hint"}>${sentence(sweep.reason.message)}</p>`}
    <${Facts} sweep=${sweep} />
    ${sweep.best && html`<p>Best: trial ${sweep.best.trial} with ${sweep.spec.objective?.metric} ${number(sweep.best.value)}.${best && html`<${Weights} best=${best} />`}</p>
      ${writes && html`<${Promote} sweep=${id} best=${sweep.best.trial} of_folds=${Boolean(sweep.spec.cross_validation)} />`}`}
    ${pictures}
    <h2>Trials${chosen && `: ${shown.length} of ${trials.length}`}</h2>
    ${trials.length === 0 && html`<p class="hint">${ended ? "None was started." : "None yet."}</p>`}
    ${trials.length > 0 && html`<div class="tall"><${Table} label="trials" columns=${columns_of(sweep)} rows=${all_rows ? shown : shown.slice(0, rows_at_first)} key_of=${(trial: SweepTrial) => trial.number} /></div>`}
    ${!all_rows && shown.length > rows_at_first && html`<button onClick=${() => show_all_rows(true)}>Show all ${number(shown.length)} trials</button>`}
    <${Decisions} sweep=${id} revision=${value.revision} ended=${ended} />
    <${Curls} requests=${[{ label: "Read the sweep", method: "GET", path }, { label: "Its trials, the best first", method: "GET", path: `${path}/trials?order_by=best` },
      { label: "Importance of its parameters", method: "GET", path: `${path}/importance` }, { label: "Its decisions", method: "GET", path: `${path}/decisions` },
      ...(writes ? verbs : []).filter(({ offered }) => offered(sweep.state)).map(({ verb, label }) => ({ label, method: "POST", path: `${path}/${verb}` }))]} />
  </main>`;
}
