// Compares runs, reads a sweep and promotes its best trial, looks at the queue, drains a core.
import { run, until } from "./browser.mjs";

async function compare({ page, found, data, open }) {
  await open("#/jobs?name=rate-");
  await page.getByLabel("Choose rate-0").check();
  await page.getByLabel("Choose rate-1").check();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.locator(".chart canvas").first().waitFor();
  found.compared = await page.locator(".legend").first().innerText();
  found.differences = await page.getByRole("region", { name: "differences" }).innerText();
  await page.getByLabel("Add a job").fill("ruined");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await until(page, async () => (await page.locator(".legend").first().innerText()).includes("ruined"), "the third job");
  await page.getByRole("button", { name: "Remove ruined" }).click();
  await until(page, async () => !(await page.locator(".legend").first().innerText()).includes("ruined"), "two jobs");
}

async function sweep({ page, found, data, open }) {
  await open(`#/sweeps/${data.folds_sweep}`);
  await page.getByRole("region", { name: "trials" }).waitFor();
  found.fold_values = await page.getByRole("region", { name: "trials" }).innerText();
  await open(`#/sweeps/${data.sweep}`);
  await page.locator(".parallel canvas").waitFor();
  found.sweep = await page.locator("main").innerText();
  const rows = page.getByRole("region", { name: "trials" }).locator("tbody tr");
  found.trials = await rows.count();
  const box = await page.locator(".parallel canvas").boundingBox();
  const x = box.x + box.width - 50; // the axis of the objective
  await page.mouse.move(x, box.y + box.height - 26);
  await page.mouse.down();
  await page.mouse.move(x, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  await until(page, async () => (await rows.count()) < found.trials, "fewer trials");
  found.trials_kept = await rows.count();
  await page.getByRole("button", { name: "Keep all" }).click();
  await until(page, async () => (await rows.count()) === found.trials, "all trials");
  found.trials_after_all = await rows.count();

  await page.getByText("Promote a trial to a job").click();
  await page.getByLabel("Start").selectOption("scratch");
  await page.getByRole("button", { name: "Show the job…" }).click();
  await page.getByLabel("the job", { exact: true }).waitFor();
  found.promoted_preview = await page.getByLabel("the job", { exact: true }).innerText();
  await page.getByRole("button", { name: "Submit this job" }).click();
  await page.getByRole("navigation", { name: "breadcrumb" }).waitFor();
  await until(page, () => page.url().includes("/jobs/job_"), "the promoted job");
}

async function machine({ page, found, open, check, shot }) {
  await open("#/machine");
  await page.getByRole("button", { name: /^Drain core 8/ }).click();
  await page.getByRole("button", { name: /^Undrain core 8/ }).waitFor();
  found.drained = await page.getByRole("row", { name: /^core 8|^8/ }).innerText();
  await page.getByRole("button", { name: /^Undrain core 8/ }).click();
  await page.getByRole("button", { name: /^Drain core 8/ }).waitFor();
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.locator(".timeline .span").first().waitFor();
  found.spans = await page.locator(".timeline .span").count();
  await check("timeline");
  await shot("timeline");
}

/** The numbers of the rows and what stands below them. */
async function shown_attempts(page) {
  const section = page.locator("section", { has: page.getByRole("heading", { name: "Attempts" }) });
  const rows = await section.locator("tbody tr td:first-child").allInnerTexts();
  return { rows: rows.map(Number), words: (await section.locator("p.hint").allInnerTexts()).join(" ") };
}

async function attempts({ page, found, data, open, check }) {
  await open(`#/jobs/${data.patient}`);
  const earlier = page.getByRole("button", { name: "Earlier attempts" });
  await earlier.waitFor();
  found.newest_attempts = await shown_attempts(page);
  await check("attempts");
  await earlier.click();
  await earlier.waitFor({ state: "detached" });
  found.all_attempts = await shown_attempts(page);
}

async function lineage({ page, found, data, open, shot }) {
  await open(`#/jobs/${data.fork}`);
  await page.getByRole("list", { name: "lineage" }).getByRole("link", { name: "done" }).waitFor();
  found.lineage = await page.getByRole("list", { name: "lineage" }).innerText();
  found.attempts = await page.getByRole("region", { name: "attempts" }).innerText();
  await page.getByRole("button", { name: /^Pin/ }).first().click();
  await page.getByRole("button", { name: /^Unpin/ }).waitFor();
  found.pinned = await page.getByRole("region", { name: "checkpoints" }).innerText();
  await shot("lineage");
  await page.getByRole("button", { name: /^Unpin/ }).click();
  await until(page, async () => !(await page.getByRole("button", { name: /^Unpin/ }).isVisible()), "no pinned checkpoint");
  await open(`#/jobs/${data.measured}`);
  await page.getByRole("region", { name: "classes" }).waitFor();
  found.measured_classes = await page.getByRole("region", { name: "classes" }).innerText();
  found.shaded = await page.locator('.matrix td[class*="shade"]').count();
}

async function population({ page, found, data, open, check, shot }) {
  await open(`#/sweeps/${data.population}`);
  await page.getByRole("region", { name: "trials" }).waitFor();
  found.population = await page.getByRole("region", { name: "trials" }).innerText();
  await open(`#/jobs/${data.copied}`);
  const list = page.getByRole("list", { name: "lineage" });
  await until(page, async () => (await list.isVisible()) && /weights/.test(await list.innerText()), "the lineage");
  found.copied = await list.innerText();
  await check("lineage of a population");
  await shot("population");
}

async function timeline({ page, found, data, open, check, shot }) {
  await open(`#/jobs/${data.done}`);
  await page.getByRole("button", { name: "Show the timeline" }).click();
  const table = page.getByRole("region", { name: "what took the time" });
  await table.waitFor();
  found.timeline = await table.innerText();
  const canvas = page.locator(".trace canvas");
  const bytes = () => canvas.evaluate((element) => element.toDataURL().length);
  found.timeline_whole = await bytes();
  await canvas.focus();
  await page.keyboard.press("+");
  found.timeline_zoomed = await until(page, async () => {
    const now = await bytes();
    return now !== found.timeline_whole && now;
  }, "the part of the timeline");
  await page.keyboard.press("0");
  // Somewhere along the row of the training thread something is under the pointer.
  const box = await canvas.boundingBox();
  for (let part = 0.1; part < 1 && !found.pointed; part += 0.02) {
    await page.mouse.move(box.x + part * box.width, box.y + 11);
    const words = await page.locator(".trace + .hint").innerText();
    if (words.startsWith("trainer")) found.pointed = words;
  }
  await check("timeline of a job");
  await shot("job_timeline");
}

/** Eight cores are taken and a job waits for them: two more hosts would start it at once. */
async function what_if({ page, found, data, open, check, look }) {
  const post = async (path, body) => {
    const answer = await page.request.post(data.url + path, { data: body, headers: { origin: new URL(data.url).origin } });
    if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  };
  const [first, second] = [await post("v1/jobs", { ...data.wide, name: "wide-1" }), await post("v1/jobs", { ...data.wide, name: "wide-2" })];
  const state_of = async ({ id }) => (await (await page.request.get(`${data.url}v1/jobs/${id}`)).json()).state;
  await until(page, async () => (await state_of(first)) === "running", "the first of them");
  await open("#/queue");
  await page.getByRole("link", { name: "wide-2" }).waitFor();
  const form = page.getByRole("form", { name: "what if" });
  const ask = () => form.getByRole("button", { name: "Simulate" }).click();
  const section = page.locator("section").filter({ has: form });
  found.what_if = {};
  await ask();
  await section.getByRole("alert").waitFor();
  found.what_if.nothing = await section.getByRole("alert").innerText();
  await form.getByLabel(/^Job/).selectOption({ value: second.id });
  await form.getByLabel("were of class").selectOption("urgent");
  await form.getByLabel("More hosts").fill("2");
  await ask();
  const table = page.getByRole("region", { name: "what would change" });
  await table.waitFor();
  found.what_if.said = await section.locator("> [role=status]").innerText();
  found.what_if.row = await table.locator("tbody tr").first().innerText();
  await section.getByText("As curl").click();
  found.what_if.curl = await section.locator(".curl pre").innerText();
  await look("what_if");
  await form.getByLabel(/^Job/).selectOption("new");
  await form.getByLabel("More hosts").fill("0");
  await section.getByLabel("the new job as JSON").fill(JSON.stringify({ ...data.wide, model: { arch: "mlp", width: -3 } }));
  await ask();
  await section.getByRole("alert").waitFor();
  found.what_if.refused = await section.getByRole("alert").innerText();
  await section.getByLabel("the new job as JSON").fill(JSON.stringify({ ...data.wide, queue: { class: "urgent" } }));
  await ask();
  await table.waitFor();
  found.what_if.new_said = await section.locator("> [role=status]").innerText();
  found.what_if.new_job = await table.innerText();
  await look("what_if_new");
  for (const { id } of [second, first]) await post(`v1/jobs/${id}/cancel`);
}

async function queue({ page, found, open }) {
  await open("#/queue");
  await page.getByRole("link", { name: "held" }).waitFor();
  found.queue = await page.getByRole("region", { name: "queue" }).innerText();
  await page.getByText("As curl", { exact: true }).click();
  found.curl = await page.locator(".curl").last().locator("pre").first().innerText();
  await open("#/evaluations");
  await page.getByRole("link", { name: "measured", exact: true }).click();
  await page.getByRole("region", { name: "metrics" }).waitFor();
  await open("#/predictions");
  await page.getByRole("link", { name: "predicted", exact: true }).waitFor();
  await open("#/");
  await page.getByRole("heading", { name: "Needs attention" }).waitFor();
  found.overview = await page.locator("main").innerText();
  const names = () => page.locator("tbody").innerText();
  await open("#/jobs");
  await page.getByRole("link", { name: "crossed-fold-0", exact: true }).waitFor();
  found.jobs_shown = await names();
  await page.getByLabel("Trials and folds").selectOption("none");
  await until(page, async () => !(await names()).includes("crossed-fold-0"), "a list without folds");
  found.jobs_hidden = await names();
}

await run(async (with_page) => {
  for (const use of [compare, sweep, population, attempts, lineage, timeline, machine, what_if, queue]) await use(with_page);
  with_page.found.console = with_page.found.console.filter((one) => !/status of 422/.test(one)); // the browser reports each refusal
});
