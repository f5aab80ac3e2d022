import type { RoleSpec } from "./spec.ts";

/** With how many of its tasks a role can start: all, unless it is elastic. */
export function leastInstances({ minInstances, instances }: Pick<RoleSpec, "minInstances" | "instances">): number {
  return minInstances ?? instances;
}
