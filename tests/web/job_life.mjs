// Signs in with the one-time link; looks at jobs; watches one move, saves, pauses, resumes, cancels and retries it.
import { run, until } from "./browser.mjs";

await run(async ({ browser, page, found, data, open }) => {
  await page.goto(data.link);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  found.signed_in = true;

  await open("#/jobs");
  await page.getByRole("link", { name: "live", exact: true }).waitFor();
  found.list = await page.locator("table").innerText();
  await page.getByRole("link", { name: "live", exact: true }).click();
  const step = async () => Number(/step ([\d,]+) of/.exec(await page.locator("main").innerText())?.[1].replaceAll(",", "") ?? -1);
  await page.getByText(/step [\d,]+ of/).first().waitFor();
  found.live_steps_before = await step();
  found.live_steps_after = await until(page, async () => {
    const now = await step();
    return now > found.live_steps_before && now;
  }, "a step");
  found.live_title = await page.title();

  await page.getByRole("button", { name: "Save checkpoint" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.locator(".state-paused").waitFor();
  found.buttons_while_paused = await page.locator(".title:has(h1) button").allInnerTexts();
  found.progress_while_paused = await page.locator(".progress").innerText();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.locator(".state-running").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".state-cancelled").waitFor();
  found.state_after_cancel = await page.locator(".title .state").innerText();
  found.progress_after_cancel = await page.locator(".progress").innerText();
  found.log = await page.getByRole("log").innerText();
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByText("retry of").waitFor();
  found.retry_of = (await page.locator(".facts a").getAttribute("href")).split("/").at(-1);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".state-cancelled").waitFor();

  // A page that still asks when its cookie is gone is told 401, which is no complaint of the dashboard.
  await page.goto("about:blank");
  await browser.clearCookies();
  const answer = await browser.request.get(data.link, { maxRedirects: 0 });
  found.second_use_refused = answer.status() >= 400;
});
