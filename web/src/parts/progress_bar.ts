import type { Job } from "../api/schema";
import { duration, final_states, number } from "../format";
import { html } from "../html";

/** One bar per job, whatever the number of cores. */
export function ProgressBar({ job, detailed }: { job: Job; detailed?: boolean }) {
  const { progress } = job;
  if (!progress?.steps_total) return detailed ? null : html`<span class="hint">–</span>`;
  const step = progress.step ?? 0;
  const share = Math.min(1, step / progress.steps_total);
  const moves = job.state === "running"; // what has ended or waits has no speed and no time left
  const words = detailed
    ? [
        ...((progress.epochs ?? 1) > 1 ? [`epoch ${progress.epoch} of ${progress.epochs}`] : []),
        `step ${number(step)} of ${number(progress.steps_total)}`,
        ...(moves || final_states.includes(job.state) ? [`${number(Math.round(progress.samples_per_s ?? 0))} samples/s`] : []),
        ...(moves && progress.eta_s !== null ? [`${duration(progress.eta_s)} left`] : []),
      ].join(", ")
    : `${Math.floor(share * 100)} %`;
  return html`<span class="progress">
    <progress max="1" value=${share} aria-label=${`progress: ${words}`}></progress> <span>${words}</span>
  </span>`;
}
