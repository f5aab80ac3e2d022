import type { GroupLimit } from "../../../src/job/spec.ts";
import { gangOf, type Step } from "../state/step.ts";
import { hasEnded } from "./completion.ts";

/** Whether a role runs on after all of a group have ended, in a generation that runs. */
export function runsOnAfterGroup(step: Pick<Step, "spec" | "state">, { role, roles }: GroupLimit): boolean {
  const { untracked } = step.state;
  const position = step.spec.roles.findIndex(({ name }) => name === role);
  return (
    position >= 0 &&
    gangOf(step, { role: position }).phase === "running" &&
    !untracked.includes(role) &&
    roles.every((name) => ended(step, name)) &&
    !ended(step, role)
  );
}

function ended({ spec, state }: Pick<Step, "spec" | "state">, name: string): boolean {
  return spec.roles.every((role, position) => {
    const counts = state.roles[position];
    return role.name !== name || (counts !== undefined && hasEnded(role, counts));
  });
}
