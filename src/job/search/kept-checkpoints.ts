import { compareValues, hasValue, type Search, type Trial } from "./trials.ts";

/**
 * The numbers of the trials that have ended for good and are not among the best ones, so that nobody needs their checkpoints. A trial
 * that is returned once is always returned: only trials that have ended for good count, and of equal ones the first is better.
 * @param isOver whether no paused trial will continue
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
