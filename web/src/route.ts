// The address of the page: #/jobs?state=running. What a page shows is in it, so that it can be sent to somebody.
import { signal } from "@preact/signals";

export interface Route {
  path: string;
  query: URLSearchParams;
}

function read(): Route {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  return { path: path || "/", query: new URLSearchParams(query) };
}

export const route = signal<Route>(read());
addEventListener("hashchange", () => (route.value = read()));

type Changes = Record<string, string | null | undefined>;

function changed(query: URLSearchParams, changes: Changes): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  return text && `?${text}`;
}

export const href = (path: string, query: Changes = {}) => `#${path}${changed(new URLSearchParams(), query)}`;

export function go(path: string, query: Changes = {}) {
  location.hash = href(path, query);
}

/** Changes the query of this page. `remember`: Back undoes it; else the entry is replaced, as while somebody types. */
export function set_query(changes: Changes, remember = false) {
  const { path, query } = route.value;
  const next = `#${path}${changed(query, changes)}`;
  if (next === location.hash) return;
  history[remember ? "pushState" : "replaceState"](remember ? null : history.state, "", next);
  route.value = read();
}
