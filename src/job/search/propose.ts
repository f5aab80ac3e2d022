import { evolvedParameters } from "./evolution.ts";
import { gridOf, hasGrid } from "./grid.ts";
import { randomNumbers } from "./random-numbers.ts";
import { randomParameters } from "./random-search.ts";
import { areSame, identityOf, type Parameters } from "./space.ts";
import { tpeParameters } from "./tpe.ts";
import type { Search, Trial } from "./trials.ts";

/** The next trial; `enough`: there are as many as requested; `exhausted`: everything was tried; `waits`: for the results of running trials. */
export type Proposal = { readonly params: Parameters } | { readonly none: "enough" | "exhausted" | "waits" };

/** How many times parameters that were already tried are drawn again. */
const MOST_REPEATS = 20;

/**
 * What a search tries next, given all its trials so far, in the order of their numbers, including running ones. The same search and
 * trials give the same result.
 * @param proposed Optuna's proposal; a search by Optuna waits without one
 */
export function propose(search: Search, trials: readonly Trial[], proposed?: Parameters): Proposal {
  const number = trials.length;
  if (search.maxTrials !== undefined && number >= search.maxTrials) return { none: "enough" };
  const point = search.points[number];
  if (point !== undefined) return { params: point };
  let last: Parameters = {};
  for (let attempt = 0; search.algorithm !== "grid" && attempt <= MOST_REPEATS; attempt += 1) {
    const drawn = draw(search, trials, attempt, proposed);
    if (drawn === undefined) return { none: "waits" };
    last = drawn;
    if (trials.every(({ params }) => !areSame(search.space, params, drawn))) return { params: last };
  }
  if (!hasGrid(search.space)) return { params: last };
  const tried = new Set(trials.map(({ params }) => identityOf(search.space, params)));
  for (const params of gridOf(search.space)) if (!tried.has(identityOf(search.space, params))) return { params };
  return { none: "exhausted" };
}

function draw(
  search: Search,
  trials: readonly Trial[],
  attempt: number,
  proposed: Parameters | undefined,
): Parameters | undefined {
  if (search.algorithm === "optuna" && (attempt === 0 || proposed === undefined)) return proposed;
  const random = randomNumbers(search.seed, search.algorithm, trials.length, attempt);
  if (search.algorithm === "tpe") return tpeParameters(search, trials, random);
  return search.algorithm === "evolution"
    ? evolvedParameters(search, trials, random)
    : randomParameters(search.space, random);
}
