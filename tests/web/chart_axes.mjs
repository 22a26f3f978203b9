// Draws charts of given curves and views, without a service, and prints the axes, the labels and the SVG file of each.
import { createRequire } from "node:module";
import { join } from "node:path";
import { run } from "./browser.mjs";

const require = createRequire(join(process.cwd(), "package.json"));
const { build } = require("esbuild");
const source = `
  import { make_plot, refit } from "./src/charts/plot";
  import { plot_svg } from "./src/charts/svg";
  const numbers = { nan: NaN, inf: Infinity };
  const read = (value) => (typeof value === "string" ? numbers[value] : value);
  const curve_of = ({ xs, ys, start_ms = 0 }) => ({ name: "a", start_ms: read(start_ms), points: xs.map((x, i) => ({ step: x, epoch: x, time_ms: x * 1000, value: read(ys[i]) })) });
  window.draw = async ({ curves, x_axis = "step", log_x = false, log_y = false, zoom, then }) => {
    const element = document.body.appendChild(document.createElement("div"));
    const signals = { x_axis, log_x, log_y, zoom, smoothing: 0, hover: undefined };
    const view = Object.fromEntries(Object.entries(signals).map(([name, value]) => [name, { value }]));
    let shown = curves;
    const inputs = { element, view, y_title: "y", zoomed() {}, hovered() {}, curves: () => shown.map((one, index) => ({ curve: curve_of(one), index })) };
    const plot = make_plot(inputs);
    await new Promise((done) => setTimeout(done, 0)); // uPlot draws in a microtask
    if (then) {
      [shown, view.zoom.value] = [then.curves ?? shown, then.zoom];
      refit(plot, inputs);
      await new Promise((done) => setTimeout(done, 0));
    }
    const scale = ({ min, max }) => [min, max];
    const labels = (axis) => (axis._values ?? []).filter((label) => label);
    return { x: scale(plot.scales.x), y: scale(plot.scales.y), x_labels: labels(plot.axes[0]), y_labels: labels(plot.axes[1]), svg: plot_svg(plot, inputs) };
  };`;

await run(async ({ page, found, data }) => {
  const { outputFiles } = await build({ stdin: { contents: source, resolveDir: process.cwd(), loader: "ts" }, bundle: true, format: "iife", write: false });
  await page.addScriptTag({ content: outputFiles[0].text });
  found.charts = {};
  for (const [name, chart] of Object.entries(data.charts)) {
    found.charts[name] = await page.evaluate((one) => window.draw(one), chart).catch((error) => ({ failed: String(error).split("\n")[0] }));
  }
});
