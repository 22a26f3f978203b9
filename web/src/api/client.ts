// The only place that calls the HTTP API. Authentication is the same-site cookie made at login.
import { signal } from "@preact/signals";
import { unique_id } from "../unique_id";
import { address } from "./base";
import type { Problem } from "./schema";

export interface List<T> {
  items: T[];
  next_cursor: string | null;
}

/** What went wrong, as the server said it (RFC 9457). */
export class ApiError extends Error {
  constructor(readonly problem: Partial<Problem> & { title: string; status: number }) {
    super(problem.detail || problem.title);
  }
}

// The cookie beside that of the session, which no script can see: whether asking is worth it. Without it nothing is asked, as the browser
// writes each refusal to its console.
const marks = ["slipway-signed-in", "__Host-slipway-signed-in"]; // the second over TLS
const is_marked = () => document.cookie.split("; ").some((one) => marks.includes(one.split("=")[0]));

function forget_mark() {
  for (const mark of marks) document.cookie = `${mark}=; Path=/; Max-Age=0; SameSite=Lax${mark.startsWith("__Host-") ? "; Secure" : ""}`;
}

/** False once a request was answered 401, and at first where no cookie says that somebody is: the app then shows the sign-in page. */
export const signed_in = signal(is_marked());

/** True when that was not what the user wished: the session expired or was ended from elsewhere. */
export const session_ended = signal(false);

async function answer_of(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(address(path), request);
  } catch (problem) {
    if (request.signal?.aborted) throw problem;
    throw new ApiError({ title: "The service does not answer. It may be restarting, or the network may be down.", status: 0 });
  }
}

async function json_of<T>(path: string, response: Response): Promise<T> {
  if (response.status === 401 && path !== "/v1/login") {
    forget_mark(); // the session has ended before its cookie
    if (signed_in.value) session_ended.value = true;
    signed_in.value = false;
  }
  const text = await response.text();
  let json: any = {};
  try {
    json = text === "" ? {} : JSON.parse(text);
  } catch {
    // A proxy's page in place of an answer.
    if (response.ok) throw new ApiError({ title: `${path} was not answered with JSON`, status: response.status });
  }
  if (!response.ok) throw new ApiError({ title: response.statusText || `status ${response.status}`, ...json, status: response.status });
  return json as T;
}

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method === "POST") headers["Idempotency-Key"] = unique_id();
  return json_of<T>(path, await answer_of(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }));
}

/** Sends the bytes of an upload that begin at `offset`; returns where the next ones begin. */
export async function send_part(path: string, offset: number, part: Blob, signal: AbortSignal): Promise<number> {
  const headers = { "Content-Type": "application/octet-stream", "Upload-Offset": String(offset) };
  const response = await answer_of(path, { method: "PATCH", headers, body: part, signal });
  await json_of(path, response);
  return Number(response.headers.get("Upload-Offset") ?? offset + part.size);
}

export const get = <T>(path: string) => call<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => call<T>("POST", path, body);
export const remove = (path: string) => call<unknown>("DELETE", path);

/** "?a=1&b=2", without what is empty; "": nothing is left. */
export function query(values: Record<string, string | number | null | undefined>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}
