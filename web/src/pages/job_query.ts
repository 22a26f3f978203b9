// Which jobs a list shows, and in which order: all of it is in the address, under the names of the API's own parameters.
import { query } from "../api/client";

export const page_size = 50;

export interface JobQuery {
  project: string;
  state: string[];
  name: string;
  label: string;
  kind: string;
  parent: string;
  order_by: string;
  metric: string;
  cursor: string;
}

export const default_order = "-created_at";

export function job_query(address: URLSearchParams): JobQuery {
  const text = (name: string) => address.get(name) ?? "";
  return {
    project: text("project"),
    state: text("state").split(",").filter(Boolean),
    name: text("name"),
    label: text("label"),
    kind: text("kind"),
    parent: text("parent"),
    order_by: text("order_by") || default_order,
    metric: text("metric"),
    cursor: text("cursor"),
  };
}

export const by_metric = ({ order_by }: JobQuery) => /^-?(best|last)$/.test(order_by);
export const is_filtered = ({ project, state, name, label, kind, parent }: JobQuery) =>
  state.length > 0 || [project, name, label, kind, parent].some(Boolean);

/** The same list in the API. */
export function list_path(asked: JobQuery): string {
  const metric = by_metric(asked) ? asked.metric || "val_loss" : "";
  return `/v1/jobs${query({ ...asked, state: asked.state.join(","), metric, limit: page_size })}`;
}
