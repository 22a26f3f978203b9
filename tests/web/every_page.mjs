// Opens every page, light and dark, on a wide screen and on a phone: a title of its own, nothing beside the screen, no barrier; and counts the
// bytes of its first view with an empty cache. What has ended promises nothing.
import { run, until } from "./browser.mjs";
import { count_bytes } from "./bytes.mjs";

const pages = ({ done, ruined, sweep, failing, folds_sweep, crossed, measured, predicted, live, held, dataset, fork }) => ({
  overview: "#/", jobs: "#/jobs", nothing_found: "#/jobs?name=nobody", done: `#/jobs/${done}`, ruined: `#/jobs/${ruined}`, live: `#/jobs/${live}`, held: `#/jobs/${held}`, fork: `#/jobs/${fork}`,
  measured: `#/jobs/${measured}`, predicted: `#/jobs/${predicted}`, compare: `#/compare?jobs=${done},${ruined}`, compare_nothing: "#/compare",
  sweeps: "#/sweeps", sweep: `#/sweeps/${sweep}`, failing: `#/sweeps/${failing}`, folds_sweep: `#/sweeps/${folds_sweep}`, crosses: "#/cross-validations", crossed: `#/cross-validations/${crossed}`,
  submit: "#/submit", clone: `#/submit?from=${done}`, projects: "#/projects", project: "#/projects/default", tokens: "#/tokens", audit: "#/audit",
  datasets: "#/datasets", dataset: `#/datasets/${dataset}`, dataset_new: "#/datasets/new",
  evaluations: "#/evaluations", predictions: "#/predictions", queue: "#/queue", machine: "#/machine", keys: "#/keys", unknown: "#/nowhere",
});

const ended_jobs = ["done", "ruined", "fork", "measured", "predicted"];
const ended = [...ended_jobs, "sweep", "failing", "folds_sweep", "crossed"];
const promise = /\b(yet|once (a|enough|it)|when it has|begin with the first)\b.*/i;

await run(async ({ browser, page, found, data, open, check_schemes, look }) => {
  const session = await browser.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const counter = count_bytes(session);
  found.first_views = {}; // of each page, bytes and address of each answer
  found.titles = {};
  found.without_curl = [];
  found.promises = [];
  const is_read = (name) => until(page, () => page.evaluate(() => Boolean(document.querySelector("main h1")) && !document.querySelector("main").innerText.includes("Loading…")), `${name} to be read`, 20);
  const look_for_promises = async (name) => {
    const text = await page.locator("main").innerText();
    if (promise.test(text)) found.promises.push(`${name}: ${promise.exec(text)[0]}`);
    return text;
  };
  for (const [name, address] of Object.entries(pages(data)))
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      counter.begin();
      await open(address);
      await is_read(name);
      found.first_views[name] = counter.answers();
      found.titles[name] = await page.title();
      if (width === 1440) found.without_curl.push(...((await page.locator(".curl").count()) > 0 ? [] : [name]));
      if (width === 1440 && ended.includes(name)) await look_for_promises(name);
      for (const summary of await page.locator("summary").all()) await summary.click();
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.too_wide.push(`${name} ${width}`);
      await check_schemes(`${name} ${width}`);
      if (ended_jobs.includes(name)) found.first_views[name] = counter.answers(); // with all that comes after its head
    }

  found.without_result = {};
  for (const [name, address] of Object.entries({ unmeasured: `#/jobs/${data.unmeasured}`, unpredicted: `#/jobs/${data.unpredicted}`, uncrossed: `#/cross-validations/${data.uncrossed}`, failing: `#/sweeps/${data.failing}` })) {
    await open(address);
    await is_read(name);
    found.without_result[name] = await look_for_promises(name);
  }

  // While nothing is answered.
  await page.route("**/v1/**", () => undefined);
  for (const [name, address] of Object.entries({ loading_list: "#/jobs", loading_job: `#/jobs/${data.done}` })) {
    await open(address);
    await page.getByText("Loading…").waitFor();
    await look(name);
  }
});
