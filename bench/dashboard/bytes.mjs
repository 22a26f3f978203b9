// What the page of a long job transfers, and what a list does on which nothing happens.
import { count_bytes } from "../../tests/web/bytes.mjs";
import { fresh_page } from "./parts.mjs";

const settled_ms = 3000;
const hour_s = 3600;

export async function job_page({ browser, data, found }) {
  const { page, session } = await fresh_page(browser);
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const counter = count_bytes(session);
  await page.goto(`${data.url}#/jobs/${data.long_run}`);
  await page.locator(".chart canvas").first().waitFor();
  await page.waitForTimeout(settled_ms);
  found.figures.job_page_bytes = counter.bytes();
  await page.close();
}

export async function idle_list({ browser, data, found }) {
  const { page, session } = await fresh_page(browser);
  const counter = count_bytes(session);
  await page.goto(`${data.url}#/jobs`);
  await page.locator("tbody tr").first().waitFor();
  await page.waitForTimeout(settled_ms);
  counter.begin();
  await page.waitForTimeout(data.idle_s * 1000);
  found.figures.idle_list_bytes_per_hour = Math.round((counter.bytes() * hour_s) / data.idle_s);
  await page.close();
}
