import { numbersFrom, sizeOfRuns } from "../../../src/job/feeds/runs.ts";
import type { FeedStatus } from "../../../src/job/status.ts";
import { paceFrom } from "./journaling.ts";
import type { FeedState } from "./records.ts";

/** What people see of a feed, but for what only its files say. */
export interface FeedProgress extends Omit<FeedStatus, "failures" | "output"> {
  readonly failures: readonly { readonly split: number; readonly reason: string }[];
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
