// The keys, and where else to look for help.
import { html } from "../html";
import { address } from "../api/base";
import { sections } from "../pages";
import { use_title } from "../title";

const keys: [string, string][] = [
  ["?", "this page"],
  ["/", "the first search field of the page"],
  ["← →", "on a chart: move the cursor"],
  ["+ −", "on a chart: zoom in and out around the cursor"],
  ["0", "on a chart: show all"],
];

export function Keys() {
  use_title("Keys");
  const rows = [...sections.map(({ key, name }): [string, string] => [`g ${key}`, name]), ...keys];
  return html`<main class="narrow">
    <h1>Keys</h1>
    <div class="scroll" tabindex="0" role="region" aria-label="keys"><table>
      <thead><tr><th scope="col">press</th><th scope="col">to go to or do</th></tr></thead>
      <tbody>${rows.map(([key, what]) => html`<tr key=${key}><td><kbd>${key}</kbd></td><td>${what}</td></tr>`)}</tbody></table></div>
    <h2>More</h2>
    <p>All that the pages do is in the HTTP API, described in <a href=${address("/openapi.json")}>openapi.json</a>; “As curl” on a page shows its requests.${" "}
      <code>slipway --help</code> lists the commands.</p>
  </main>`;
}
