// Lighthouse's marks of pages for accessibility and best practices, with what it found where a mark is not full. The page is opened by Lighthouse
// itself, in the browser that is signed in.
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const { default: lighthouse } = await import(pathToFileURL(require.resolve("lighthouse")).href);

const categories = ["accessibility", "best-practices"];
const options = {
  logLevel: "silent", onlyCategories: categories, formFactor: "desktop", screenEmulation: { mobile: false, width: 1440, height: 900, deviceScaleFactor: 1 },
  throttlingMethod: "provided", disableStorageReset: true, maxWaitForLoad: 10_000, // the stream of events never ends
};

/** A port that nothing listens on, for the browser's devtools. */
export const free_port = () => new Promise((found) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => found(port));
  });
});

/** Marks from 0 to 100 of each category, and what takes from them, of the page at `url`. */
export async function marks_of(url, port) {
  const { lhr } = await lighthouse(url, { ...options, port });
  if (lhr.runtimeError) throw new Error(`${url}: ${lhr.runtimeError.message}`);
  const failed = categories.flatMap((category) => lhr.categories[category].auditRefs)
    .filter(({ id, weight }) => weight > 0 && lhr.audits[id].score !== null && lhr.audits[id].score < 1)
    .map(({ id }) => `${id}: ${(lhr.audits[id].details?.items ?? []).map((item) => item.node?.snippet ?? item.description ?? JSON.stringify(item)).slice(0, 3).join("; ")}`);
  return { ...Object.fromEntries(categories.map((category) => [category, Math.round(100 * lhr.categories[category].score)])), failed };
}
