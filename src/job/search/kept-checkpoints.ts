import { compareValues, hasValue, type Search, type Trial } from "./trials.ts";

/**
 * The numbers of the trials that have ended for good and are not among the best ones, whose checkpoints nobody needs. What is one of them
 * stays one: only trials that have ended for good are counted, of equals the first as the better one.
 * @param isOver whether no trial goes on any more that pauses
 */
export function surplusTrials(
  { direction, keepCheckpoints }: Pick<Search, "direction" | "keepCheckpoints">,
  trials: readonly Trial[],
  isOver: boolean,
): number[] {
  if (keepCheckpoints === undefined) return [];
  const ended = trials.flatMap(({ state, value }, number) =>
    state === "running" || state === "interrupted" || (state === "paused" && !isOver)
      ? []
      : [{ number, value: state === "failed" ? undefined : value }],
  );
  const best = ended
    .filter(({ value }) => hasValue(value))
    .sort((a, b) => compareValues(direction, a.value, b.value))
    .slice(0, keepCheckpoints);
  return ended.flatMap((one) => (best.includes(one) ? [] : [one.number]));
}
