// A browser with the dashboard in it, for the scripts that use it as somebody would. Each prints one JSON object of what it found;
// test_dashboard.py judges that. Run from web/.
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const data = JSON.parse(readFileSync(0, "utf8")); // what the test says of its service: addresses, ids, folders

const options = {
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"],
  viewport: { width: 1440, height: 900 },
  acceptDownloads: true,
};

/** Reports what the browser complains of and which other origins a page asks. */
function watch(page, origin, found) {
  page.on("console", (message) =>
    ["error", "warning"].includes(message.type()) && found.console.push(`${message.text()} ${message.location().url}`));
  page.on("pageerror", (error) => found.console.push(String(error)));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !["data:", "blob:"].includes(url.protocol)) found.other_origins.push(request.url());
  });
  page.on("dialog", (dialog) => dialog.accept());
}

// WCAG 2.2 AA has a least size of targets, which axe looks at only when it is asked to.
const all_rules = { rules: { "target-size": { enabled: true } } };
// Of the same page in the other scheme: nothing but its colours is another.
const colour_rules = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };

/** axe in an isolated world of the devtools, so that the page's policy stays as strict as it is; a world has its name as long as its document lasts. */
async function axe_of(browser, page) {
  const session = await browser.newCDPSession(page);
  return async (rules) => {
    const { frameTree } = await session.send("Page.getFrameTree");
    const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
    const evaluate = (expression, awaitPromise = false) =>
      session.send("Runtime.evaluate", { expression, contextId: executionContextId, awaitPromise, returnByValue: true });
    if ((await evaluate("typeof axe")).result.value === "undefined") await evaluate(axe);
    const { result } = await evaluate(`axe.run(${JSON.stringify(rules)}).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes[0].html))`, true);
    return result.value ?? ["axe gave nothing"];
  };
}

/** Calls `use` with a signed-in page and prints what it put into `found`. `more_args`: of the browser. */
export async function run(use, more_args = []) {
  const origin = new URL(data.url).origin;
  const browser = await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "slipway-browser-")), { ...options, args: [...options.args, ...more_args] });
  const found = { console: [], other_origins: [], barriers: [], too_wide: [] };
  try {
    if (data.token) await browser.request.post(`${data.url}v1/login`, { data: { token: data.token }, headers: { origin } });
    browser.setDefaultTimeout(60000); // the machine may have other work
    const page = await browser.newPage();
    watch(page, origin, found);
    const open = async (address) => {
      await page.goto("about:blank"); // a page that is opened, not one that is gone to
      await page.goto(data.url + address);
    };
    const violations = await axe_of(browser, page);
    const check = async (name, rules = all_rules) => found.barriers.push(...(await violations(rules)).map((one) => `${name}: ${one}`));
    /** The page in both schemes: no barrier, a picture of each. */
    const check_schemes = async (name) => {
      for (const [colorScheme, rules] of [["dark", colour_rules], ["light", all_rules]]) {
        await page.emulateMedia({ colorScheme });
        await check(`${name} ${colorScheme}`, rules);
        await shot(`${name.replace(" ", "_")}_${colorScheme}`);
      }
    };
    /** The page as it is now in both schemes, wide and on a phone: no barrier, nothing beside the screen, a picture of each. */
    const look = async (name) => {
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) found.too_wide.push(`${name} ${width}`);
        await check_schemes(`${name} ${width}`);
      }
      await page.setViewportSize(options.viewport);
    };
    const shot = async (name) => data.shots && page.screenshot({ path: join(data.shots, `${name}.png`), fullPage: true });
    await use({ browser, page, found, data, open, check, check_schemes, shot, look });
    process.stdout.write(JSON.stringify(found));
  } finally {
    await browser.close();
  }
}

const patience_ms = 60_000;

/** Waits until `ready` gives something true; returns it. */
export async function until(page, ready, what, pause_ms = 250) {
  for (let tries = 0; tries < patience_ms / pause_ms; tries++) {
    const value = await ready();
    if (value) return value;
    await page.waitForTimeout(pause_ms);
  }
  throw new Error(`waited in vain for ${what}`);
}
