import { isIn, type Range } from "../../../src/job/store/transaction.ts";
import type { Change, StoreState } from "./records.ts";

/** Where a watch goes on: behind that revision, as that attempt told it. */
export interface Position {
  readonly attempt: number;
  readonly revision: number;
}

/**
 * - `changes`: all of the range behind the position, in their order
 * - `compacted`: the oldest of them are forgotten; read the range again, and go on from the revision of that answer
 * - `reset`: the same, as what was told before was lost with an attempt of the ApplicationMaster
 */
export type Watched =
  | { readonly type: "changes"; readonly changes: readonly Change[] }
  | { readonly type: "compacted"; readonly oldest: number }
  | { readonly type: "reset" };

export function watch(state: StoreState, range: Range, position: Position): Watched {
  if (position.revision > lastRevisionOf(state, position.attempt)) return { type: "reset" };
  if (position.revision < state.compacted) return { type: "compacted", oldest: state.compacted + 1 };
  const changes = state.changes.slice(placeBehind(state.changes, position.revision));
  return { type: "changes", changes: changes.filter(({ key }) => isIn(key, range)) };
}

/** Up to there, what that attempt told holds still. */
function lastRevisionOf({ epochs, journal, revision }: StoreState, attempt: number): number {
  if (attempt === journal.attempt) return revision;
  const later = epochs.filter((epoch) => epoch.attempt >= attempt);
  return later.length === 0 ? -1 : Math.min(...later.map(({ lastRevision }) => lastRevision));
}

/** The place of the first change of a later revision. */
export function placeBehind(changes: readonly Change[], revision: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
