// A chart as a file: what is seen as PNG or SVG, what it rests on as CSV.
import type uPlot from "uplot";
import { html } from "../html";
import { save_blob } from "../save_blob";
import type { Curve } from "./curve";
import { curves_csv } from "./csv";
import { ink } from "./palette";
import type { PlotInputs } from "./plot";
import { plot_svg } from "./svg";

interface FilesProps {
  title: string;
  curves: Curve[];
  plot: { current?: uPlot };
  inputs: () => PlotInputs;
}

function save_png(plot: uPlot, file: string) {
  const source = plot.ctx.canvas;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [source.width, source.height];
  const context = canvas.getContext("2d")!;
  context.fillStyle = ink().card; // the plot itself is transparent
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(source, 0, 0);
  canvas.toBlob((blob) => blob && save_blob(blob, `${file}.png`), "image/png");
}

export function ChartFiles({ title, curves, plot, inputs }: FilesProps) {
  const file = title.toLowerCase().replace(/[^a-z0-9]+/g, "_");
  const text = (content: string, type: string, ending: string) => save_blob(new Blob([content], { type }), `${file}.${ending}`);
  const kinds: [string, () => void][] = [
    ["PNG", () => save_png(plot.current!, file)],
    ["SVG", () => text(plot_svg(plot.current!, inputs()), "image/svg+xml", "svg")],
    ["CSV", () => text(curves_csv(curves), "text/csv", "csv")],
  ];
  return html`<span class="files">${kinds.map(([name, save]) => html`<button key=${name} class="plain small" aria-label=${`Download ${title} as ${name}`}
    onClick=${() => plot.current && save()}>${name}</button>`)}</span>`;
}
