// Reads what ended jobs left: curves, values that are no numbers, checkpoints, cross-validations; and an address of no job.
import { run } from "./browser.mjs";

await run(async ({ page, found, data, open, shot, look }) => {
  await open(`#/jobs/${data.done}`);
  await page.locator(".chart canvas").nth(1).waitFor();
  await page.getByText("model.safetensors").first().waitFor();
  found.charts = (await page.locator("figcaption").allInnerTexts()).map((text) => text.split("\n")[0].trim());
  found.done = await page.locator("main").innerText();
  await shot("job_done");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("model.safetensors").first().click()]);
  found.downloaded = download.suggestedFilename();
  await download.path();

  await open(`#/jobs/${data.ruined}`);
  await page.getByText("the validation loss is").first().waitFor();
  await page.getByText("model.safetensors").first().waitFor();
  found.ruined = await page.locator("main").innerText();
  await shot("job_ruined");

  await open("#/cross-validations");
  await page.getByRole("link", { name: "crossed" }).click();
  await page.getByRole("link", { name: "Out-of-fold predictions" }).waitFor();
  found.crossed = await page.locator("main").innerText();
  await page.getByRole("link", { name: "Curves of the folds" }).click();
  await page.locator(".chart canvas").first().waitFor();
  found.folds = await page.locator(".chart").first().innerText();

  const complaints = found.console.length;
  await open(`#/jobs/${data.done.slice(0, -3)}zzz`);
  await page.getByRole("alert").waitFor();
  found.unknown_job = await page.locator("main").innerText();
  await look("unknown_job");
  await open("#/nowhere");
  await page.getByRole("heading", { name: "No such page" }).waitFor();
  found.console.splice(complaints); // the browser reports each 404
});
