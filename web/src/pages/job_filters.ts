// What narrows the list of jobs, and orders it.
import { useEffect, useState } from "preact/hooks";
import { get, type List } from "../api/client";
import { job_kinds } from "../api/job_kinds";
import type { Project } from "../api/schema";
import { html } from "../html";
import { set_query } from "../route";
import { ChoiceFilter, TextFilter } from "../parts/filters";
import { by_metric, default_order, is_filtered, type JobQuery } from "./job_query";

const states: [string, string][] = [
  ["", "any"],
  ["queued,preempting", "waiting"],
  ["starting,compiling,running,finishing", "running"],
  ["pausing,paused", "paused"],
  ["succeeded", "succeeded"],
  ["failed,timed_out,expired", "failed"],
  ["cancelling,cancelled,stopped", "cancelled or stopped"],
];

const orders: [string, string][] = [
  [default_order, "newest first"],
  ["created_at", "oldest first"],
  ["name", "name"],
  ["-finished_at", "ended last"],
  ["best", "best value of a metric"],
  ["-best", "worst value of a metric"],
  ["last", "last value, least first"],
  ["-last", "last value, greatest first"],
];

/** Names of the projects that the caller sees. */
function use_projects(): string[] {
  const [names, set_names] = useState<string[]>([]);
  useEffect(() => {
    get<List<Project>>("/v1/projects?limit=200").then(({ items }) => set_names(items.map(({ name }) => name))).catch(() => set_names([]));
  }, []);
  return names;
}

const with_present = (choices: [string, string][], value: string): [string, string][] =>
  choices.some(([key]) => key === value) ? choices : [...choices, [value, value]];

export function JobFilters({ asked }: { asked: JobQuery }) {
  const projects = use_projects();
  const set = (name: string) => (value: string) => set_query({ [name]: value, cursor: null });
  const set_order = (value: string) =>
    set_query({ order_by: value === default_order ? null : value, metric: /best|last/.test(value) ? asked.metric || "val_loss" : null, cursor: null });
  const clear = () => set_query({ project: null, state: null, name: null, label: null, kind: null, parent: null, cursor: null });
  const state = asked.state.join(",");
  return html`<form class="controls" role="search" aria-label="jobs" onSubmit=${(event: Event) => event.preventDefault()}>
    <${TextFilter} label="Name" value=${asked.name} set=${set("name")} hint="part of it" />
    <${ChoiceFilter} label="State" value=${state} set=${set("state")} choices=${with_present(states, state)} />
    <${TextFilter} label="Label" value=${asked.label} set=${set("label")} hint="team:vision" />
    <${ChoiceFilter} label="Kind" value=${asked.kind} set=${set("kind")} choices=${[["", "any"], ...job_kinds.map((kind): [string, string] => [kind, kind])]} />
    <${ChoiceFilter} label="Trials and folds" value=${asked.parent} set=${set("parent")} choices=${with_present([["", "shown"], ["none", "hidden"]], asked.parent)} />
    ${(projects.length > 1 || asked.project) && html`<${ChoiceFilter} label="Project" value=${asked.project} set=${set("project")}
      choices=${with_present([["", "all"], ...projects.map((name): [string, string] => [name, name])], asked.project)} />`}
    <${ChoiceFilter} label="Order" value=${asked.order_by} set=${set_order} choices=${with_present(orders, asked.order_by)} />
    ${by_metric(asked) && html`<${TextFilter} label="Metric" value=${asked.metric} set=${set("metric")} hint="val_loss" />`}
    ${is_filtered(asked) && html`<button type="button" onClick=${clear}>Clear filters</button>`}
  </form>`;
}
