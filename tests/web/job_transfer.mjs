// Counts the bytes of a job's page, of an idle list, and the streams of two tabs.
import { run, until } from "./browser.mjs";
import { count_bytes } from "./bytes.mjs";

await run(async ({ browser, page, found, data, open }) => {
  const session = await browser.newCDPSession(page);
  const paths = [];
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const counter = count_bytes(session);
  session.on("Network.requestWillBeSent", ({ request }) => paths.push(new URL(request.url).pathname));

  await open(`#/jobs/${data.long}`);
  await page.locator(".chart canvas").first().waitFor();
  await page.getByText("model.safetensors").first().waitFor();
  await page.waitForTimeout(500);
  found.job_bytes = counter.bytes();
  found.job_paths = paths.filter((path) => path.endsWith("/events"));
  found.curve = await page.locator(".chart").first().innerText();

  const before = paths.length;
  await open("#/jobs");
  const reads = () => paths.slice(before).filter((path) => path.endsWith("/v1/jobs")).length;
  await until(page, () => reads() >= 2, "the list to be read once more, as the stream has begun");
  await page.getByRole("link", { name: "long" }).waitFor();
  await page.waitForTimeout(1000); // the second answer arrives
  const opened = paths.length;
  counter.begin();
  await page.waitForTimeout(5000);
  found.idle_bytes = counter.bytes();
  found.idle_paths = paths.slice(opened).filter((path) => !path.endsWith("/v1/events"));

  // A second tab hears of a job through the stream of the first one.
  const second = await browser.newPage();
  const streams = [];
  second.on("request", (request) => request.url().includes("/v1/events") && streams.push(request.url()));
  await second.goto(`${data.url}#/jobs`);
  await second.getByRole("link", { name: "long" }).waitFor();
  await second.waitForTimeout(1000);
  const made = await browser.request.post(`${data.url}v1/jobs`, { data: data.job, headers: { origin: new URL(data.url).origin } });
  found.submitted = made.status();
  await until(second, () => second.getByRole("link", { name: "told" }).isVisible(), "the new job in the second tab");
  found.streams_of_second_tab = streams.length;
  await page.close(); // the second tab takes the stream over
  await until(second, () => streams.length > 0, "a stream of the second tab's own");
  found.taken_over = true;
});
