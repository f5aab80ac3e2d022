import type { Entry, Range } from "./transaction.ts";

/** The effect of a revision on one key. */
export type Change =
  | { readonly type: "put"; readonly revision: number; readonly key: string; readonly entry: Entry }
  | { readonly type: "delete"; readonly revision: number; readonly key: string };

/** The position up to which somebody knows a store: a revision has a meaning only with the attempt that reported it. */
export interface Position {
  readonly attempt: number;
  readonly revision: number;
}

/** @property after the position already reported; absent: from now on */
export interface WatchWanted {
  readonly range: Range;
  readonly after?: Position;
}

/**
 * Messages to those who watch, with the position after each.
 * - `changes`: all changes in the range since the last message, in order, in whole revisions; empty in the first one, when the
 *   watch begins
 * - `compacted`: the oldest changes are forgotten: read the range again, and watch from the revision of that answer. The last
 *   message
 * - `reset`: the same, because reported changes were lost with an attempt of the ApplicationMaster
 */
export type Watched = Position &
  ({ readonly type: "changes"; readonly changes: readonly Change[] } | { readonly type: "compacted" | "reset" });
