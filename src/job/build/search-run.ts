import { gridOf, hasGrid } from "../search/grid.ts";
import type { Search } from "../search/trials.ts";
import type { JobSpec } from "../spec.ts";

/** Of a grid there are no more trials than places; nobody asks for more than this. */
const MOST_TRIALS = 10_000;

/**
 * The job of a search's trials: each is a task of its one role, which starts when it can and leaves its container to the next. A trial that
 * fails ends nothing, and has restarts of its own.
 */
export function searchRun(spec: JobSpec, search: Search): JobSpec {
  return {
    ...spec,
    search,
    distributedMode: "fcfs",
    failure: { ...spec.failure, onWorkerFailure: "tolerate", budgets: { ...spec.failure.budgets, program: 0 } },
    roles: spec.roles.map(({ retryCount: _, ...role }) => ({ ...role, instances: countOf(search), chief: "none" })),
  };
}

/** Why a search cannot be run yet; undefined: it can. */
export function notRun({ roles: [role, ...others] }: JobSpec): string | undefined {
  const isOneTask = others.length === 0 && role?.instances === 1;
  return isOneTask ? undefined : "trials of one task only are run yet: one role with one instance";
}

function countOf({ space, maxTrials = MOST_TRIALS }: Search): number {
  if (!hasGrid(space)) return maxTrials;
  let places = 0;
  for (const _ of gridOf(space)) {
    places += 1;
    if (places === maxTrials) break;
  }
  return places;
}
