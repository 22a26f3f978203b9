// What several measurements need.

export const percentile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))];
export const median = (values) => percentile(values, 0.5);

/** A page of its own with a session of the devtools. */
export async function fresh_page(browser) {
  const page = await browser.newPage();
  const session = await browser.newCDPSession(page);
  await session.send("Network.enable");
  return { page, session };
}

/** Milliseconds of CPU time that the page's main thread has used: says something on a busy machine, too. Without what paints the pixels. */
export async function cpu_clock(session) {
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  };
}

/** Calls `ready` in the page until it is true. A function in the page's own loop would be code from text, which its policy forbids. */
export async function wait_in_page(page, ready, argument) {
  for (let tries = 0; tries < 2400; tries++) {
    if (await page.evaluate(ready, argument)) return;
    await page.waitForTimeout(25);
  }
  throw new Error(`waited in vain for ${ready}`);
}
