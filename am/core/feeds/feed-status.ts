import { numbersFrom, type Runs, sizeOfRuns } from "../../../src/job/feeds/runs.ts";
import type { FeedStatus } from "../../../src/job/status.ts";
import { paceFrom } from "./journaling.ts";
import type { FeedState, Growth } from "./records.ts";

/** A feed as people see it, except for what only its files show. */
export interface FeedProgress extends Omit<FeedStatus, "failures" | "output"> {
  readonly failures: readonly { readonly split: number; readonly reason: string }[];
  /**
   * For an input that grows: the first split of the first batch in which a split is neither used nor left out; in all earlier batches
   * every split is.
   */
  readonly unfinished?: number;
}

function firstUnfinished({ batches }: Growth, used: Runs, poisoned: Runs): number {
  let from = 0;
  const unfinished = batches.find(({ behind }) => {
    const there = behind - from;
    const done = [used, poisoned].map(
      (runs) => sizeOfRuns(numbersFrom(runs, from)) - sizeOfRuns(numbersFrom(runs, behind)),
    );
    const isOpen = done.reduce((sum, one) => sum + one) < there;
    if (!isOpen) from = behind;
    return isOpen;
  });
  return unfinished === undefined ? Number.POSITIVE_INFINITY : from;
}

export function progressOfFeed({ feed, ...state }: FeedState, nowMs: number): FeedProgress {
  const { epoch, used, poisoned, failures, attempts, readers, paces } = state;
  const { name, epochs, splits } = feed;
  const leftOut = sizeOfRuns(poisoned);
  const failed = Object.values(attempts).filter((times) => times < feed.maxAttempts);
  return {
    name,
    epoch,
    ...(epochs !== undefined && { epochs }),
    splits,
    ...(feed.growth && { unfinished: firstUnfinished(feed.growth, used, poisoned) }),
    used: sizeOfRuns(used) - sizeOfRuns(numbersFrom(used, (epoch + 1) * splits)),
    leftOut,
    failures: Object.entries(failures).map(([split, reason]) => ({ split: Number(split), reason })),
    triedAgain: failed.length,
    readers: Object.entries(readers).map(([task, { isDone = false }]) => {
      const { records, ...pace } = paces[task] ?? paceFrom(nowMs);
      return { task, ...pace, rows: records, isDone };
    }),
  };
}
