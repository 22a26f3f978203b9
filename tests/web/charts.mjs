// Uses the charts of a job that trains: zooms while points come, hovers, smooths, changes axes, hides a curve, downloads.
import { readFileSync } from "node:fs";
import { run, until } from "./browser.mjs";

await run(async ({ page, found, data, open, check, shot }) => {
  await open(`#/jobs/${data.live}`);
  const chart = page.locator(".chart").first();
  const plot = chart.locator(".plot");
  await chart.locator("canvas").waitFor();
  const legend = () => chart.locator(".legend").innerText();
  const last_step = async () => Number(/step ([\d,.]+)/.exec(await legend())?.[1].replaceAll(",", "") ?? 0);
  await until(page, async () => (await last_step()) > 100, "a hundred steps");

  // Drag over the middle of the plot, then let points come.
  const box = await chart.locator(".u-over").boundingBox();
  const middle = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.25, middle);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, middle, { steps: 4 });
  await page.mouse.up();
  const zoom = () => new URLSearchParams(page.url().split("?")[1]).get("zoom");
  found.zoom = await until(page, zoom, "the zoom in the address");
  await page.mouse.move(0, 0);
  const before = await last_step();
  await until(page, async () => (await last_step()) > before + 50, "points after the zoom");
  found.zoom_later = zoom();
  found.ticks_while_zoomed = await page.getByRole("button", { name: "Show all" }).isVisible();

  // Under the cursor every curve has a value, also where it has no point of that very step; the other charts follow.
  await page.mouse.move(box.x + box.width * 0.61, middle);
  found.hovered = await until(page, async () => /val_loss\s*[\d.]/.test(await legend()) && legend(), "values under the cursor");
  found.hovered_other = await page.locator(".chart").nth(1).locator(".legend").innerText();
  await page.mouse.move(0, 0);

  await page.getByRole("button", { name: "Show all" }).click();
  await until(page, () => zoom() === null, "no zoom in the address");
  found.zoom_after_all = zoom();
  await page.getByLabel("x axis").selectOption("epoch");
  await until(page, async () => /epoch [\d,.]+/.test(await legend()), "epochs");
  await page.getByLabel("x axis").selectOption("time");
  await page.getByLabel("log y").check();
  await page.getByLabel("Smoothing").fill("0.9");
  await until(page, () => page.url().includes("smoothing=0.9"), "the smoothing in the address");
  found.address = page.url().split("?")[1];
  await shot("charts_log_smoothed");
  await check("charts");

  await chart.getByRole("button", { name: "train_loss" }).click();
  const pressed = () => chart.getByRole("button", { name: "train_loss" }).getAttribute("aria-pressed");
  await until(page, async () => (await pressed()) === "false", "the curve to be hidden");
  found.hidden = await pressed();
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("+");
  found.zoom_by_key = await until(page, zoom, "the zoom by key");
  await page.keyboard.press("0");
  await until(page, () => zoom() === null, "all of the curves");
  found.zoom_after_0 = zoom();

  found.files = {};
  for (const kind of ["PNG", "SVG", "CSV"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), chart.getByRole("button", { name: `as ${kind}` }).click()]);
    const content = readFileSync(await download.path());
    found.files[download.suggestedFilename()] = kind === "PNG" ? content.subarray(1, 4).toString() : content.toString().slice(0, 20000);
  }

  // The address holds the view: the same page opened again looks the same.
  await open(`#/jobs/${data.live}?${found.address}`);
  await chart.locator("canvas").waitFor();
  found.reopened = [await page.getByLabel("x axis").inputValue(), await page.getByLabel("Smoothing").inputValue(), await page.getByLabel("log y").isChecked()];
});
