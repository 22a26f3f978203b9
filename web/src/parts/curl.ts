// The same by hand: what a button sends, as a curl command.
import { address } from "../api/base";
import { html } from "../html";

export interface Request {
  label: string;
  method: string;
  path: string;
  body?: unknown; // sent as JSON
  file?: string; // whose bytes are sent
  headers?: Record<string, string>;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curl_of({ method, path, body, file, headers = {} }: Omit<Request, "label">): string {
  const lines = [`curl -sS${method === "GET" ? "" : ` -X ${method}`} -H "Authorization: Bearer $SLIPWAY_TOKEN"`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) lines.push(`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`);
  if (file !== undefined) lines.push(`--data-binary ${quoted(`@${file}`)}`);
  lines.push(quoted(location.origin + address(path)));
  return lines.join(" \\\n  ");
}

/** `of`: what the requests are for, on a page that has others as well. */
export function Curls({ requests, of }: { requests: Request[]; of?: string }) {
  if (requests.length === 0) return null;
  return html`<details class="curl"><summary>As curl${of && `: ${of}`}</summary>${requests.map((request) =>
    html`<p key=${request.label}>${request.label}</p><pre tabindex="0" aria-label=${`curl: ${request.label}`}>${curl_of(request)}</pre>`)}</details>`;
}
