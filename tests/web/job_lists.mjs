// Finds jobs: searches, filters, orders, turns pages, comes back to where one was, acts on many, and uses the keys.
import { run, until } from "./browser.mjs";

await run(async ({ page, found, data, open, check, shot }) => {
  const names = () => page.locator("tbody tr td:nth-child(2) a").allInnerTexts();
  const shows = (expected, what) => until(page, async () => JSON.stringify(await names()) === JSON.stringify(expected), what);
  await open("#/jobs");
  await page.getByRole("link", { name: data.long_name }).waitFor();
  found.columns_in_sight = await page.locator("thead th").last().evaluate((cell) => cell.getBoundingClientRect().right <= innerWidth);
  await shot("jobs");
  await check("jobs");

  await page.getByLabel("Name", { exact: true }).fill("rate-");
  await until(page, () => page.url().includes("name=rate-"), "the name in the address");
  await page.getByLabel("Order").selectOption("best");
  await shows(data.by_loss, "jobs by their best loss");
  found.address = page.url().split("#")[1];
  await page.getByLabel("Label").fill("team:blue");
  await shows(["rate-1"], "jobs of a label");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByLabel("Order").selectOption("-created_at");
  await page.getByLabel("State").selectOption({ label: "failed" });
  await until(page, async () => (await names()).join() === "ruined", "failed jobs");
  await open(`#${found.address}`);
  await shows(data.by_loss, "the same list by its address");
  await page.getByRole("button", { name: /^val_loss/ }).click();
  await shows([...data.by_loss].reverse(), "the order reversed by the head of the column");

  await open("#/jobs?name=nobody");
  await page.getByText("Clear a filter").waitFor();
  found.nothing = await page.locator("main").innerText();

  // Pages, and Back.
  await open("#/jobs?name=many-");
  await until(page, async () => (await names()).length === 50, "a full page");
  const first = await names();
  await page.getByRole("button", { name: "Next page" }).click();
  await until(page, async () => (await names()).length === data.many - 50, "the second page");
  found.pages_overlap = (await names()).filter((name) => first.includes(name));
  await page.goBack();
  await shows(first, "the first page");
  await page.evaluate(() => scrollTo(0, 700));
  await page.waitForTimeout(200);
  await page.getByRole("link", { name: first[30], exact: true }).click();
  await page.getByRole("heading", { name: first[30] }).waitFor();
  found.top_of_new_page = await page.evaluate(() => scrollY);
  await page.goBack();
  await shows(first, "the list again");
  found.scroll_after_back = await until(page, () => page.evaluate(() => scrollY), "the place where one was");

  // Many at once: what would happen, then that.
  await open("#/jobs?name=many-1");
  await page.getByRole("link", { name: "many-10" }).waitFor();
  await page.getByRole("button", { name: "Choose all of this page" }).click();
  await page.getByRole("button", { name: "cancel…" }).click();
  const preview = page.getByRole("region", { name: "preview" });
  await preview.waitFor();
  found.preview = await preview.innerText();
  found.states_before = await page.getByRole("region", { name: "jobs" }).locator("tbody .state").allInnerTexts();
  await check("bulk");
  await page.getByRole("button", { name: /^cancel \d+ jobs$/ }).click();
  await until(page, async () => (await page.getByRole("region", { name: "jobs" }).locator(".state-cancelled").count()) === data.many_1, "cancelled jobs");

  await page.locator("h1").click();
  await page.keyboard.press("/");
  found.focused = await page.evaluate(() => document.activeElement.closest("label")?.innerText);
  await page.locator("h1").click();
  await page.keyboard.press("g");
  await page.keyboard.press("q");
  await page.getByRole("heading", { name: "Queue" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  found.keys = await page.locator("table").innerText();
});
