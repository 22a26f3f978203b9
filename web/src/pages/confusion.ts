// How samples of each class were predicted: the matrix with the share of each cell as its shade, and what follows for each class.
import type { ConfusionMatrix } from "../api/schema";
import { number } from "../format";
import { html } from "../html";
import { Table, type Column } from "../parts/table";

/** The matrix of more classes is no table that one reads. */
const matrix_classes_max = 30;
const shades = 5;

interface ClassRow {
  name: string;
  samples: number;
  predicted: number;
  right: number;
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
const share = (part: number, whole: number) => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`);

export function class_rows({ classes, counts }: ConfusionMatrix): ClassRow[] {
  return classes.map((name, index) => ({
    name,
    samples: sum(counts[index]),
    predicted: sum(counts.map((row) => row[index])),
    right: counts[index][index],
  }));
}

/** "shade-3": of how much of its row a cell is; the number in the cell carries the meaning. */
function shade_of(count: number, row_total: number): string {
  return count === 0 || row_total === 0 ? "" : `shade-${Math.ceil((shades * count) / row_total)}`;
}

function Matrix({ classes, counts }: ConfusionMatrix) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="confusion matrix"><table class="matrix">
    <thead><tr><th scope="col">true class</th>${classes.map((name) => html`<th scope="col" key=${name}>as ${name}</th>`)}</tr></thead>
    <tbody>${classes.map((name, row) => html`<tr key=${name}><th scope="row">${name}</th>
      ${counts[row].map((count, column) => html`<td key=${column} class=${`${row === column ? "right " : ""}${shade_of(count, sum(counts[row]))}`}>${number(count)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

const columns: Column<ClassRow>[] = [
  { name: "class", wide: true, cell: (one) => one.name },
  { name: "samples", cell: (one) => number(one.samples) },
  { name: "recall", title: "Recall: the fraction of the samples of this class that are predicted as this class", cell: (one) => share(one.right, one.samples) },
  { name: "precision", title: "Precision: the fraction of the samples predicted as this class that are of this class", cell: (one) => share(one.right, one.predicted) },
];

export function Confusion(matrix: ConfusionMatrix) {
  const { classes } = matrix;
  return html`<h3>Confusion matrix</h3>
    ${classes.length > matrix_classes_max ? html`<p class="hint">The confusion matrix of ${classes.length} classes is in the evaluation.</p>` : html`<${Matrix} ...${matrix} />`}
    <h3>Classes</h3><div class="tall"><${Table} label="classes" columns=${columns} rows=${class_rows(matrix)} key_of=${(one: ClassRow) => one.name} /></div>`;
}
