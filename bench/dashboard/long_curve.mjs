// A curve of very many points: what the page says was its least and its greatest value, beside those of all points.
import { readFileSync } from "node:fs";
import { fresh_page } from "./parts.mjs";

export async function long_curve({ browser, data, found }) {
  const { page } = await fresh_page(browser);
  await page.goto(`${data.url}#/jobs/${data.many_points}`);
  const chart = page.locator(".chart").first();
  await chart.locator("canvas").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), chart.getByRole("button", { name: "as CSV" }).click()]);
  const rows = readFileSync(await download.path()).toString().trim().split("\n").slice(1).map((line) => line.split(","));
  const values = rows.filter(([curve]) => curve === "train_loss").flatMap((row) => row.slice(4).filter((one) => one !== "").map(Number));
  const { points, min, max } = data.extremes;
  const is_lost = (extreme, shown) => Math.abs(shown - extreme) > 1e-5 * Math.max(1, Math.abs(extreme)); // the CSV file of the service has every digit
  Object.assign(found.figures, {
    long_curve_points: points, long_curve_points_shown: rows.length,
    long_curve_extremes_lost: Number(is_lost(min, Math.min(...values))) + Number(is_lost(max, Math.max(...values))),
  });
  await page.close();
}
