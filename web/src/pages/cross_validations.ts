// The list of cross-validations: newest first, refreshed every two seconds while it is on screen.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api/client";
import type { CrossValidation } from "../api/cross_validation";
import type { List } from "../api/job";
import { time } from "../format";
import { html } from "../html";
import { ErrorNote } from "../parts/error_note";
import { State } from "../parts/state";

const refresh_ms = 2000;

function Row({ one }: { one: CrossValidation }) {
  const failed = one.folds.failed + one.folds.cancelled;
  return html`<tr>
    <td><a href=${`#/cross-validations/${one.id}`}>${one.name}</a></td>
    <td><${State} state=${one.state} /></td>
    <td>${one.folds.total === null ? "–" : `${one.folds.succeeded} of ${one.folds.total}`}${failed > 0 && `, ${failed} failed`}</td>
    <td>${one.spec?.split?.method ?? one.split_id}</td>
    <td>${one.spec?.job?.model?.arch ?? ""}</td>
    <td>${time(one.created_at)}</td>
  </tr>`;
}

export function CrossValidations() {
  const [list, set_list] = useState<CrossValidation[]>();
  const [error, set_error] = useState<unknown>();

  useEffect(() => {
    let stopped = false;
    let timer = 0;
    const refresh = async () => {
      try {
        set_list((await get<List<CrossValidation>>("/v1/cross-validations?limit=200")).items);
        set_error(undefined);
      } catch (problem) {
        set_error(problem);
      }
      if (!stopped) timer = window.setTimeout(refresh, refresh_ms);
    };
    refresh();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, []);

  return html`<main>
    <h1>Cross-validations</h1>
    <${ErrorNote} error=${error} />
    ${list?.length === 0 &&
    html`<p>No cross-validation yet. Create the first one:</p>
      <pre>${`slipway cv create cv.json --watch`}</pre>`}
    ${list && list.length > 0 &&
    html`<div class="scroll" tabindex="0" role="region" aria-label="cross-validations"><table>
      <thead><tr>
        <th scope="col">name</th><th scope="col">state</th><th scope="col">folds</th><th scope="col">split</th><th scope="col">model</th>
        <th scope="col">created</th>
      </tr></thead>
      <tbody>${list.map((one) => html`<${Row} key=${one.id} one=${one} />`)}</tbody>
    </table></div>`}
  </main>`;
}
