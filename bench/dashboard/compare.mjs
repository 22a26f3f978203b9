// The curves of 100 runs of 10,000 steps: from the answer that has them until they are painted. The answers are made here, the page is the real one.
import { median, wait_in_page } from "./parts.mjs";

const runs = 100;
const steps = 10_000;
const rounds = 5;

/** Curves as the service answers them: summaries of as many values as fit the resolution. */
function curves(ids, resolution) {
  const each = Math.ceil(steps / resolution);
  const series = (run) => Array.from({ length: Math.floor(steps / each) }, (_, index) => {
    const value = 2 / (1 + index / 20) + 0.1 * Math.sin(index * (run + 1));
    return { step: (index + 1) * each, epoch: 1, time: new Date(1.7e12 + index * 1000).toISOString(), value, min: value - 0.05, max: value + 0.05, mean: value, count: each };
  });
  return { jobs: ids.map((job_id, run) => ({ job_id, name: `run-${run}`, state: "succeeded", series: [{ name: "val_loss", points: series(run) }] })) };
}

/** In the page: notes when it was answered with the curves, and when the frame after their drawing was painted. */
function note_painting(runs) {
  const ask = window.fetch;
  window.fetch = async (...asked) => {
    const answer = await ask(...asked);
    const read = answer.text.bind(answer);
    answer.text = async () => {
      const text = await read();
      if (/v1\/metrics\?/.test(asked[0]) && !/resolution=1$/.test(asked[0])) window.answered_ms ??= performance.now();
      return text;
    };
    return answer;
  };
  const stroke = CanvasRenderingContext2D.prototype.stroke;
  let strokes = 0;
  CanvasRenderingContext2D.prototype.stroke = function (...path) {
    strokes++;
    stroke.apply(this, path);
  };
  const look = () => {
    if (strokes < runs) requestAnimationFrame(look);
    else requestAnimationFrame(() => setTimeout(() => (window.painted_ms = performance.now()))); // after the frame with them was painted
  };
  look();
}

export async function compare_runs({ browser, data, found }) {
  const page = await browser.newPage();
  const template = await (await browser.request.get(`${data.url}v1/jobs/${data.job}`)).json();
  const ids = Array.from({ length: runs }, (_, index) => data.job.slice(0, -3) + String(index).padStart(3, "0"));
  await page.route(/\/v1\/jobs\/job_/, (route) => {
    const id = new URL(route.request().url()).pathname.split("/").at(-1);
    return route.fulfill({ json: { ...template, id, name: `run-${ids.indexOf(id)}` } });
  });
  await page.route(/\/v1\/metrics\?/, (route) => route.fulfill({ json: curves(ids, Number(new URL(route.request().url()).searchParams.get("resolution"))) }));
  await page.addInitScript(note_painting, runs);
  const took = [];
  for (let round = 0; round < rounds; round++) {
    await page.goto("about:blank");
    await page.goto(`${data.url}#/compare?jobs=${ids.join(",")}`);
    await wait_in_page(page, () => window.painted_ms !== undefined);
    took.push(await page.evaluate(() => window.painted_ms - window.answered_ms));
  }
  Object.assign(found.figures, { compare_paint_ms_median: median(took), compare_paint_ms_max: Math.max(...took) });
  await page.close();
}
