// One project: its share and quota, who its members are, its groups of jobs. Each change is offered to those who may make it.
import { useState } from "preact/hooks";
import { call, get, type List } from "../api/client";
import { is_admin_of_all, may } from "../api/me";
import type { Group, Project as ProjectObject } from "../api/schema";
import { duration, number, time } from "../format";
import { html } from "../html";
import { href } from "../route";
import { use_title } from "../title";
import { Curls, type Request } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { PageState } from "../parts/page_state";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { ChoiceValue, TextValue } from "../parts/values";
import { Members } from "./project_members";
import { quota_words } from "./projects";

const classes: [string, string][] = [["", "any class"], ...["urgent", "high", "normal", "low", "idle"].map((name): [string, string] => [name, `up to ${name}`])];

function Facts({ project }: { project: ProjectObject }) {
  const facts: [string, unknown][] = [
    ["weight", number(project.weight)],
    ["quota", quota_words(project)],
    ["cores held", number(project.cores_held)],
    ["queued jobs", number(project.queued_jobs)],
    ["used", `${duration(project.usage_core_s)} of a core`],
    ["created", time(project.created_at)],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A number that somebody typed; what is none goes to the service as it is, which says what it wants. */
const number_of = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : text);

function Limits({ project, path, done }: { project: ProjectObject; path: string; done: () => void }) {
  const [weight, set_weight] = useState(String(project.weight));
  const [cores, set_cores] = useState(project.quota.cores === null || project.quota.cores === undefined ? "" : String(project.quota.cores));
  const [class_max, set_class_max] = useState<string>(project.quota.class_max ?? "");
  const [error, set_error] = useState<unknown>();
  const quota = { ...(cores.trim() ? { cores: number_of(cores) } : {}), ...(class_max ? { class_max } : {}) };
  const requests: Request[] = [
    { label: "Set the weight", method: "PATCH", path, body: { weight: number_of(weight) } },
    { label: "Set the quota", method: "PUT", path: `${path}/quota`, body: quota },
  ];
  const send = (request: Request) => (event: Event) => {
    event.preventDefault();
    set_error(undefined);
    call(request.method, request.path, request.body).then(done, set_error);
  };
  return html`<section><h2>Share and quota</h2>
    <form class="controls" aria-label="share" onSubmit=${send(requests[0])}><${TextValue} label="Weight" value=${weight} set=${set_weight} />
      <button type="submit">Set the weight</button></form>
    <form class="controls" aria-label="quota" onSubmit=${send(requests[1])}>
      <${TextValue} label="Cores at most" value=${cores} set=${set_cores} hint="no limit" />
      <${ChoiceValue} label="Classes" value=${class_max} set=${set_class_max} choices=${classes} />
      <button type="submit">Set the quota</button></form>
    <${ErrorNote} error=${error} />
    <${Curls} of="the share and the quota" requests=${requests} /></section>`;
}

const group_columns: Column<Group>[] = [
  { name: "group", wide: true, cell: (group) => group.name },
  { name: "at the same time", cell: (group) => number(group.limit) },
  { name: "running", cell: (group) => number(group.running) },
  { name: "ready", cell: (group) => number(group.ready) },
];

function Groups({ path, project }: { path: string; project: string }) {
  const [name, set_name] = useState("");
  const [limit, set_limit] = useState("");
  const [refused, set_refused] = useState<unknown>();
  const { value: groups, error, again } = use_refreshed(path, async () => (await get<List<Group>>(path)).items);
  const request = { label: "Set the limit of a group", method: "PUT", path: `${path}/${encodeURIComponent(name.trim() || "GROUP")}`, body: { limit: limit.trim() ? number_of(limit) : null } };
  const put = (event: Event) => {
    event.preventDefault();
    set_refused(undefined);
    call(request.method, request.path, request.body).then(again, set_refused);
  };
  return html`<section><h2>Groups of jobs</h2>
    <${ErrorNote} error=${refused ?? error} />
    ${groups?.length === 0 && html`<p class="hint">No group has a limit. <code>queue.group</code> of a job names its group.</p>`}
    ${groups && groups.length > 0 && html`<${Table} label="groups" columns=${group_columns} rows=${groups} key_of=${(one: Group) => one.name} />`}
    ${may("editor", project) && html`<form class="controls" aria-label="limits" onSubmit=${put}>
      <${TextValue} label="Group" value=${name} set=${set_name} /><${TextValue} label="Jobs at the same time" value=${limit} set=${set_limit} hint="no limit" />
      <button type="submit" disabled=${!name.trim()}>Set the limit</button></form>
      <${Curls} of="the limit of a group" requests=${[request]} />`}</section>`;
}

export function Project({ id }: { id: string }) {
  const path = `/v1/projects/${id}`;
  const name = decodeURIComponent(id);
  use_title(name);
  const { value: project, error, again } = use_refreshed(path, () => get<ProjectObject>(path));
  if (!project) return html`<${PageState} title=${`Project ${name}`} error=${error} back=${{ href: href("/projects"), name: "All projects" }} />`;
  return html`<main>
    <nav aria-label="breadcrumb"><a href=${href("/projects")}>Projects</a></nav>
    <div class="title"><h1>${project.name}</h1> <a href=${href("/jobs", { project: project.name })}>Its jobs</a> <a href=${href("/datasets", { project: project.name })}>Its datasets</a></div>
    <${ErrorNote} error=${error} />
    <${Facts} project=${project} />
    <${Members} project=${project.name} path=${`${path}/members`} />
    ${is_admin_of_all() && html`<${Limits} project=${project} path=${path} done=${again} />`}
    <${Groups} path=${`${path}/groups`} project=${project.name} />
    <${Curls} of="reading this page" requests=${[{ label: "Read this project", method: "GET", path }, { label: "Its members", method: "GET", path: `${path}/members` }, { label: "Its groups", method: "GET", path: `${path}/groups` }]} />
  </main>`;
}
