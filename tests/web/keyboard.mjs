// Does with the keyboard alone what people do most: goes through pages, searches, sorts, chooses, zooms, hides curves, brushes axes, sends a file, signs in.
import { run, until } from "./browser.mjs";

const stops_max = 400;

/** Presses Tab until `wanted` has the focus; notes each element on the way whose focus cannot be seen. */
async function tab_to(page, found, wanted, what) {
  await wanted.waitFor({ state: "attached" });
  for (let stops = 0; stops < stops_max; stops++) {
    await page.keyboard.press("Tab");
    const unseen = await page.evaluate(() => {
      const element = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return element === document.body || (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) ? undefined : element.outerHTML.slice(0, 120);
    });
    if (unseen) found.without_focus.push(unseen);
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`Tab does not come to ${what}`);
}

async function jobs({ page, found, open, tab }) {
  await open("#/");
  await page.getByRole("heading", { name: "Running" }).waitFor();
  await tab(page.getByRole("button", { name: "Skip to the content" }), "the way past the head");
  await page.keyboard.press("Enter");
  found.after_skip = await page.evaluate(() => document.activeElement.tagName);
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await page.getByRole("link", { name: "rate-0", exact: true }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("rate-");
  await until(page, async () => (await page.locator("tbody tr").count()) === 2, "the jobs of that name");
  await tab(page.getByRole("button", { name: /^created/ }), "the head of a column");
  await page.keyboard.press("Enter");
  await page.locator('th[aria-sort="ascending"]').waitFor();
  await until(page, async () => (await page.locator("tbody a").first().innerText()) === "rate-0", "the oldest job first");
  await tab(page.getByLabel("Choose rate-0"), "a box to choose a job by");
  await page.keyboard.press("Space");
  await page.getByRole("group", { name: "chosen jobs" }).waitFor();
  await page.keyboard.press("Shift+Tab"); // back over the table, to what can be done
  await tab(page.getByRole("button", { name: "pause…" }), "an action on chosen jobs");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "preview" }).waitFor();
  await tab(page.getByRole("button", { name: "Do nothing" }), "a way out of the preview");
  await page.keyboard.press("Enter");
  await until(page, async () => !(await page.getByRole("region", { name: "preview" }).isVisible()), "no preview");
  await tab(page.getByRole("link", { name: "rate-0", exact: true }), "a job");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "rate-0" }).waitFor();
}

async function charts({ page, found, tab }) {
  const plot = page.locator(".plot").first();
  await plot.locator("canvas").waitFor();
  await tab(plot, "a chart");
  for (const key of ["ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  found.chart_said = await page.locator(".chart").first().locator("[role=status]").innerText();
  await page.keyboard.press("+");
  await page.getByRole("button", { name: "Show all" }).waitFor();
  found.zoomed_address = page.url();
  await page.keyboard.press("0");
  await until(page, async () => !(await page.getByRole("button", { name: "Show all" }).isVisible()), "all of the curves");
  const entry = page.locator(".legend-entry").first();
  await tab(entry, "a curve in the legend");
  await page.keyboard.press("Space");
  found.curve_shown = await entry.getAttribute("aria-pressed");
  await tab(page.getByRole("button", { name: "as CSV" }).nth(1), "a file of a chart");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  found.chart_file = download.suggestedFilename();
  await tab(page.getByRole("button", { name: "Show the timeline" }), "the timeline");
  await page.keyboard.press("Enter");
  await tab(page.locator(".trace canvas"), "the picture of the timeline");
  const span = () => page.locator(".trace + [role=status]").innerText();
  found.spans_said = [];
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"]) {
    await page.keyboard.press(key);
    found.spans_said.push(await span());
  }
  await tab(page.getByRole("searchbox", { name: "Search the log" }), "the log");
  await page.keyboard.type("succeeded");
  await tab(page.getByText("Job spec"), "the spec");
  await page.keyboard.press("Enter");
  await page.getByLabel("job spec").waitFor();
}

async function brush({ page, found, data, open, tab, check, shot }) {
  await open(`#/sweeps/${data.sweep}`);
  const upper = page.getByRole("slider", { name: "val_loss, to" });
  const rows = page.getByRole("region", { name: "trials" }).locator("tbody tr");
  await rows.first().waitFor();
  await tab(upper, "an end of an axis");
  found.whole_axis = await upper.getAttribute("aria-valuetext");
  for (let press = 0; press < 5; press++) await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("ArrowDown");
  found.half_of_axis = [await upper.getAttribute("aria-valuenow"), await upper.getAttribute("aria-valuetext")];
  await until(page, async () => (await rows.count()) < data.trials, "fewer trials");
  found.kept = await rows.count();
  found.announced = await page.locator("section [role=status]").first().innerText();
  await check("brushed by keys");
  await shot("brushed");
  await page.keyboard.press("Escape");
  await until(page, async () => (await rows.count()) === data.trials, "all trials");
  const dots = page.locator(".scatter a");
  await tab(dots.first(), "a dot of the scatter");
  found.dots = [];
  for (let press = 0; press < data.trials; press++) await page.keyboard.press("ArrowLeft"); // to the first one
  for (let press = 0; press < data.trials; press++) {
    found.dots.push(await page.evaluate(() => document.activeElement.getAttribute("aria-label")));
    await page.keyboard.press("ArrowRight");
  }
  await page.keyboard.press("Tab");
  found.dot_after_tab = await dots.evaluateAll((links) => links.includes(document.activeElement));
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await until(page, () => page.url().includes("/jobs/job_"), "the job of a dot");
}

async function machine({ page, found, open, tab }) {
  await open("#/machine");
  await tab(page.getByRole("button", { name: /^Drain core 8/ }), "a core");
  await page.keyboard.press("Enter"); // what it asks is answered by the browser
  await page.getByRole("button", { name: /^Undrain core 8/ }).waitFor();
  await tab(page.getByRole("button", { name: /^Undrain core 8/ }), "the same core");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Drain core 8/ }).waitFor();
  await tab(page.getByRole("button", { name: "Show", exact: true }), "what ran when");
  await page.keyboard.press("Enter");
  await tab(page.locator(".timeline a").first(), "a bar");
  found.bars = [];
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"]) {
    found.bars.push(await page.evaluate(() => document.activeElement.getAttribute("aria-label")));
    await page.keyboard.press(key);
  }
  await tab(page.getByText("As curl"), "the requests");
  await page.keyboard.press("Enter");
  found.machine_curls = await page.locator(".curl").innerText();
}

async function what_if({ page, found, data, open, tab }) {
  await open("#/queue");
  await page.getByRole("link", { name: "held", exact: true }).waitFor();
  const form = page.getByRole("form", { name: "what if" });
  await tab(form.getByLabel(/^Job/), "the job of the question");
  await page.keyboard.type("held");
  await tab(form.getByLabel("were of class"), "its class");
  await page.keyboard.type("urgent");
  await tab(form.getByLabel("More hosts"), "more hosts");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  const said = page.locator("section:has(> form) [role=status]");
  await said.waitFor();
  found.what_if = await said.innerText();
}

async function upload({ page, found, data, open, tab }) {
  await open("#/datasets/new");
  await page.getByLabel("name required").waitFor();
  const asked = page.waitForEvent("filechooser"); // before the key, as the browser must know of it by then
  await tab(page.getByLabel("Files, or one archive (zip, tar)"), "the choice of files");
  await page.keyboard.press("Enter");
  await (await asked).setFiles(data.file);
  await page.getByText("has arrived", { exact: true }).waitFor();
  await tab(page.getByLabel("name required"), "the name");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("by-keys");
  await tab(page.getByRole("button", { name: "Create the dataset" }), "the button below the form");
  await page.keyboard.press("Enter");
  await page.locator(".state-ready").waitFor();
  found.sent = await page.locator("h1").innerText();
}

async function sign_in_again({ page, found, data, tab }) {
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  found.keys = await page.locator("main").innerText();
  await tab(page.getByRole("button", { name: "Sign out" }), "the way out");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await tab(page.getByLabel("Token"), "the token");
  await page.keyboard.type(data.token);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  found.signed_in_again = true;
}

await run(async (with_page) => {
  with_page.found.without_focus = [];
  const tab = (wanted, what) => tab_to(with_page.page, with_page.found, wanted, what);
  for (const use of [jobs, charts, brush, machine, what_if, upload, sign_in_again]) await use({ ...with_page, tab });
  // A stream that ends with its session is told so.
  with_page.found.console = with_page.found.console.filter((one) => !/status of 401/.test(one));
});
