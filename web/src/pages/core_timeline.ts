// Which job ran when on each core: the attempts of the jobs that were started last, drawn over time. Read when somebody opens it, as it takes a request for
// each job: the decisions of the scheduler say what was started, the attempts when that ended.
import { useState } from "preact/hooks";
import { get, query, type List } from "../api/client";
import type { Attempt, Core, Decision } from "../api/schema";
import { duration, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { along_rows, go_by_arrows, stop_of } from "../parts/arrow_stops";
import { ErrorNote } from "../parts/error_note";

const decisions_read = 100;
const jobs_read = 30;
const width = 1000;
const label_width = 130;
const row_height = 22;
const axis_height = 20;
const colours = 6;

interface Span {
  job_id: string;
  attempt: Attempt;
}

export interface Timeline {
  spans: Span[];
  from_ms: number;
  to_ms: number;
}

const end_of = ({ ended_at }: Attempt, now_ms: number) => (ended_at ? Date.parse(ended_at) : now_ms);

async function read(): Promise<Timeline> {
  const { items } = await get<List<Decision>>(`/v1/decisions${query({ limit: decisions_read })}`);
  const jobs = [...new Set(items.filter(({ kind }) => kind === "start").map(({ job_id }) => job_id))].slice(0, jobs_read);
  // A job may be deleted while it is asked about.
  const lists = await Promise.all(jobs.map((id) => get<List<Attempt>>(`/v1/jobs/${id}/attempts`).catch(() => ({ items: [] }))));
  const spans = lists.flatMap(({ items: attempts }, index) => attempts.map((attempt) => ({ job_id: jobs[index], attempt })));
  const now_ms = Date.now();
  const begins = spans.map(({ attempt }) => Date.parse(attempt.created_at));
  return { spans, from_ms: Math.min(now_ms, ...begins), to_ms: Math.max(...spans.map(({ attempt }) => end_of(attempt, now_ms)), now_ms) };
}

const by_begin = (a: Span, b: Span) => Date.parse(a.attempt.created_at) - Date.parse(b.attempt.created_at);

/** One colour for a job wherever it ran; its name is in the title of each bar. */
const colour_of = (spans: Span[], job_id: string) => [...new Set(spans.map((one) => one.job_id))].indexOf(job_id) % colours;

function words_of({ job_id, attempt }: Span): string {
  const ended = attempt.ended_at ? `to ${time(attempt.ended_at)}, ${attempt.exit_kind ?? "ended"}` : "still running";
  return `${job_id}, attempt ${attempt.attempt}: ${time(attempt.created_at)} ${ended}`;
}

export function Picture({ timeline, cores }: { timeline: Timeline; cores: Core[] }) {
  const { spans, from_ms, to_ms } = timeline;
  const length_ms = Math.max(1, to_ms - from_ms);
  const x_of = (at_ms: number) => label_width + ((width - label_width) * (at_ms - from_ms)) / length_ms;
  const height = cores.length * row_height + axis_height;
  let stops = 0;
  const bars = cores.flatMap((core, row) => spans.filter(({ attempt }) => attempt.host === core.host && attempt.cores.includes(core.core)).sort(by_begin).map((span) => {
    const begin = x_of(Date.parse(span.attempt.created_at));
    const end = x_of(end_of(span.attempt, to_ms));
    return html`<a tabindex=${stop_of(stops++)} key=${`${row} ${span.job_id} ${span.attempt.attempt}`} href=${href(`/jobs/${span.job_id}`)} aria-label=${`core ${core.core}: ${words_of(span)}`}>
      <rect class=${`span span-${colour_of(spans, span.job_id)}`} x=${begin} y=${row * row_height + 2} width=${Math.max(2, end - begin)} height=${row_height - 4}><title>${words_of(span)}</title></rect></a>`;
  }));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="what ran when"><svg class="timeline" viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${`${duration(length_ms / 1000)} of ${cores.length} cores; arrows go from bar to bar`}
      onKeyDown=${go_by_arrows(along_rows)}>
    ${cores.map((core, row) => html`<text key=${`${core.host} ${core.core}`} x="4" y=${row * row_height + 15}>${core.host} ${core.core}</text>`)}
    ${bars}
    <text x=${label_width} y=${height - 4}>${time(new Date(from_ms).toISOString())}</text>
    <text x=${width - 4} y=${height - 4} text-anchor="end">${time(new Date(to_ms).toISOString())}</text></svg></div>`;
}

export function CoreTimeline({ cores }: { cores: Core[] }) {
  const [timeline, set_timeline] = useState<Timeline>();
  const [error, set_error] = useState<unknown>();
  const ask = () => read().then(set_timeline, set_error);
  return html`<section><div class="title"><h2>What ran when</h2><button onClick=${ask}>${timeline ? "Read again" : "Show"}</button></div>
    <${ErrorNote} error=${error} />
    ${timeline?.spans.length === 0 && html`<p class="hint">Nothing has been started yet.</p>`}
    ${timeline && timeline.spans.length > 0 && html`<${Picture} timeline=${timeline} cores=${cores} />
      <p class="hint">The last ${jobs_read} jobs that were started, at most; each bar leads to its job. With the keyboard, arrows go from bar to bar.</p>`}</section>`;
}
