// How much of the spread of the objective each parameter explains.
import type { SweepParameterImportance } from "../api/schema";
import { html } from "../html";

const percent = (share: number) => `${Math.round(100 * share)} %`;

export function Importance({ items, ended }: { items: SweepParameterImportance[]; ended: boolean }) {
  const shown = items;
  if (shown.length === 0) return html`<p class="hint">${ended ? "Too few trials have a value to tell." : "Available once enough trials have a value."}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="importance"><table><tbody>
    ${shown.map(({ parameter, explained, total }) => html`<tr key=${parameter}><th scope="row">${parameter}</th>
      <td class="bar"><progress max="1" value=${total} aria-label=${`${parameter}: ${percent(total)}`}></progress></td><td title=${`${percent(explained)} by itself`}>${percent(total)}</td></tr>`)}
  </tbody></table></div>`;
}
