// Which curves share a chart: what training and validation say of one metric.
import type { Curve } from "./curve";

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
  lr: "Learning rate", // after all others
};

/** The metric that a curve shows; none for what is neither a metric of the task nor the learning rate. */
function metric_of(name: string): string | undefined {
  if (name === "lr") return name;
  const metric = /^(?:train|val)_(.+)$/.exec(name)?.[1];
  return metric?.startsWith("auc_") ? "labels_auc" : metric;
}

export function metric_charts(curves: Iterable<Curve>): { metric: string; title: string; curves: Curve[] }[] {
  const charts = new Map<string, Curve[]>();
  for (const one of curves) {
    const metric = metric_of(one.name);
    if (metric) charts.set(metric, [...(charts.get(metric) ?? []), one]);
  }
  const known = Object.keys(titles);
  const place = (metric: string) => (metric === "lr" ? Infinity : known.includes(metric) ? known.indexOf(metric) : known.length);
  return [...charts]
    .sort(([a], [b]) => place(a) - place(b) || a.localeCompare(b))
    .map(([metric, curves]) => ({ metric, title: titles[metric] ?? metric, curves }));
}
