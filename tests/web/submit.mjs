// Submits a job with the form made from the schema: mistakes at their fields, the check, JSON beside it; clones a job with changes, and forks it.
import { run, until } from "./browser.mjs";

async function new_job({ page, found, data, open, check, shot }) {
  await open("#/jobs");
  await page.getByRole("link", { name: "New job" }).click();
  const json = page.getByLabel("job as JSON");
  await json.waitFor();
  await page.getByLabel("dataset required").fill("nobody");
  await page.getByLabel("arch", { exact: true }).selectOption({ label: "vit_tiny" });
  await page.getByLabel("arch", { exact: true }).selectOption({ label: "mlp" });
  await page.getByRole("button", { name: /^More of model/ }).click();
  await page.getByLabel("width", { exact: true }).fill("-3");
  await page.getByLabel("lr required").fill("1e-3x");
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.locator(".field-error").first().waitFor();
  found.problems = await page.locator(".field-error").allInnerTexts();
  found.marked = await page.locator('[aria-invalid="true"]').evaluateAll((all) => all.map(({ id }) => id));
  await check("refused job");
  await shot("submit_refused");

  // Half of it in the form, half as JSON.
  await page.getByLabel("dataset required").fill("points");
  await page.getByLabel("lr required").fill("1e-2");
  await until(page, async () => JSON.parse(await json.inputValue()).train.optimizer.lr === 0.01, "the JSON to follow");
  const spec = JSON.parse(await json.inputValue());
  found.spec = spec;
  await json.fill('{"name": ');
  await page.getByText("Not JSON yet").waitFor();
  await json.fill(JSON.stringify({ ...spec, name: "by form", model: { arch: "mlp", width: 8 }, train: { ...spec.train, schedule: { name: "cosine", warmup_steps: 20 } } }));
  found.name_in_form = await until(page, () => page.getByLabel("name", { exact: true }).first().inputValue(), "the name in the form");
  await page.getByLabel("epochs required").fill("2");
  await page.getByRole("button", { name: "Check", exact: true }).click();
  const preview = page.getByRole("region", { name: "what the job would be" });
  await preview.locator("canvas").waitFor();
  found.preview = await preview.innerText();
  await check("job preview");
  await shot("submit_preview");
  await page.getByText("As curl").click();
  found.curl = await page.locator(".curl pre").last().innerText();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save job.json" }).click()]);
  found.saved = download.suggestedFilename();
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await until(page, () => page.url().includes("/jobs/job_"), "the page of the job");
  await page.locator(".state-succeeded").waitFor();
  found.job = page.url().split("/").at(-1);
}

async function clone({ page, found, data, open, check, shot }) {
  await open(`#/jobs/${found.job}`);
  await page.getByRole("link", { name: "Clone with changes" }).click();
  await page.getByLabel("job as JSON").waitFor();
  await page.getByText("Nothing is changed yet.").waitFor();
  found.cloned = JSON.parse(await page.getByLabel("job as JSON").inputValue());
  await page.getByLabel("lr required").fill("0.002");
  await page.getByLabel("epochs required").fill("3");
  found.changes = await page.getByRole("region", { name: "changes" }).innerText();
  found.marks = await page.locator(".changed").allInnerTexts();
  await check("clone");
  await shot("clone");
  await page.getByLabel("Start", { exact: true }).selectOption("continue");
  await page.getByLabel("batch_size_per_core", { exact: true }).fill("4");
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByRole("alert").waitFor();
  found.fork_refused = await page.getByRole("alert").innerText();
  await page.getByLabel("batch_size_per_core", { exact: true }).fill("");
  await page.getByText("As curl").click();
  found.fork = await page.locator(".curl pre").last().innerText();
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await page.getByText("fork of").waitFor();
}

await run(async (with_page) => {
  await new_job(with_page);
  await clone(with_page);
  with_page.found.console = with_page.found.console.filter((one) => !/status of 422/.test(one)); // the browser reports each refusal
});
