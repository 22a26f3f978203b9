// Drives the dashboard in Chromium; prints one JSON object of what it found. Run by test_dashboard.py from web/.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [link, done_id, live_id, ruined_id, crossed_id, shots] = process.argv.slice(2);
const origin = new URL(link).origin;

const browser = await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "slipway-browser-")), {
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"],
  viewport: { width: 1200, height: 900 },
  acceptDownloads: true,
});
const found = { console: [], other_origins: [], barriers: [] };
const page = await browser.newPage();
page.on("console", (message) =>
  ["error", "warning"].includes(message.type()) && found.console.push(`${message.text()} ${message.location().url}`));
page.on("pageerror", (error) => found.console.push(String(error)));
page.on("request", (request) => {
  const url = new URL(request.url());
  if (url.origin !== origin && !["data:", "blob:"].includes(url.protocol)) found.other_origins.push(request.url());
});
page.on("dialog", (dialog) => dialog.accept());

// axe is run in an isolated world of the devtools, so the page's policy stays as strict as it is.
async function barriers(name) {
  const session = await browser.newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  const evaluate = (expression, awaitPromise = false) =>
    session.send("Runtime.evaluate", { expression, contextId: executionContextId, awaitPromise, returnByValue: true });
  await evaluate(axe);
  const { result } = await evaluate("axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.nodes[0].html))", true);
  found.barriers.push(...(result.value ?? ["axe gave nothing"]).map((one) => `${name}: ${one}`));
}

try {
  await page.goto(link);
  await page.getByRole("link", { name: "live" }).waitFor();
  found.signed_in = true;
  found.list = await page.locator("table").innerText();
  await page.screenshot({ path: join(shots, "jobs.png") });
  await barriers("jobs");

  await page.goto(`${origin}/#/jobs/${done_id}`);
  await page.locator(".chart canvas").nth(1).waitFor();
  await page.getByText("model.safetensors").first().waitFor();
  found.charts = (await page.locator("figcaption").allInnerTexts()).map((text) => text.split(" ")[0].trim());
  await page.screenshot({ path: join(shots, "job.png"), fullPage: true });
  await barriers("job");

  await page.getByRole("link", { name: "Cross-validations" }).click();
  await page.getByRole("link", { name: "crossed" }).click();
  await page.getByText("Out-of-fold predictions").waitFor();
  found.crossed = await page.locator("main").innerText();
  await page.screenshot({ path: join(shots, "cross_validation.png"), fullPage: true });
  await barriers("cross-validation");
  await page.goto(`${origin}/#/cross-validations`);
  await page.getByRole("link", { name: "crossed" }).waitFor();
  await barriers("cross-validations");

  await page.goto(`${origin}/#/jobs/${ruined_id}`);
  await page.getByText("the validation loss is").first().waitFor();
  await page.getByText("model.safetensors").first().waitFor();
  found.ruined = await page.locator("main").innerText();
  await page.goto(`${origin}/#/jobs/${done_id}`);
  await page.getByText("model.safetensors").first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("model.safetensors").first().click()]);
  found.downloaded = download.suggestedFilename();
  await download.path();

  await page.goto(`${origin}/#/jobs/${live_id}`);
  const step = async () => Number(/step ([\d,]+) of/.exec(await page.locator("main").innerText())?.[1].replaceAll(",", "") ?? -1);
  await page.getByText(/step [\d,]+ of/).first().waitFor();
  found.live_steps_before = await step();
  for (let tries = 0; tries < 60; tries++) {
    await page.waitForTimeout(500);
    found.live_steps_after = await step();
    if (found.live_steps_after > found.live_steps_before) break;
  }
  await page.getByRole("button", { name: "Save checkpoint" }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.locator(".state-paused").waitFor({ timeout: 30000 });
  found.buttons_while_paused = await page.locator(".title button").allInnerTexts();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.locator(".state-running").waitFor({ timeout: 30000 });
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".state-cancelled").waitFor({ timeout: 30000 });
  found.state_after_cancel = await page.locator(".title .state").innerText();
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByText("retry of").waitFor({ timeout: 30000 });
  found.retry_of = await page.locator(".facts a").innerText();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".state-cancelled").waitFor({ timeout: 30000 });
  // A page that still asks when its cookie is gone is told 401, which is no complaint of the dashboard.
  await page.goto("about:blank");

  const again = await browser.browser()?.newContext() ?? browser;
  await browser.clearCookies();
  const answer = await again.request.get(link, { maxRedirects: 0 });
  found.second_use_refused = answer.status() >= 400;
  process.stdout.write(JSON.stringify(found));
} finally {
  await browser.close();
}
