// Lighthouse on the pages that everybody sees first. All pages: bench/dashboard/dashboard.py --only lighthouse.
import { run } from "./browser.mjs";
import { free_port, marks_of } from "./lighthouse.mjs";

const port = await free_port();
await run(async ({ browser, data, found }) => {
  found.marks = {};
  for (const [name, address] of [["overview", "#/"], ["job", `#/jobs/${data.done}`]]) found.marks[name] = await marks_of(data.url + address, port);
  await browser.clearCookies();
  found.marks.sign_in = await marks_of(data.url, port);
}, [`--remote-debugging-port=${port}`]);
