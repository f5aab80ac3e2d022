import { stagesOf } from "../../../src/job/stages.ts";
import type { GangState } from "../state/gang.ts";
import type { Step } from "../state/step.ts";

/** The roles whose stages must still be done before the gang's turn comes. */
export function awaitedBy({ spec, state }: Pick<Step, "spec" | "state">, { position }: GangState): string[] {
  const stages = stagesOf(spec.roles);
  const after = stages[position % stages.length]?.after ?? [];
  return after.filter((name) => {
    const role = state.roles.find((one) => one.name === name);
    return role !== undefined && state.gangs[role.gang]?.phase !== "done";
  });
}
