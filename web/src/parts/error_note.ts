import { html } from "../html";
import { ApiError } from "../api/client";
import { sentence } from "../format";

const advice: Record<number, string> = {
  0: "Trying again automatically.",
  403: "Your token does not have the permission. Ask an admin of the project for a role that has it.",
  404: "It may have been deleted, or it belongs to a project that you cannot see.",
  409: "Its state has changed in the meantime. The page shows the actions that are possible now.",
  429: "Too many requests at once. Trying again automatically.",
  503: "The database cannot be reached at the moment. Trying again automatically.",
};

const begins_with_a_word = /^[a-z]+[ ,;]/; // not with the path of a field, which has its own letters

/** A message of the service as a sentence, with what stands in backticks as code. */
const words_of = (message: string) => (begins_with_a_word.test(message) ? sentence(message) : message).split("`").map((part, index) => (index % 2 === 1 ? html`<code key=${index}>${part}</code>` : part));

/** An error in the server's words, what to do about it, and what is needed to find it in the log. */
export function ErrorNote({ error }: { error: unknown }) {
  if (!error) return null;
  const problem = error instanceof ApiError ? error.problem : undefined;
  return html`<div class="error" role="alert">
    <p>${words_of(String((error as Error).message ?? error))}</p>
    ${problem?.errors?.map((one) => html`<p><code>${one.pointer}</code> ${one.message}</p>`)}
    ${problem && advice[problem.status] && html`<p class="hint">${advice[problem.status]}</p>`}
    ${problem?.request_id && html`<p class="hint">request ${problem.request_id}</p>`}
  </div>`;
}
