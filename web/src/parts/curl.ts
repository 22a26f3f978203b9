// The same by hand: what a button sends, as a curl command.
import { address } from "../api/base";
import { html } from "../html";

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curl_of(method: string, path: string, body?: unknown): string {
  const lines = [`curl -sS${method === "GET" ? "" : ` -X ${method}`} -H "Authorization: Bearer $SLIPWAY_TOKEN"`];
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`);
  lines.push(quoted(location.origin + address(path)));
  return lines.join(" \\\n  ");
}

export interface Request {
  label: string;
  method: string;
  path: string;
  body?: unknown;
}

export function Curls({ requests }: { requests: Request[] }) {
  if (requests.length === 0) return null;
  return html`<details class="curl"><summary>As curl</summary>${requests.map(({ label, method, path, body }) =>
    html`<p key=${label}>${label}</p><pre tabindex="0" aria-label=${`curl: ${label}`}>${curl_of(method, path, body)}</pre>`)}</details>`;
}
