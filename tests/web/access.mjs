// Makes a project, gives and takes roles, sets weight, quota and a group's limit, makes and revokes a token, reads the audit log; then as one who may less.
import { run, until } from "./browser.mjs";

/** Before there is anything: each list says what to do. */
async function nothing_yet({ page, found, open, look }) {
  found.nothing_yet = {};
  for (const name of ["", "jobs", "sweeps", "cross-validations", "evaluations", "predictions", "queue"]) {
    await open(`#/${name}`);
    await until(page, async () => (await page.locator("h1").isVisible()) && !(await page.locator("main").innerText()).includes("Loading…"), `${name} to be read`);
    found.nothing_yet[name || "overview"] = await page.locator("main").innerText();
    await look(`nothing_yet_${name || "overview"}`);
  }
}

async function projects({ page, found, data, open, check, shot }) {
  await open("#/projects");
  await page.getByRole("textbox", { name: "New project", exact: true }).fill("not a name");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("alert").waitFor();
  found.project_refused = await page.getByRole("alert").innerText();
  await page.getByRole("textbox", { name: "New project", exact: true }).fill("vision");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "vision" }).waitFor();
  await page.getByRole("textbox", { name: "Member", exact: true }).fill("ann@example.org");
  const role = page.locator('[aria-label="giving a role"] select');
  await role.selectOption("admin");
  await page.getByRole("button", { name: "Give the role" }).click();
  await page.getByLabel("Role of ann@example.org").waitFor();
  await page.getByRole("textbox", { name: "Member", exact: true }).fill("bob");
  await role.selectOption("viewer");
  await page.getByRole("button", { name: "Give the role" }).click();
  await page.getByLabel("Role of bob").selectOption("editor");
  await until(page, async () => (await (await page.request.get(`${data.url}v1/projects/vision/members/bob`)).json()).role === "editor", "bob's role");
  await check("project");
  await shot("project");
  await page.getByRole("button", { name: "Remove bob" }).click();
  await until(page, async () => !(await page.getByLabel("Role of bob").isVisible()), "bob to be gone");

  await page.getByRole("textbox", { name: "Weight", exact: true }).fill("2");
  await page.getByRole("button", { name: "Set the weight" }).click();
  await page.getByRole("textbox", { name: "Cores at most", exact: true }).fill("many");
  await page.getByRole("button", { name: "Set the quota" }).click();
  await page.getByRole("alert").waitFor();
  found.quota_refused = await page.getByRole("alert").innerText();
  await page.getByRole("textbox", { name: "Cores at most", exact: true }).fill("4");
  await page.locator('[aria-label="quota"] select').selectOption("high");
  await page.getByRole("button", { name: "Set the quota" }).click();
  await page.getByText("4 cores, classes up to high").waitFor();
  await page.getByRole("textbox", { name: "Group", exact: true }).fill("search");
  await page.getByRole("textbox", { name: "Jobs at the same time", exact: true }).fill("3");
  await page.getByRole("button", { name: "Set the limit" }).click();
  await page.getByRole("region", { name: "groups" }).waitFor();
  found.project = await page.locator("main").innerText();
}

async function tokens({ page, found, open, check, shot }) {
  await open("#/tokens");
  await page.getByRole("textbox", { name: "New token", exact: true }).fill("laptop of ann");
  await page.locator('[aria-label="making a token"] select').selectOption("editor");
  await page.getByRole("textbox", { name: "Member", exact: true }).fill("ann@example.org");
  await page.getByRole("textbox", { name: "Projects", exact: true }).fill("vision");
  await page.getByText("As curl").first().click();
  found.token_curl = await page.locator(".curl pre").first().innerText();
  await page.getByRole("button", { name: "Create" }).click();
  found.secret = await page.getByLabel("secret").innerText();
  await check("new token");
  await shot("new_token");
  await page.getByRole("button", { name: "Copy" }).click();
  found.copied = await until(page, async () => /Copied|Selected/.test(await page.getByRole("region", { name: "new token" }).innerText()), "the copy");
  await page.getByRole("button", { name: "I have it" }).click();
  await page.getByRole("button", { name: "Revoke laptop of ann" }).waitFor();
  found.secret_again = (await page.locator("main").innerText()).includes(found.secret);
}

async function audit({ page, found, open, check }) {
  await open("#/audit");
  await page.getByRole("region", { name: "audit log" }).waitFor();
  found.audit = await page.getByRole("region", { name: "audit log" }).innerText();
  await check("audit");
  await page.getByRole("searchbox", { name: "Action" }).fill("put_member");
  await until(page, async () => (await page.locator("tbody tr").count()) === 3, "the changes of members");
}

/** As ann, an admin of one project by her role and an editor by her token. */
async function as_another({ browser, page, found, data, open, check, look }) {
  await browser.clearCookies();
  await browser.request.post(`${data.url}v1/login`, { data: { token: found.secret }, headers: { origin: new URL(data.url).origin } });
  await open("#/projects");
  await page.getByRole("link", { name: "vision" }).waitFor();
  found.sections = await page.locator("header nav").innerText();
  found.projects_of_ann = await page.locator("tbody a").allInnerTexts();
  await page.getByRole("link", { name: "vision" }).click();
  await page.getByRole("region", { name: "members" }).waitFor();
  found.buttons_of_ann = await page.locator("main button").allInnerTexts();
  await check("project of an editor");
  // What one may not see says so.
  await open("#/audit");
  await page.getByRole("alert").waitFor();
  found.audit_refused = await page.getByRole("alert").innerText();
  await look("not_permitted");
}

async function revoke({ browser, page, found, data, open }) {
  await browser.clearCookies();
  await browser.request.post(`${data.url}v1/login`, { data: { token: data.token }, headers: { origin: new URL(data.url).origin } });
  await open("#/tokens");
  await page.getByRole("button", { name: "Revoke laptop of ann" }).click();
  await page.getByText("revoked").waitFor();
}

await run(async (with_page) => {
  for (const use of [nothing_yet, projects, tokens, audit, as_another, revoke]) await use(with_page);
  with_page.found.console = with_page.found.console.filter((one) => !/status of (403|422)/.test(one)); // the browser reports each refusal
});
