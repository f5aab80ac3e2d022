import { countBefore } from "../../../src/job/sorted.ts";
import { isIn } from "../../../src/job/store/transaction.ts";
import type { Change, Watched, WatchWanted } from "../../../src/job/store/watched.ts";
import { sizeOf } from "./changes.ts";
import type { StoreState } from "./records.ts";

/** One answer ends with the revision that exceeds this size. */
const MOST_TOLD_BYTES = 256 << 10;

/** What is to be told now. */
export function watch(state: StoreState, { range, after }: WatchWanted): Watched {
  const { journal, revision: last, changes: all } = state;
  const { attempt } = journal;
  if (after === undefined) return { type: "changes", attempt, revision: last, changes: [] };
  if (after.revision > lastRevisionOf(state, after.attempt)) return { type: "reset", attempt, revision: last };
  if (after.revision < state.compacted) return { type: "compacted", attempt, revision: last };
  const changes: Change[] = [];
  let bytes = 0;
  for (const change of all.slice(placeBehind(all, after.revision))) {
    const before = changes.at(-1)?.revision;
    if (bytes > MOST_TOLD_BYTES && before !== undefined && before < change.revision)
      return { type: "changes", attempt, revision: before, changes };
    if (!isIn(change.key, range)) continue;
    changes.push(change);
    bytes += sizeOf(change);
  }
  return { type: "changes", attempt, revision: last, changes };
}

/** Up to this revision, what that attempt told is still valid. */
function lastRevisionOf({ epochs, journal, revision }: StoreState, attempt: number): number {
  if (attempt === journal.attempt) return revision;
  const later = epochs.filter((epoch) => epoch.attempt >= attempt);
  return later.length === 0 ? -1 : Math.min(...later.map(({ lastRevision }) => lastRevision));
}

/** The place of the first change of a later revision. */
export function placeBehind(changes: readonly Change[], revision: number): number {
  return countBefore(changes, (change) => change.revision <= revision);
}
