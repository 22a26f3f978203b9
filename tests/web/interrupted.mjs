// Keeps a page open while the service is killed and started again, its token is revoked, and its session expires.
import { readFileSync, writeFileSync } from "node:fs";
import { run, until } from "./browser.mjs";

async function as_admin(data, method, path, body) {
  const headers = { authorization: `Bearer ${data.admin}`, "content-type": "application/json" };
  const answer = await fetch(data.url + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  return answer.status === 204 ? undefined : answer.json();
}

async function sign_in(page, data, name, more = {}) {
  const made = await as_admin(data, "POST", "v1/tokens", { name, role: "editor", ...more });
  await page.getByLabel("Token").fill(made.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  return made.id;
}

/** Points of one curve of a chart, as its file has them. */
async function points_of(page, curve) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".chart").first().getByRole("button", { name: "as CSV" }).click()]);
  const lines = readFileSync(await download.path()).toString().trim().split("\n");
  return lines.filter((line) => line.startsWith(`${curve},`)).map((line) => Number(line.split(",")[1]));
}

async function killed_service({ page, found, data, open, look }) {
  await open(`#/jobs/${data.slow}`);
  await sign_in(page, data, "first");
  await page.locator(".chart canvas").first().waitFor();
  const status = page.locator(".title [role=status]");
  await until(page, async () => (await status.innerText()) === "live", "the stream");
  process.kill(data.pid, "SIGKILL");
  await until(page, async () => (await status.innerText()) === "reconnecting", "the stream to be cut");
  await look("cut_stream");
  writeFileSync(data.start_file, ""); // the test starts the service again
  await until(page, async () => (await status.innerText()) === "live", "the stream to come back");
  const step = async () => Number(/step ([\d,]+) of/.exec(await page.locator(".progress").innerText())[1].replaceAll(",", ""));
  const began = await step();
  await until(page, async () => (await step()) > began + 20, "steps after the cut");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".state-cancelled").waitFor();
  found.alert = await page.getByRole("alert").count();
  found.steps = await points_of(page, "train_loss");
}

async function revoked_token({ page, found, data, open, look }) {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  found.said_after_signing_out = await page.locator("main").innerText();
  await look("signed_out");
  await open("#/jobs?name=slo");
  const token = await sign_in(page, data, "second");
  await page.getByRole("link", { name: "slow" }).waitFor();
  await as_admin(data, "DELETE", `v1/tokens/${token}`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor(); // by itself: its stream has ended
  found.title_when_revoked = await page.title();
  found.said_when_revoked = await page.locator("main").innerText();
}

async function expired_session({ page, found, data, open, look }) {
  await sign_in(page, data, "third", { expires_at: new Date(Date.now() + 4000).toISOString() });
  await page.getByRole("link", { name: "slow" }).waitFor(); // where one was when the token was revoked
  found.address_after_sign_in = new URL(page.url()).hash;
  await until(page, async () => {
    if (await page.getByRole("heading", { name: "Sign in" }).isVisible()) return true;
    for (const name of ["Queue", "Machine"]) await page.getByRole("link", { name, exact: true }).click({ timeout: 1000 }).catch(() => undefined);
  }, "the session to end");
  await look("sign_in");
}

await run(async (with_page) => {
  for (const use of [killed_service, revoked_token, expired_session]) await use(with_page);
  // The browser reports what was cut and each refusal.
  with_page.found.console = with_page.found.console.filter((one) => !/ERR_|status of 401|status of 503/.test(one));
});
