// Looks at datasets, makes a split, sends a file over a connection that breaks and after the page was closed, sends a folder, deletes.
import { run, until } from "./browser.mjs";

async function read_them({ page, found, data, open, check, shot, look }) {
  await open("#/datasets");
  await page.getByRole("link", { name: "pictures" }).waitFor();
  found.list = await page.getByRole("region", { name: "datasets" }).innerText();
  await check("datasets");
  await page.getByLabel("State").selectOption("failed");
  await until(page, async () => (await page.locator("tbody tr").count()) === 1, "the failed dataset");
  await page.getByRole("link", { name: "broken" }).click();
  found.problems = await page.getByRole("region", { name: "problems" }).innerText();
  await look("failed_dataset");
  await open("#/datasets");
  await page.getByLabel("Name", { exact: true }).fill("PICT");
  await until(page, async () => (await page.locator("tbody a").allInnerTexts()).join() === "pictures", "the dataset of that name");
  await open("#/datasets?name=nobody");
  await page.getByText("Clear a filter").waitFor();

  await open(`#/datasets/${data.pictures}`);
  await page.locator(".sample img").first().waitFor();
  found.pictures = await page.locator(".sample img").evaluateAll((all) => all.map((image) => image.naturalWidth));
  found.classes = await page.getByRole("region", { name: "Classes" }).innerText();
  await page.getByRole("button", { name: "Make a split…" }).click();
  await page.getByLabel("method").selectOption({ label: "stratified_kfold" });
  await page.getByRole("button", { name: /^More of/ }).click();
  await page.getByLabel("folds", { exact: true }).fill("1");
  await check("new split");
  await page.getByRole("button", { name: "Make the split" }).click();
  await page.locator(".field-error").waitFor();
  found.split_refused = await page.locator(".field-error").innerText();
  await page.getByLabel("folds", { exact: true }).fill("3");
  await page.getByRole("button", { name: "Make the split" }).click();
  const splits = page.getByRole("region", { name: "splits" });
  await until(page, async () => (await splits.isVisible()) && /ready/.test(await splits.innerText()), "the split");
  found.splits = await splits.innerText();
  await shot("dataset");
}

async function table_page({ page, found, data, open }) {
  await open("#/datasets");
  await page.getByRole("link", { name: "points" }).click();
  await page.getByRole("region", { name: "samples" }).waitFor();
  found.rows = await page.getByRole("region", { name: "samples" }).innerText();
  await page.getByRole("region", { name: "jobs of the dataset" }).waitFor();
  found.users = await page.getByRole("region", { name: "jobs of the dataset" }).innerText();
}

const files = "Files, or one archive (zip, tar)";

async function send_a_file({ browser, page, found, data, open, check, look }) {
  const session = await browser.newCDPSession(page);
  const slow = (offline) => session.send("Network.emulateNetworkConditions", { offline, latency: 0, downloadThroughput: -1, uploadThroughput: 3e6 });
  const offsets = [];
  page.on("request", (request) => request.method() === "PATCH" && offsets.push(Number(request.headers()["upload-offset"])));
  await session.send("Network.enable");
  await open("#/datasets/new");
  await slow(false);
  await page.getByLabel(files).setInputFiles(data.large);
  await until(page, async () => offsets.length >= 2, "the second part");
  await check("upload");
  const complaints = found.console.length;
  await slow(true);
  await page.getByText("The connection was lost.").waitFor();
  found.while_cut = await page.getByRole("group", { name: "upload" }).innerText();
  await look("upload_cut");
  await slow(false);
  await until(page, async () => offsets.length >= 3, "a part after the cut");
  found.offset_after_cut = offsets.at(-1);

  // The page is closed; the same file goes on.
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("The part that has arrived is kept").waitFor();
  const before = offsets.length;
  await open("#/datasets/new");
  await slow(false);
  await page.getByLabel(files).setInputFiles(data.large);
  await until(page, async () => offsets.length > before, "a part after the page was opened again");
  found.offset_of_new_page = offsets[before];
  await page.getByText("has arrived", { exact: true }).waitFor();
  found.console.splice(complaints); // the browser reports what the cut ended

  await page.getByRole("button", { name: /^More of options/ }).click();
  await page.getByLabel("group_column").fill("family");
  await page.getByLabel("name required").fill("not a name");
  await page.getByRole("button", { name: "Create the dataset" }).click();
  await page.locator(".field-error").waitFor();
  found.name_refused = await page.locator(".field-error").innerText();
  await check("refused dataset");
  found.console.splice(complaints);
  await page.getByLabel("name required").fill("sent");
  await page.getByRole("button", { name: "Create the dataset" }).click();
  await page.locator(".state-ready").waitFor();
  found.sent = await page.locator(".facts").innerText();
}

async function send_a_folder({ page, found, data, open }) {
  await open("#/datasets/new");
  await page.getByLabel("A folder", { exact: true }).setInputFiles(data.folder);
  await page.getByText("has arrived", { exact: true }).waitFor();
  found.guessed = [await page.getByLabel("name required").inputValue(), await page.getByLabel("format required").inputValue()];
  await page.getByLabel("name required").fill("sent-folder");
  await page.getByRole("button", { name: "Create the dataset" }).click();
  await page.locator(".state-ready").waitFor();
  found.sent_folder = await page.getByRole("region", { name: "Classes" }).innerText();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("heading", { name: "Datasets" }).waitFor();
  await until(page, async () => !(await page.getByRole("link", { name: "sent-folder" }).isVisible()), "the dataset to be gone");
}

async function only_read({ browser, page, found, data, open }) {
  await browser.clearCookies();
  await browser.request.post(`${data.url}v1/login`, { data: { token: data.viewer }, headers: { origin: new URL(data.url).origin } });
  await open(`#/datasets/${data.pictures}`);
  await page.locator(".sample img").first().waitFor();
  found.buttons_of_viewer = await page.locator("main button").allInnerTexts();
}

await run(async (with_page) => {
  for (const use of [read_them, table_page, send_a_file, send_a_folder, only_read]) {
    const complaints = with_page.found.console.length;
    await use(with_page);
    // What the service refuses is in its answers, and the browser reports each.
    with_page.found.console = with_page.found.console.filter((one, index) => index < complaints || !/status of 4(09|22)/.test(one));
  }
});
