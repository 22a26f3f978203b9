// Which curves share a chart: what training and validation say of one metric.
import type { Series } from "../parts/chart";

// In the order of the page. Metrics that are not here come after them, under their own names.
const titles: Record<string, string> = {
  loss: "Loss",
  accuracy: "Accuracy",
  top5_accuracy: "Top-5 accuracy",
  auc: "AUC",
  labels_auc: "AUC by label",
  mae: "Mean absolute error",
  r2: "R²",
  perplexity: "Perplexity",
};

/** The metric that a curve shows; none for what is no metric of the task, such as the learning rate. */
function metric_of(name: string): string | undefined {
  const metric = /^(?:train|val)_(.+)$/.exec(name)?.[1];
  return metric?.startsWith("auc_") ? "labels_auc" : metric;
}

export function metric_charts(series: Iterable<Series>): { title: string; series: Series[] }[] {
  const charts = new Map<string, Series[]>();
  for (const one of series) {
    const metric = metric_of(one.name);
    if (metric) charts.set(metric, [...(charts.get(metric) ?? []), one]);
  }
  const known = Object.keys(titles);
  const place = (metric: string) => (known.includes(metric) ? known.indexOf(metric) : known.length);
  return [...charts]
    .sort(([a], [b]) => place(a) - place(b) || a.localeCompare(b))
    .map(([metric, curves]) => ({ title: titles[metric] ?? metric, series: curves }));
}
