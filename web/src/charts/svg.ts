// A plot as an SVG file: the same shapes as on the canvas, with axes, grid and the names of the curves.
import type uPlot from "uplot";
import { ink } from "./palette";
import { label_space_px, shapes_in, type PlotInputs } from "./plot";
import type { Shape } from "./shapes";
import { linear_ticks, log_ticks, with_room } from "./tick_places";
import { log_tick_labels, tick_labels } from "./ticks";

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]!);
const pairs = (points: number[]) => Array.from({ length: points.length / 2 }, (_, index) => [points[2 * index].toFixed(1), points[2 * index + 1].toFixed(1)]);
const positions = (points: number[]) => pairs(points).map(([x, y]) => `${x},${y}`).join(" ");

const writers: Record<Shape["kind"], (shape: Shape) => string> = {
  line: ({ points, colour, width, opacity, dash }) =>
    `<polyline points="${positions(points)}" fill="none" stroke="${colour}" stroke-width="${width}" opacity="${opacity}" stroke-dasharray="${dash.join(" ")}"/>`,
  area: ({ points, colour, opacity }) => `<polygon points="${positions(points)}" fill="${colour}" opacity="${opacity}"/>`,
  dots: ({ points, colour, width }) => pairs(points).map(([x, y]) => `<circle cx="${x}" cy="${y}" r="${1.4 * width}" fill="${colour}"/>`).join(""),
  word: ({ points: [x, y], colour, word, width }) =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${colour}" text-anchor="middle" font-size="${6.3 * width}">${escaped(word!)}</text>`,
};

const tick_count = 5;

function grid(plot: uPlot, inputs: PlotInputs, size: number): string {
  const { left, top, width, height } = plot.bbox;
  const { text, grid: line } = ink();
  const { log_x, log_y, x_axis } = inputs.view;
  const axis = (scale: "x" | "y", log: boolean) => {
    const { min, max } = plot.scales[scale];
    const values = (log ? log_ticks : linear_ticks)(min!, max!, tick_count);
    const place = (value: number) => plot.valToPos(value, scale, true);
    return { values, labels: log ? log_tick_labels(with_room(values, place, label_space_px[scale] * devicePixelRatio)) : tick_labels(values) };
  };
  const { values: xs, labels: x_labels } = axis("x", log_x.value);
  const { values: ys, labels: y_labels } = axis("y", log_y.value);
  const word = (x: number, y: number, anchor: string, content: string, more = "") =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${text}" font-size="${size}" text-anchor="${anchor}"${more}>${escaped(content)}</text>`;
  const rule = (x1: number, y1: number, x2: number, y2: number) => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${line}"/>`;
  const middle = top + height / 2;
  return [
    ...xs.map((value, i) => {
      const x = plot.valToPos(value, "x", true);
      return rule(x, top, x, top + height) + word(x, top + height + 1.4 * size, "middle", x_labels[i]);
    }),
    ...ys.map((value, i) => {
      const y = plot.valToPos(value, "y", true);
      return rule(left, y, left + width, y) + word(left - size / 2, y + size / 3, "end", y_labels[i]);
    }),
    word(left + width / 2, top + height + 3 * size, "middle", x_axis.value === "time" ? "seconds since the start" : x_axis.value),
    word(size, middle, "middle", inputs.y_title, ` transform="rotate(-90 ${size} ${middle})"`),
  ].join("\n");
}

export function plot_svg(plot: uPlot, inputs: PlotInputs): string {
  const { width, height } = plot.ctx.canvas;
  const { left, top, width: inner_width, height: inner_height } = plot.bbox;
  const size = 12 * devicePixelRatio;
  const shapes = shapes_in(plot, inputs);
  const colours = new Map(inputs.curves().map(({ curve, index }) => [curve.name, shapes_in(plot, { ...inputs, curves: () => [{ curve, index }] })[0]?.colour]));
  const names = [...colours].filter(([, colour]) => colour);
  const total = height + 1.5 * size * names.length;
  const legend = names.map(([name, colour], i) => `<text x="${left}" y="${height + 1.5 * size * (i + 0.7)}" fill="${colour}" font-size="${size}">${escaped(name)}</text>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" font-family="system-ui, sans-serif">`,
    `<rect width="100%" height="100%" fill="${ink().card}"/>`,
    `<clipPath id="inside"><rect x="${left}" y="${top}" width="${inner_width}" height="${inner_height}"/></clipPath>`,
    grid(plot, inputs, size),
    `<g clip-path="url(#inside)">`,
    ...shapes.map((shape) => writers[shape.kind](shape)),
    "</g>",
    ...legend,
    "</svg>\n",
  ].join("\n");
}
