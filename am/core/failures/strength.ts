import type { Ending } from "../state/failures.ts";

/**
 * How near an ending is to the root of a failure. When one task dies its peers lose their connections and exit too, often before YARN
 * says what happened to the first.
 */
export const Strength = {
  /** YARN's completion status, the infrastructure's failure, out of memory, or a stream that broke without goodbye. */
  outside: 6,
  signal: 5,
  exit: 4,
  /** An exit with 0 that left others alone: nearer to the root than the connection they lost, but no failure of its own. */
  earlyExit: 3,
  /** Its node was cut off and came back: the same. */
  cutOff: 2,
  peerLost: 1,
  /** What followed from an order of ours: the root of nothing, once anything else is known, and charged to no budget. */
  consequence: 0,
} as const;

/** What followed from our own order costs nothing: whoever gave it has charged for its cause, or is still to learn it. */
export function isCounted({ strength }: Ending): boolean {
  return strength > Strength.consequence;
}
