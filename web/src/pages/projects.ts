// The projects: what each may use and uses, and making one.
import { useState } from "preact/hooks";
import { get, post, query, type List } from "../api/client";
import { is_admin_of_all } from "../api/me";
import type { Project } from "../api/schema";
import { duration, number, time } from "../format";
import { html } from "../html";
import { go, href, route } from "../route";
import { use_title } from "../title";
import { Curls } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { TurnPages } from "../parts/turn_pages";
import { TextValue } from "../parts/values";

const page_size = 100;

export function quota_words({ quota }: Project): string {
  const { cores, class_max } = quota;
  const words = [cores !== null && cores !== undefined && `${cores} cores`, class_max && `classes up to ${class_max}`].filter(Boolean);
  return words.length === 0 ? "none" : words.join(", ");
}

const columns: Column<Project>[] = [
  { name: "name", wide: true, head: true, cell: (one) => html`<a href=${href(`/projects/${encodeURIComponent(one.name)}`)}>${one.name}</a>` },
  { name: "weight", title: "Its share of the cores beside other projects", cell: (one) => number(one.weight) },
  { name: "quota", wide: true, cell: quota_words },
  { name: "cores held", cell: (one) => number(one.cores_held) },
  { name: "queued jobs", cell: (one) => number(one.queued_jobs) },
  { name: "used", title: "Core-seconds; each counts half after a day", cell: (one) => `${duration(one.usage_core_s)} of a core` },
  { name: "created", minor: true, cell: (one) => time(one.created_at) },
];

function NewProject() {
  const [name, set_name] = useState("");
  const [error, set_error] = useState<unknown>();
  const body = { name: name.trim() };
  const create = (event: Event) => {
    event.preventDefault();
    post<Project>("/v1/projects", body).then(() => go(`/projects/${encodeURIComponent(body.name)}`), set_error);
  };
  return html`<form class="controls" aria-label="making a project" onSubmit=${create}>
      <${TextValue} label="New project" value=${name} set=${set_name} hint="its name" /><button type="submit" disabled=${!body.name}>Create</button></form>
    <${ErrorNote} error=${error} />`;
}

export function Projects() {
  use_title("Projects");
  const path = `/v1/projects${query({ limit: page_size, cursor: route.value.query.get("cursor") })}`;
  const { value: list, error } = use_refreshed(path, () => get<List<Project>>(path));
  return html`<main class="full">
    <h1>Projects</h1>
    ${is_admin_of_all() && html`<${NewProject} />`}
    <${ErrorNote} error=${error} />
    ${!list && !error && html`<p class="hint" role="status">Loading…</p>`}
    ${list && html`<${Table} label="projects" columns=${columns} rows=${list.items} key_of=${(one: Project) => one.name} />`}
    <${TurnPages} next_cursor=${list?.next_cursor} />
    <${Curls} requests=${[{ label: "This list", method: "GET", path }, { label: "Create a project", method: "POST", path: "/v1/projects", body: { name: "vision" } }]} />
  </main>`;
}
