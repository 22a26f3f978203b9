import { duration, number } from "../format";
import { html } from "../html";
import type { Progress } from "../api/job";

/** One bar per job, whatever the number of cores. */
export function ProgressBar({ progress, detailed }: { progress?: Progress | null; detailed?: boolean }) {
  if (!progress?.steps_total) return html`<span class="hint">–</span>`;
  const step = progress.step ?? 0;
  const share = Math.min(1, step / progress.steps_total);
  const words = detailed
    ? `${(progress.epochs ?? 1) > 1 ? `epoch ${progress.epoch} of ${progress.epochs}, ` : ""}step ${number(step)} of ${number(progress.steps_total)}, ` +
      `${number(Math.round(progress.samples_per_s ?? 0))} samples/s, ${duration(progress.eta_s)} left`
    : `${Math.round(share * 100)} %`;
  return html`<span class="progress">
    <progress max="1" value=${share} aria-label=${`progress: ${words}`}></progress> <span>${words}</span>
  </span>`;
}
