import type { GroupLimit } from "../../../src/job/spec.ts";
import type { Step } from "../state/step.ts";
import { hasEnded } from "./completion.ts";

/** Whether a role runs on after all of a group have ended, in a generation that runs. */
export function runsOnAfterGroup(step: Pick<Step, "spec" | "state">, { role, roles }: GroupLimit): boolean {
  const { phase, untracked } = step.state;
  return (
    phase === "running" && !untracked.includes(role) && roles.every((name) => ended(step, name)) && !ended(step, role)
  );
}

function ended({ spec, state }: Pick<Step, "spec" | "state">, name: string): boolean {
  return spec.roles.every((role, position) => {
    const counts = state.roles[position];
    return role.name !== name || (counts !== undefined && hasEnded(role, counts));
  });
}
