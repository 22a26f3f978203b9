// The members of a project: an admin of it gives and takes roles.
import { useState } from "preact/hooks";
import { call, get, query, remove, type List } from "../api/client";
import { may, roles, type Role } from "../api/me";
import type { Member } from "../api/schema";
import { time } from "../format";
import { html } from "../html";
import { Curls, type Request } from "../parts/curl";
import { ErrorNote } from "../parts/error_note";
import { use_refreshed } from "../parts/refreshed";
import { Table, type Column } from "../parts/table";
import { ChoiceValue, TextValue, same_words } from "../parts/values";

const page_size = 200;

type Act = (request: Request) => void;

const member_path = (path: string, member: string) => `${path}/${encodeURIComponent(member)}`;
const giving = (path: string, member: string, role: string): Request => ({ label: "Give a role", method: "PUT", path: member_path(path, member), body: { role } });

function columns_of(path: string, rules: boolean, act: Act): Column<Member>[] {
  const take = ({ member, project }: Member) => {
    if (confirm(`Take ${member}'s role in ${project}? Tokens of ${member} lose it at once.`)) act({ label: "Take the role", method: "DELETE", path: member_path(path, member) });
  };
  const chooser = ({ member, role }: Member) => html`<select class="inline" aria-label=${`Role of ${member}`} onChange=${(event: Event) => act(giving(path, member, (event.target as HTMLSelectElement).value))}>
    ${roles.map((one) => html`<option key=${one} value=${one} selected=${one === role}>${one}</option>`)}</select>`;
  return [
    { name: "member", wide: true, cell: (one) => one.member },
    { name: "role", cell: (one) => (rules ? chooser(one) : one.role) },
    { name: "since", cell: (one) => time(one.changed_at) },
    ...(rules ? [{ name: "action", cell: (one: Member) => html`<button class="danger small" aria-label=${`Remove ${one.member}`} onClick=${() => take(one)}>Remove</button>` }] : []),
  ];
}

export function Members({ project, path }: { project: string; path: string }) {
  const list_path = `${path}${query({ limit: page_size })}`;
  const [name, set_name] = useState("");
  const [role, set_role] = useState<string>("viewer");
  const [refused, set_refused] = useState<unknown>();
  const { value: list, error, again } = use_refreshed(list_path, () => get<List<Member>>(list_path));
  const rules = may("admin", project);
  const act: Act = (request) => {
    set_refused(undefined);
    const done = request.method === "DELETE" ? remove(request.path) : call(request.method, request.path, request.body);
    done.then(again, (problem) => {
      set_refused(problem);
      again(); // what a field shows is what holds
    });
  };
  const add = giving(path, name.trim() || "MEMBER", role);
  return html`<section><h2>Members</h2>
    <${ErrorNote} error=${refused ?? error} />
    ${list?.items.length === 0 && html`<p class="hint">No members yet: tokens without a member have the permissions of their own role.</p>`}
    ${list && list.items.length > 0 && html`<${Table} label="members" columns=${columns_of(path, rules, act)} rows=${list.items} key_of=${(one: Member) => one.member} />`}
    ${list?.next_cursor && html`<p class="hint">The first ${page_size} by name; <code>slipway members ${project}</code> lists all.</p>`}
    ${rules && html`<form class="controls" aria-label="giving a role" onSubmit=${(event: Event) => (event.preventDefault(), act(add))}>
      <${TextValue} label="Member" value=${name} set=${set_name} hint="ann@example.org" />
      <${ChoiceValue} label="Role" value=${role} set=${(one: string) => set_role(one as Role)} choices=${same_words(roles)} />
      <button type="submit" disabled=${!name.trim()}>Give the role</button></form>
      <${Curls} of="the roles" requests=${[add, { label: "Take a role away", method: "DELETE", path: member_path(path, name.trim() || "MEMBER") }]} />`}</section>`;
}
