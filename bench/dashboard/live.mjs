// How long a metric takes from its step to the screen: the time that the executor gave it, beside that of the first frame that shows its step.
import { fresh_page, median, percentile } from "./parts.mjs";

const settled_ms = 3000;

/** In the page: for each frame in which a later step is shown, the step and the time at which the frame after it begins. */
function note_steps() {
  window.shown = [];
  let last = 0;
  const look = () => {
    const text = document.querySelector(".legend")?.textContent ?? "";
    const step = Number(/train_loss.*?step ([\d,]+)/.exec(text)?.[1].replaceAll(",", "") ?? 0);
    if (step > last) {
      last = step;
      requestAnimationFrame(() => window.shown.push([step, Date.now()]));
    }
    requestAnimationFrame(look);
  };
  look();
}

export async function live_lag({ browser, data, found }) {
  const { page } = await fresh_page(browser);
  await page.addInitScript(note_steps);
  await page.goto(`${data.url}#/jobs/${data.live}`);
  await page.locator(".chart canvas").first().waitFor();
  await page.waitForTimeout(settled_ms);
  const began = await page.evaluate(() => window.shown.splice(0).at(-1)[0]);
  await page.waitForTimeout(data.live_s * 1000);
  const shown = await page.evaluate(() => window.shown);
  await page.close();
  const path = `v1/jobs/${data.live}/metrics?step_min=${began + 1}&step_max=${shown.at(-1)[0]}`;
  const { series } = await (await browser.request.get(data.url + path)).json();
  const { points } = series.find(({ name }) => name === "train_loss");
  let frame = 0;
  const lags = points.map(({ step, time }) => {
    while (shown[frame][0] < step) frame++;
    return shown[frame][1] - Date.parse(time);
  });
  Object.assign(found.figures, {
    live_points_per_s: Math.round(series.reduce((sum, one) => sum + one.points.length, 0) / data.live_s), live_frames: shown.length,
    live_lag_ms_median: median(lags), live_lag_ms_p99: percentile(lags, 0.99), live_lag_ms_max: Math.max(...lags),
  });
}
