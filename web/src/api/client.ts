// The only place that calls the HTTP API. Authentication is the same-site cookie made at login.
import { signal } from "@preact/signals";

/** What went wrong, as the server said it (RFC 9457). */
export interface Problem {
  title: string;
  status: number;
  detail?: string;
  code?: string;
  request_id?: string;
  errors?: { pointer: string; code: string; message: string }[];
}

export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
}

/** False once a request was answered 401: the app then shows the sign-in page. */
export const signed_in = signal(true);

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method === "POST") headers["Idempotency-Key"] = crypto.randomUUID();
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (response.status === 401 && path !== "/v1/login") signed_in.value = false;
  const text = await response.text();
  const json = text === "" ? {} : JSON.parse(text);
  if (!response.ok) throw new ApiError({ title: response.statusText, ...json, status: response.status });
  return json as T;
}

export const get = <T>(path: string) => call<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => call<T>("POST", path, body);
