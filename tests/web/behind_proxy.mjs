// Uses the dashboard where it does not begin at "/": behind a proxy with a path prefix. Signs in with a token and out again.
import { run, until } from "./browser.mjs";

await run(async ({ page, found, data, open, look }) => {
  const outside = [];
  page.on("request", (request) => !request.url().startsWith(data.url) && !request.url().startsWith("about:") && outside.push(request.url()));
  const complaints = found.console;
  await open("#/jobs");
  await page.getByLabel("Token").fill("slp_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  found.refused = await page.getByRole("alert").innerText();
  await look("wrong_token");
  await page.getByLabel("Token").fill(data.secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "done" }).click();
  await page.locator(".chart canvas").first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("model.safetensors").first().click()]);
  found.downloaded = (await download.path()) !== null && download.suggestedFilename();
  await page.getByText("As curl").last().click();
  found.curl = await page.locator(".curl").last().locator("pre").first().innerText();

  // The session ends on the server: the page asks to sign in.
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  found.title = await page.title();
  found.outside = outside;
  found.console = complaints.filter((one) => !/401/.test(one)); // the browser reports each refusal
});
