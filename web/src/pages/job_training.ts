// What a training job shows while it runs and after: curves, where its time goes, checkpoints.
import { useEffect, useMemo } from "preact/hooks";
import { address } from "../api/base";
import type { Checkpoint, Job } from "../api/schema";
import { Chart } from "../charts/chart";
import { ChartControls } from "../charts/chart_controls";
import { metric_charts } from "../charts/metric_charts";
import { make_view } from "../charts/view";
import { bytes, metric_value, number } from "../format";
import { html } from "../html";
import { Table, type Column } from "../parts/table";
import { TimeShares } from "../parts/time_shares";
import type { job_feed } from "./job_feed";

const columns: Column<Checkpoint>[] = [
  { name: "step", cell: (one) => number(one.step) },
  { name: "kept as", cell: (one) => one.kinds.join(", ") },
  { name: "metric", cell: (one) => (one.metric ? `${one.metric.name} ${number(metric_value(one.metric.value, one.metric.nonfinite))}` : "–") },
  { name: "files", wide: true, cell: (one) => one.files.map((file) =>
    html`<a key=${file.name} download href=${address(`/v1/checkpoints/${one.id}/files/${file.name}`)}>${file.name}</a> <span class="hint">${bytes(file.bytes)}</span> `) },
];

function Checkpoints({ checkpoints, ended }: { checkpoints: Checkpoint[]; ended: boolean }) {
  return html`<section>
    <h2>Checkpoints</h2>
    ${checkpoints.length === 0
      ? html`<p class="hint">${ended ? "None was kept." : "None yet: the first one is saved after an epoch, or with Save checkpoint."}</p>`
      : html`<${Table} label="checkpoints" columns=${columns} rows=${checkpoints} key_of=${(one: Checkpoint) => one.id} />`}
  </section>`;
}

export function Training({ job, feed, ended }: { job: Job; feed: ReturnType<typeof job_feed>; ended: boolean }) {
  const view = useMemo(make_view, [job.id]);
  const zoom = view.zoom.value;
  useEffect(() => feed.zoomed(view.x_axis.value === "step" ? zoom : undefined), [zoom]);
  const charts = metric_charts(feed.curves.value.values());
  const nothing = ended ? "It ended before its first step." : "The curves begin with the first step.";
  return html`<section>
      <h2>Curves</h2>
      ${charts.length === 0 ? html`<p class="hint">${nothing}</p>` : html`<${ChartControls} view=${view} />
      <div class="charts">${charts.map(({ metric, title, curves }) => html`<${Chart} key=${title} title=${title} y_title=${metric}
        curves=${curves} view=${view} revision=${feed.revision.value} />`)}</div>`}
    </section>
    <${TimeShares} job=${job} begun=${feed.curves.value.size > 0} />
    <${Checkpoints} checkpoints=${feed.checkpoints.value} ended=${ended} />`;
}
