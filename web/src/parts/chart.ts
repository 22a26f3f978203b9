// One live chart: some series over the training step.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { html } from "../html";
import { number } from "../format";

export interface Series {
  name: string;
  points: Map<number, number>; // step -> value; a resumed attempt overwrites what it repeats
}

const colours = ["#2f6fde", "#d9480f", "#2b8a3e", "#9c36b5"];

/** Columns for uPlot: the union of all steps, and a value or a gap for each series; NaN is a gap. */
export function columns(series: Series[]): uPlot.AlignedData {
  const steps = [...new Set(series.flatMap((one) => [...one.points.keys()]))].sort((a, b) => a - b);
  const drawn = (value: number | undefined) => (value !== undefined && isFinite(value) ? value : null);
  return [steps, ...series.map((one) => steps.map((step) => drawn(one.points.get(step))))] as uPlot.AlignedData;
}

export function Chart({ title, series, revision }: { title: string; series: Series[]; revision: number }) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const names = series.map((one) => one.name).join();

  useEffect(() => {
    const element = holder.current!;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const axis = { stroke: dark ? "#b8bfca" : "#4a5260", grid: { stroke: dark ? "#31363f" : "#e4e7ec" }, ticks: { show: false } };
    plot.current = new uPlot(
      {
        width: element.clientWidth || 480,
        height: 240,
        scales: { x: { time: false } },
        axes: [{ ...axis }, { ...axis, size: 60, values: (_, ticks) => ticks.map((tick) => number(tick)) }],
        series: [
          { label: "step" },
          ...series.map((one, i) => ({
            label: one.name,
            stroke: colours[i % colours.length],
            width: 2,
            spanGaps: true,
            points: { show: one.points.size < 40 },
            value: (_: uPlot, value: number | null) => number(value),
          })),
        ],
      },
      columns(series),
      element,
    );
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: 240 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [names]);

  useEffect(() => plot.current?.setData(columns(series)), [revision]);

  const last = series
    .map((one) => `${one.name} ${number([...one.points.entries()].sort((a, b) => a[0] - b[0]).at(-1)?.[1])}`)
    .join(", ");
  return html`<figure class="chart">
    <figcaption>${title} <span class="hint">${last}</span></figcaption>
    <div ref=${holder} role="img" aria-label=${`${title} over steps; last: ${last}`}></div>
  </figure>`;
}
