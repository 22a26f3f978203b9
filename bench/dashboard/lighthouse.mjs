// Lighthouse's marks of every page, signed in, and of the sign-in.
import { marks_of } from "../../tests/web/lighthouse.mjs";
import { addresses } from "./views.mjs";

export async function lighthouse_marks({ browser, data, found }) {
  const marks = {};
  for (const [name, address] of Object.entries(addresses(data))) marks[name] = await marks_of(data.url + address, data.devtools_port);
  const cookies = await browser.cookies();
  await browser.clearCookies();
  marks.sign_in = await marks_of(data.url, data.devtools_port);
  await browser.addCookies(cookies);
  const least = (category) => Math.min(...Object.values(marks).map((one) => one[category]));
  Object.assign(found.figures, {
    lighthouse_accessibility_min: least("accessibility"), lighthouse_best_practices_min: least("best-practices"),
    lighthouse_failed: Object.fromEntries(Object.entries(marks).filter(([, { failed }]) => failed.length > 0).map(([name, { failed }]) => [name, failed])),
  });
}
