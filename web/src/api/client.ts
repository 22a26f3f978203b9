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

/** False once a request was answered 401: the app then shows the sign-in page. */
export const signed_in = signal(true);

async function answer_of(method: string, path: string, headers: Record<string, string>, body?: string) {
  try {
    return await fetch(address(path), { method, headers, body });
  } catch {
    throw new ApiError({ title: "The service does not answer. It may be starting again, or the network may be down.", status: 0 });
  }
}

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method === "POST") headers["Idempotency-Key"] = unique_id();
  const response = await answer_of(method, path, headers, body === undefined ? undefined : JSON.stringify(body));
  if (response.status === 401 && path !== "/v1/login") signed_in.value = false;
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

export const get = <T>(path: string) => call<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => call<T>("POST", path, body);

/** "?a=1&b=2", without what is empty; "": nothing is left. */
export function query(values: Record<string, string | number | null | undefined>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}
