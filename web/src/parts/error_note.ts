import { html } from "../html";
import { ApiError } from "../api/client";

/** An error in the server's words, with what is needed to find it in the log. */
export function ErrorNote({ error }: { error: unknown }) {
  if (!error) return null;
  const problem = error instanceof ApiError ? error.problem : undefined;
  return html`<div class="error" role="alert">
    <p>${String((error as Error).message ?? error)}</p>
    ${problem?.errors?.map((one) => html`<p><code>${one.pointer}</code> ${one.message}</p>`)}
    ${problem?.request_id && html`<p class="hint">request ${problem.request_id}</p>`}
  </div>`;
}
