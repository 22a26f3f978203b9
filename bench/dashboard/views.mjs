// The first view of each page with an empty cache: its bytes, and the time until it is painted with the CPU slowed four times.
import { count_bytes } from "../../tests/web/bytes.mjs";
import { fresh_page, median, wait_in_page } from "./parts.mjs";

const settled_ms = 2000; // a page reads once more when its stream has begun
const slowed = 4;
const rounds = 3;

export const addresses = ({ job, dataset }) => ({
  overview: "#/", jobs: "#/jobs", job: `#/jobs/${job}`, compare: `#/compare?jobs=${job}`, submit: "#/submit", datasets: "#/datasets",
  dataset: `#/datasets/${dataset}`, dataset_new: "#/datasets/new", sweeps: "#/sweeps", cross_validations: "#/cross-validations",
  evaluations: "#/evaluations", predictions: "#/predictions", queue: "#/queue", machine: "#/machine", projects: "#/projects",
  project: "#/projects/default", tokens: "#/tokens", audit: "#/audit", keys: "#/keys",
});

/** In the page: notes when a frame was painted that has the page's content. */
function note_first_view() {
  const look = () => {
    const main = document.querySelector("main");
    const is_there = main?.querySelector("h1") && !main.innerText.includes("Loading…");
    requestAnimationFrame(is_there ? () => (window.painted_ms = performance.now()) : look);
  };
  look();
}

export async function first_views({ browser, data, found }) {
  const { page, session } = await fresh_page(browser);
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.addInitScript(note_first_view);
  const counter = count_bytes(session);
  const bytes = {};
  const times = {};
  for (const [name, address] of Object.entries(addresses(data)).filter(([name]) => !data.pages || data.pages.includes(name))) {
    const took = [];
    for (let round = 0; round < rounds; round++) {
      await page.goto("about:blank");
      await session.send("Emulation.setCPUThrottlingRate", { rate: slowed });
      counter.begin();
      await page.goto(data.url + address);
      await wait_in_page(page, () => window.painted_ms !== undefined);
      took.push(await page.evaluate(() => window.painted_ms));
      await session.send("Emulation.setCPUThrottlingRate", { rate: 1 });
      if (round > 0) continue;
      await page.waitForTimeout(settled_ms);
      bytes[name] = counter.bytes();
    }
    times[name] = Math.round(median(took));
  }
  await page.close();
  Object.assign(found.figures, {
    first_view_bytes: bytes, first_view_bytes_max: Math.max(...Object.values(bytes)),
    first_view_slowed_ms: times, first_view_slowed_ms_max: Math.max(...Object.values(times)),
  });
}
