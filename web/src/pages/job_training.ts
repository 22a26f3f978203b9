// What a training job shows while it runs and after: curves, where its time goes, checkpoints.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Evaluation, Job } from "../api/schema";
import { Chart } from "../charts/chart";
import { ChartControls } from "../charts/chart_controls";
import { metric_charts } from "../charts/metric_charts";
import { make_view } from "../charts/view";
import { html } from "../html";
import { TimeShares } from "../parts/time_shares";
import { Confusion } from "./confusion";
import { Checkpoints } from "./job_checkpoints";
import type { job_feed } from "./job_feed";
import { JobTimeline } from "./job_timeline";

/** The confusion matrix of the last evaluation, if the job asked for one. */
function LastConfusion({ job, evaluated }: { job: Job; evaluated: boolean }) {
  const [matrix, set_matrix] = useState<Evaluation["confusion_matrix"]>();
  const wanted = evaluated && job.spec.task?.metrics?.includes("confusion_matrix");
  useEffect(() => {
    set_matrix(undefined);
    // Without it the page is as before; its absence is no error of the page.
    if (wanted) get<Evaluation>(`/v1/jobs/${job.id}/evaluation`).then(({ confusion_matrix }) => set_matrix(confusion_matrix), () => undefined);
  }, [job.id, wanted]);
  return matrix ? html`<section><h2>Last evaluation</h2><${Confusion} ...${matrix} /></section>` : null;
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
    <${LastConfusion} job=${job} evaluated=${ended && feed.curves.value.has("val_loss")} />
    <${TimeShares} job=${job} begun=${feed.curves.value.size > 0}><${JobTimeline} job=${job} /></${TimeShares}>
    <${Checkpoints} job=${job} checkpoints=${feed.checkpoints.value} ended=${ended} changed=${feed.reload} />`;
}
