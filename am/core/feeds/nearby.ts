import type { FeedState } from "./records.ts";
import { firstFree, horizonOf, phaseOf } from "./split-moves.ts";
import type { FeedStep } from "./step.ts";

/** How many places are searched for a near split, or two for each task where that is more: none is given further out of turn. */
export const FEWEST_AHEAD = 64;
/** The number of splits whose locations are asked for at a time. */
const MOST_LOCATED = 32;

/** Recounted when a task begins on a machine, not at each step: 1,000 tasks make thousands of steps a second. */
export function runsOn({ nearby }: FeedState, task: string, host: string): void {
  if (nearby.tasks[task] === host) return;
  nearby.tasks[task] = host;
  const hosts = Object.values(nearby.tasks);
  nearby.ahead = Math.max(FEWEST_AHEAD, 2 * hosts.length);
  nearby.isSpread = new Set(hosts).size > 1;
}

/** The place that a task is given: of those that come next the first free one whose bytes its machine has, else the first free one. */
export function nextFor(step: FeedStep, task: string): number | undefined {
  const { state } = step;
  const first = firstFree(step);
  const host = state.nearby.tasks[task];
  if (first === undefined || host === undefined) return first;
  const behind = endOfNext(state, first);
  for (let place = first; place < behind; place += 1)
    if (state.nearby.splits[place]?.includes(host) && phaseOf(step, place) === "free") return place;
  return first;
}

/** Within the epoch of the first free place: the rest of an epoch comes before the next one. */
function endOfNext(state: FeedState, first: number): number {
  const { feed, nearby } = state;
  return Math.min(first + nearby.ahead, horizonOf(state), (Math.floor(first / feed.splits) + 1) * feed.splits);
}

/**
 * Asks where the splits that come next are stored, some at a time, while tasks run on more than one machine. No task waits for the
 * answer.
 */
export function lookAhead(step: FeedStep): void {
  const { state, effects, splitAt } = step;
  const { nearby, feed } = state;
  if (feed.locality === false || nearby.isAsked || !nearby.isSpread) return;
  const first = firstFree(step);
  if (first === undefined) return;
  const from = Math.max(first, nearby.behind);
  const behind = Math.min(from + MOST_LOCATED, endOfNext(state, first));
  if (from >= behind) return;
  const places = Array.from({ length: behind - from }, (_, index) => from + index);
  const splits = places.filter((place) => phaseOf(step, place) === "free");
  nearby.behind = behind;
  nearby.isAsked = splits.length > 0;
  if (nearby.isAsked)
    effects.push({ type: "locate", splits: splits.map((place) => ({ place, split: splitAt(place) })) });
}

/** Nothing is kept for splits that have been given out meanwhile. */
export function heardWhere(step: FeedStep, splits: FeedState["nearby"]["splits"]): void {
  const { nearby } = step.state;
  nearby.isAsked = false;
  for (const [place, hosts] of Object.entries(splits))
    if (phaseOf(step, Number(place)) === "free") nearby.splits[place] = hosts;
}
