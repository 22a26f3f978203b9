// What the check counted: how the classes, parts and groups are filled, mean and deviation of each channel or column, and what it warns of.
import type { Dataset } from "../api/schema";
import { any_value, number } from "../format";
import { html } from "../html";

const rows_shown = 50;

interface Count {
  name: string;
  count: number;
}

/** Counts as bars; the word and the number carry the meaning. */
function Counts({ title, counts, total }: { title: string; counts: Count[]; total: number }) {
  if (counts.length === 0) return null;
  const most = Math.max(...counts.map(({ count }) => count));
  return html`<section><h2>${title}</h2>
    <div class="scroll" tabindex="0" role="region" aria-label=${title}><table>
      <thead><tr><th scope="col">name</th><th scope="col">samples</th><th scope="col">share</th></tr></thead>
      <tbody>${counts.slice(0, rows_shown).map(({ name, count }) => html`<tr key=${name}><th scope="row">${name}</th>
        <td><progress max=${most} value=${count} aria-label=${`${name}: ${number(count)} samples`}></progress> ${number(count)}</td>
        <td>${((100 * count) / Math.max(1, total)).toFixed(1)} %</td></tr>`)}</tbody></table></div>
    ${counts.length > rows_shown && html`<p class="hint">and ${number(counts.length - rows_shown)} more</p>`}</section>`;
}

function balance_words(classes: Count[]): string {
  const counts = classes.map(({ count }) => count);
  const ratio = Math.max(...counts) / Math.max(1, Math.min(...counts));
  return ratio < 1.5 ? "" : `The largest class has ${number(Math.round(10 * ratio) / 10)} times the samples of the smallest one.`;
}

function Moments({ mean, std, names, of_table }: { mean: number[]; std: number[]; names: string[]; of_table: boolean }) {
  return html`<section><h2>Values</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="values"><table>
      <thead><tr><th scope="col">${of_table ? "column" : "channel"}</th><th scope="col">mean</th><th scope="col">standard deviation</th></tr></thead>
      <tbody>${mean.slice(0, rows_shown).map((value, index) => html`<tr key=${index}><th scope="row">${names[index] ?? index + 1}</th><td>${number(value)}</td><td>${number(std[index])}</td></tr>`)}</tbody></table></div>
    ${mean.length > rows_shown && html`<p class="hint">and ${number(mean.length - rows_shown)} more</p>`}</section>`;
}

const warning_words = (warning: unknown) => (typeof warning === "string" ? warning : ((warning as Record<string, any>)?.message ?? JSON.stringify(warning)));

export function Statistics({ dataset }: { dataset: Dataset }) {
  const report = dataset.report ?? {};
  const { classes = [], parts = [], groups = [], warnings = [], mean = [], std = [], samples = 0 } = report;
  const names = dataset.options.feature_columns ?? [];
  return html`${warnings.length > 0 && html`<section><h2>Warnings</h2><ul>${warnings.map((one: unknown, index: number) => html`<li key=${index}>${warning_words(one)}</li>`)}</ul></section>`}
    <div class="halves"><div><${Counts} title="Classes" counts=${classes} total=${samples} />
      ${classes.length > 1 && balance_words(classes) && html`<p class="hint">${balance_words(classes)}</p>`}</div>
      ${mean.length > 0 && html`<${Moments} mean=${mean} std=${std} names=${names} of_table=${dataset.format === "csv"} />`}
      <${Counts} title="Parts" counts=${parts} total=${samples} />
      <${Counts} title="Groups" counts=${groups} total=${samples} /></div>
    ${["labels", "text", "damaged"].filter((key) => report[key] && (report[key].length ?? 1) !== 0).map((key) => html`<section key=${key}><h2>${key.replace("_", " ")}</h2>
      <pre tabindex="0" aria-label=${key}>${typeof report[key] === "object" ? JSON.stringify(report[key], null, 2) : any_value(report[key])}</pre></section>`)}`;
}
