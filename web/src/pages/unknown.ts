// An address that is no page.
import { html } from "../html";
import { href, route } from "../route";
import { use_title } from "../title";

export function Unknown() {
  use_title("No such page");
  return html`<main><h1>No such page</h1>
    <p>There is nothing at <code>${route.value.path}</code>. The link may be cut off: an id has 26 letters and digits after its <code>_</code>.</p>
    <p><a href=${href("/")}>Overview</a></p></main>`;
}
