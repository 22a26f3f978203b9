// The keys, and where else to look for help.
import { html } from "../html";
import { address } from "../api/base";
import { sections } from "../pages";
import { use_title } from "../title";

const keys: [string, string][] = [
  ["?", "this page"],
  ["/", "the first search field of the page"],
  ["Tab", "the next link, field, button, chart or table; Shift+Tab the one before"],
  ["Enter", "follow a link, press a button, open “As curl”; on a dot of a scatter or a bar of a timeline: its job"],
  ["Space", "press a button, check a box; on a head of a column: sort by it; on a name below a chart: hide or show the curve"],
  ["← →", "on a chart: move the cursor, whose values are announced; on a timeline or a scatter: go to the next bar or dot; on a table: scroll"],
  ["+ −", "on a chart or the timeline of a job: zoom in and out"],
  ["0", "on a chart or the timeline of a job: show all"],
  ["↑ ↓", "on a timeline: go to another core or thread; on an end of an axis of parallel coordinates: move it; with Shift ten times as far; Home and End to the ends"],
  ["Esc", "on an axis of parallel coordinates: keep all of it"],
];

export function Keys() {
  use_title("Keys");
  const rows = [...sections.map(({ key, name }): [string, string] => [`g ${key}`, name]), ...keys];
  return html`<main>
    <h1>Keys</h1>
    <div class="scroll" tabindex="0" role="region" aria-label="keys"><table>
      <thead><tr><th scope="col">press</th><th scope="col">to go to or do</th></tr></thead>
      <tbody>${rows.map(([key, what]) => html`<tr key=${key}><td><kbd>${key}</kbd></td><td>${what}</td></tr>`)}</tbody></table></div>
    <h2>More</h2>
    <p>Everything that these pages do is possible with the HTTP API, described in <a href=${address("/openapi.json")}>openapi.json</a>; “As curl” on a page shows its requests.${" "}
      <code>slipway --help</code> lists the commands.</p>
  </main>`;
}
