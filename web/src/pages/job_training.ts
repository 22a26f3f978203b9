// What a training job shows while it runs and after: curves, where its time goes, checkpoints.
import { useEffect, useMemo } from "preact/hooks";
import type { Job } from "../api/schema";
import { Chart } from "../charts/chart";
import { ChartControls } from "../charts/chart_controls";
import { metric_charts } from "../charts/metric_charts";
import { make_view } from "../charts/view";
import { html } from "../html";
import { TimeShares } from "../parts/time_shares";
import { Checkpoints } from "./job_checkpoints";
import type { job_feed } from "./job_feed";
import { JobTimeline } from "./job_timeline";

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
    <${TimeShares} job=${job} begun=${feed.curves.value.size > 0}><${JobTimeline} job=${job} /></${TimeShares}>
    <${Checkpoints} job=${job} checkpoints=${feed.checkpoints.value} ended=${ended} changed=${feed.reload} />`;
}
