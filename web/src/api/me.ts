// Who is signed in, and what they may do: pages offer only actions that the service would take.
import { signal } from "@preact/signals";
import { get } from "./client";
import type { Me } from "./schema";

export type Role = "viewer" | "editor" | "admin";

export const roles: Role[] = ["viewer", "editor", "admin"];
export const me = signal<Me | undefined>(undefined);

/** Without an answer nothing is offered; the page says by its own requests what is wrong. */
export async function read_me(): Promise<void> {
  me.value = await get<Me>("/v1/me").catch(() => undefined);
}

/** Whether the caller has at least `role` in `project`; without one: in any. */
export function may(role: Role, project?: string): boolean {
  const enough = (one: { project: string | null; role: Role }) =>
    roles.indexOf(one.role) >= roles.indexOf(role) && (project === undefined || one.project === null || one.project === project);
  return (me.value?.roles ?? []).some(enough);
}

/** Whether the caller is an admin of all projects: of the machine, the quotas and the audit log. */
export const is_admin_of_all = () => (me.value?.roles ?? []).some(({ project, role }) => project === null && role === "admin");
