import type { RoleSpec } from "./spec.ts";

type Dependent = Pick<RoleSpec, "name" | "dependsOn">;

/** Roles that are requested together, and the roles whose tracked tasks must be done first. */
export interface Stage {
  readonly roles: readonly string[];
  readonly after: readonly string[];
}

/** Whether two roles of a job are requested together. */
export function isOneStage(roles: readonly Dependent[], role: string, other: string): boolean {
  return stagesOf(roles).some((stage) => stage.roles.includes(role) && stage.roles.includes(other));
}

/** Whether a role is requested only after another's tracked tasks are done, directly or through other roles. */
export function isAfter(roles: readonly Dependent[], later: string, earlier: string): boolean {
  const before = new Set<string>([later]);
  // The iteration also covers entries that are added during it; the set excludes duplicates, as roles may depend on each other by mistake.
  for (const name of before) {
    for (const awaited of roles.find((role) => role.name === name)?.dependsOn ?? []) before.add(awaited);
  }
  return later !== earlier && before.has(earlier);
}

/** The stages of a job, in the order in which the job file names their first roles: roles with the same dependencies form one stage. */
export function stagesOf(roles: readonly Dependent[]): Stage[] {
  const stages = new Map<string, { roles: string[]; after: readonly string[] }>();
  for (const { name, dependsOn } of roles) {
    const after = [...new Set(dependsOn)].sort();
    const key = after.join(",");
    const stage = stages.get(key) ?? { roles: [], after };
    stage.roles.push(name);
    stages.set(key, stage);
  }
  return [...stages.values()];
}
