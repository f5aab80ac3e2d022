import type { Lease } from "../../../src/job/feeds/lease.ts";
import type { FeedAnswer, FeedState, Origin, Refused } from "./records.ts";

/** A call by a life of a task, with a number of the caller's choice that identifies the answer. */
interface Caller {
  readonly id: number;
  readonly task: string;
  readonly generation: number;
}

/** The first call: tasks that start together are of one generation of their gang, and begin at the same point. */
export interface Opening extends Caller {
  readonly type: "open";
  readonly gang: number;
  readonly origin: Origin;
}

/** Asks for splits, and waits until there is one. */
export interface Asking extends Caller {
  readonly type: "ask";
  readonly most: number;
  /**
   * The task has records that it has not used: if it gets no split, it is answered at once, because others may wait for
   * the splits it holds.
   */
  readonly atOnce: boolean;
  /** The numbers of all leases that it knows of; some may never have reached it. */
  readonly has: readonly number[];
  /** The machine that it runs on. */
  readonly host?: string;
}

/** All of a split is used, or the split cannot be used. */
export interface SplitEnd extends Caller {
  readonly type: "used" | "failed";
  readonly lease: Lease;
  readonly error?: string;
  /** How many of the split's records it has used, if it counts them. */
  readonly records?: number;
}

/** The task stops here until all tasks of `among` have come. A label stands for one point. */
export interface Marking extends Caller {
  readonly type: "mark";
  readonly label: string;
  readonly among: readonly string[];
  /** How many records, from its beginning, it has used of each split that it holds. */
  readonly begun: readonly (Lease & { readonly records: number })[];
}

/** The task has rows for `ready` steps of the epoch. */
export interface Stepping extends Caller {
  readonly type: "steps";
  readonly among: readonly string[];
  readonly epoch: number;
  readonly ready: number;
  readonly known: number;
  readonly dry: boolean;
}

/** `failed`: what it used may be the cause. `gone`: it was stopped, or lost. */
export type LifeEnd = "succeeded" | "failed" | "gone";

export type FeedCall = Opening | Asking | SplitEnd | Marking | Stepping;

export type FeedEvent =
  | FeedCall
  /** The task uses records. */
  | { readonly type: "moved"; readonly task: string; readonly generation: number }
  /** Nobody waits for that answer any more. */
  | { readonly type: "gone"; readonly id: number }
  /** More splits have come, or no more will. */
  | { readonly type: "grown"; readonly splits: number; readonly plan: string; readonly isComplete: boolean }
  | { readonly type: "life-ended"; readonly task: string; readonly generation: number; readonly how: LifeEnd }
  /** Machines that have the bytes of splits, by place; none where that is not known. */
  | { readonly type: "located"; readonly splits: Readonly<Record<string, readonly string[]>> }
  | { readonly type: "journal-written" | "journal-failed"; readonly sequence: number }
  | { readonly type: "wake-up" };

export type FeedEffect =
  | { readonly type: "answer"; readonly id: number; readonly answer: FeedAnswer }
  /** JSON of a DurableFeed, which replaces earlier ones; no other is written until the outcome of this write is heard. */
  | { readonly type: "journal"; readonly sequence: number; readonly content: string }
  /** The split failed, and goes to the next task that asks. */
  | { readonly type: "tried-again"; readonly split: number; readonly why: string }
  /** The split has failed too often to be tried again. */
  | { readonly type: "left-out"; readonly split: number; readonly why: string }
  /** No other follows until `located` is heard. */
  | { readonly type: "locate"; readonly splits: readonly { readonly place: number; readonly split: number }[] }
  /** Replaces the wake-up asked for before. */
  | { readonly type: "wake-at"; readonly atMs: number };

/** The handling of one event. */
export interface FeedStep {
  readonly state: FeedState;
  readonly nowMs: number;
  readonly effects: FeedEffect[];
  readonly splitAt: (place: number) => number;
}

/** The answer waits until the journal holds what it reports. */
export function answer({ state }: FeedStep, id: number, said: FeedAnswer): void {
  state.held = [...state.held, { id, version: state.version, answer: said }];
}

export function refused(code: Refused["code"], message: string): Refused {
  return { type: "refused", code, message };
}
