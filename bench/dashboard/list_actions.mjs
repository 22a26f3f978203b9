// An action on a long list: from a filter and an order in the address until the rows that they leave are painted. Each is asked for the first time.
import { fresh_page, median } from "./parts.mjs";

const actions = [
  ["name=held-12", (row) => row.name.startsWith("held-12")],
  ["order_by=name", (row) => row.name === "done"],
  ["name=held-77&order_by=-name", (row) => row.name.startsWith("held-77")],
  ["label=team:t3", (row) => row.name.startsWith("held-") && Number(row.name.slice(5)) % 7 === 3],
  ["state=succeeded", (row) => row.state === "succeeded"],
  ["state=queued&order_by=created_at", (row) => row.state === "queued"],
  ["name=held-9&label=team:t5&order_by=-name", (row) => row.name.startsWith("held-9") && Number(row.name.slice(5)) % 7 === 5],
  ["order_by=best&metric=val_loss", (row) => row.state === "succeeded"],
  ["project=default&kind=train&name=held-4", (row) => row.name.startsWith("held-4")],
  ["order_by=-name", (row) => row.name >= "held-99"],
];

export async function list_actions({ browser, data, found }) {
  const { page } = await fresh_page(browser);
  await page.goto(`${data.url}#/jobs`);
  await page.locator("tbody tr").first().waitFor();
  const took = {};
  for (const [query, expected] of actions) {
    took[query] = await page.evaluate((asked) => new Promise((done) => {
      const rows = () => document.querySelector('[aria-label="jobs"] tbody')?.textContent;
      const before = rows();
      const began = performance.now();
      const observer = new MutationObserver(() => {
        if (!rows() || rows() === before) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))); // after the frame was painted
      });
      observer.observe(document.querySelector("#app"), { childList: true, subtree: true, characterData: true });
      location.hash = `#/jobs?${asked}`;
    }), query);
    const rows = await page.locator('[aria-label="jobs"] tbody tr').evaluateAll((all) =>
      all.map((row) => ({ name: row.querySelector("td:nth-child(2) a").textContent, state: row.querySelector(".state").textContent })));
    const wrong = rows.find((row) => !expected(row));
    if (rows.length === 0 || (wrong && !query.startsWith("order_by"))) throw new Error(`${query} gave ${JSON.stringify(wrong ?? rows)}`);
    if (!expected(rows[0])) throw new Error(`${query} began with ${JSON.stringify(rows[0])}`);
    await page.waitForTimeout(300);
  }
  const times = Object.values(took);
  Object.assign(found.figures, { list_action_ms: took, list_action_ms_median: median(times), list_action_ms_max: Math.max(...times) });
  await page.close();
}
