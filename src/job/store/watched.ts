import type { Entry, Range } from "./transaction.ts";

/** What a revision did to one key. */
export type Change =
  | { readonly type: "put"; readonly revision: number; readonly key: string; readonly entry: Entry }
  | { readonly type: "delete"; readonly revision: number; readonly key: string };

/** Up to where somebody knows a store: what a revision means depends on the attempt that told it. */
export interface Position {
  readonly attempt: number;
  readonly revision: number;
}

/** @property after what was told before; absent: from now on */
export interface WatchWanted {
  readonly range: Range;
  readonly after?: Position;
}

/**
 * What those who watch are told, with the position behind it.
 * - `changes`: all of the range since the last one, in their order, whole revisions; none at first, when the watch begins
 * - `compacted`: the oldest of them are forgotten: read the range again, and watch from the revision of that answer. The last word
 * - `reset`: the same, as what was told before was lost with an attempt of the ApplicationMaster
 */
export type Watched = Position &
  ({ readonly type: "changes"; readonly changes: readonly Change[] } | { readonly type: "compacted" | "reset" });
