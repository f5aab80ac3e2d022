import { parseParameter } from "../../../src/job/search/parse-parameter.ts";
import { propose } from "../../../src/job/search/propose.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import type { Search, Trial } from "../../../src/job/search/trials.ts";

/** A search through a space, each parameter as it is written in a job. */
export function searchOf(space: Readonly<Record<string, string>>): Search {
  return {
    space: Object.entries(space).map(([name, text]) => ({ name, ...parseParameter(text) })),
    points: [],
    metric: "loss",
    direction: "minimize",
    algorithm: "random",
    maxParallel: 4,
    seed: 0,
  };
}

/** All trials that it proposes, and why there are no more. */
export function proposed(search: Search): { readonly trials: readonly Parameters[]; readonly end: string } {
  const trials: Trial[] = [];
  for (;;) {
    const proposal = propose(search, trials);
    if ("none" in proposal) return { trials: trials.map(({ params }) => params), end: proposal.none };
    trials.push({ params: proposal.params, state: "running" });
  }
}
