import type { Core } from "../../am/core/core.ts";
import type { GangState } from "../../am/core/state/gang.ts";

/** The only gang of a job without stages. */
export function firstGang({ state }: Pick<Core, "state">): GangState {
  const [gang] = state.gangs;
  if (gang === undefined) {
    throw new Error("a job has a gang");
  }
  return gang;
}
