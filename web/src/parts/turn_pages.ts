// To the first and the next page of a list; the address has the cursor.
import { html } from "../html";
import { route, set_query } from "../route";

export function TurnPages({ next_cursor }: { next_cursor: string | null | undefined }) {
  const cursor = route.value.query.get("cursor");
  if (!cursor && !next_cursor) return null;
  return html`<nav class="row" aria-label="pages">
    ${cursor && html`<button onClick=${() => set_query({ cursor: null }, true)}>First page</button>`}
    ${next_cursor && html`<button onClick=${() => set_query({ cursor: next_cursor }, true)}>Next page</button>`}</nav>`;
}
