// Opens every page, light and dark, on a wide screen and on a phone: a title of its own, nothing beside the screen, no barrier; and counts the
// bytes of its first view with an empty cache.
import { run, until } from "./browser.mjs";
import { count_bytes } from "./bytes.mjs";

const pages = ({ done, ruined, sweep, folds_sweep, crossed, measured, predicted, live, dataset, fork }) => ({
  overview: "#/", jobs: "#/jobs", nothing_found: "#/jobs?name=nobody", done: `#/jobs/${done}`, ruined: `#/jobs/${ruined}`, live: `#/jobs/${live}`, fork: `#/jobs/${fork}`,
  measured: `#/jobs/${measured}`, predicted: `#/jobs/${predicted}`, compare: `#/compare?jobs=${done},${ruined}`, compare_nothing: "#/compare",
  sweeps: "#/sweeps", sweep: `#/sweeps/${sweep}`, folds_sweep: `#/sweeps/${folds_sweep}`, crosses: "#/cross-validations", crossed: `#/cross-validations/${crossed}`,
  submit: "#/submit", clone: `#/submit?from=${done}`, projects: "#/projects", project: "#/projects/default", tokens: "#/tokens", audit: "#/audit",
  datasets: "#/datasets", dataset: `#/datasets/${dataset}`, dataset_new: "#/datasets/new",
  evaluations: "#/evaluations", predictions: "#/predictions", queue: "#/queue", machine: "#/machine", keys: "#/keys", unknown: "#/nowhere",
});

await run(async ({ browser, page, found, data, open, check, shot }) => {
  const session = await browser.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const counter = count_bytes(session);
  found.first_view_bytes = {};
  found.titles = {};
  found.too_wide = [];
  for (const [name, address] of Object.entries(pages(data)))
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      counter.begin();
      await open(address);
      await page.locator("h1").waitFor();
      await until(page, async () => !(await page.locator("main").innerText()).includes("Loading…"), `${name} to be read`);
      found.first_view_bytes[name] = counter.bytes(); // what a page of live data reads from now on depends on how long it is looked at
      found.titles[name] = await page.title();
      for (const summary of await page.locator("summary").all()) await summary.click();
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.too_wide.push(`${name} ${width}`);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await check(`${name} ${colorScheme} ${width}`);
        await shot(`${name}_${colorScheme}_${width}`);
      }
    }
});
