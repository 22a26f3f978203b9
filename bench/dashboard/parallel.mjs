// Frames a second while a brush is drawn over 5,000 trials. The answers with the trials are made here, the page is the real one.
import { cpu_clock, fresh_page } from "./parts.mjs";

const trials = 5000;
const moves = 60;

function trial(number) {
  const lr = 1e-4 * 10 ** ((3 * ((number * 7919) % trials)) / trials);
  const value = 0.2 + Math.abs(Math.log10(lr) + 2.5) * 0.2 + 0.05 * Math.sin(number);
  return { number, state: "completed", point: { "train.optimizer.lr": lr, "model.width": 16 << number % 5, "train.batch_size_per_core": 8 << number % 3 }, until: 1, value,
           value_time: 1, last_value: value, last_time: 1, reports: 1, lineage: [], fold_values: [], job_id: null, jobs: 1, reason: "drawn at random",
           started_at: "2026-01-01T00:00:00Z", ended_at: "2026-01-01T00:01:00Z" };
}

function trials_page(url) {
  const asked = new URL(url).searchParams;
  const from = Number(asked.get("cursor") ?? 0);
  const end = from + Number(asked.get("limit") ?? 50);
  const items = Array.from({ length: Math.min(end, trials) - from }, (_, index) => trial(from + index));
  return { items, next_cursor: end < trials ? String(end) : null };
}

export async function brushed({ browser, data, found }) {
  const { page, session } = await fresh_page(browser);
  const cpu_ms = await cpu_clock(session);
  await page.route(/\/v1\/sweeps\/swp_[0-9a-z]+\/trials/, (route) => route.fulfill({ json: trials_page(route.request().url()) }));
  await page.goto(`${data.url}#/sweeps/${data.sweep}`);
  await page.locator(".parallel canvas").waitFor();
  await page.waitForTimeout(3000);
  const box = await page.locator(".parallel canvas").boundingBox();
  const x = box.x + box.width - 50; // the axis of the objective
  const bottom = box.y + box.height - 26;
  await page.evaluate(() => {
    window.frames = 0;
    const look = () => {
      window.frames++;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.mouse.move(x, bottom);
  await page.mouse.down();
  const cpu_before = await cpu_ms();
  const began = await page.evaluate(() => [performance.now(), window.frames]);
  for (let move = 1; move <= moves; move++) {
    await page.mouse.move(x, bottom - (move / moves) * (box.height - 70));
    await page.waitForTimeout(10);
  }
  const ended = await page.evaluate(() => [performance.now(), window.frames]);
  const cpu_after = await cpu_ms();
  await page.mouse.up();
  found.figures.brushed_frames_per_s = Math.round((1000 * (ended[1] - began[1])) / (ended[0] - began[0]));
  found.figures.brushed_cpu_ms_per_move = Math.round((cpu_after - cpu_before) / moves);
  await page.close();
}
