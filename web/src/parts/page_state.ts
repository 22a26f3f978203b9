// A page before there is anything to show on it: it is read, or it could not be.
import { html } from "../html";
import { ErrorNote } from "./error_note";

export function PageState({ title, error, back }: { title: string; error: unknown; back: { href: string; name: string } }) {
  return html`<main><h1>${title}</h1>
    ${error ? html`<${ErrorNote} error=${error} />` : html`<p class="hint" role="status">Loading…</p>`}
    <p><a href=${back.href}>${back.name}</a></p></main>`;
}
