import type { Lease } from "../../../src/job/feeds/lease.ts";
import type { FeedAnswer, FeedState, Origin, Refused } from "./records.ts";

/** A call of a life of a task, with a number of the caller's choice for the answer. */
interface Caller {
  readonly id: number;
  readonly task: string;
  readonly generation: number;
}

/** First of all: those who start together are of one generation of their gang, and begin with the same. */
export interface Opening extends Caller {
  readonly type: "open";
  readonly gang: number;
  readonly origin: Origin;
}

/** For splits, until there is one. */
export interface Asking extends Caller {
  readonly type: "ask";
  readonly most: number;
  /** It has records that it has not used: it is told at once where it gets no split, for others may wait for what it has. */
  readonly atOnce: boolean;
  /** The numbers of all leases that it knows of: it may not have heard of some. */
  readonly has: readonly number[];
  /** The machine that it runs on. */
  readonly host?: string;
}

/** All of a split is used, or it cannot be. */
export interface SplitEnd extends Caller {
  readonly type: "used" | "failed";
  readonly lease: Lease;
  readonly error?: string;
  /** How many of its records it has used, where it counts them. */
  readonly records?: number;
}

/** It stops here until all of those `among` have. A label is of one place. */
export interface Marking extends Caller {
  readonly type: "mark";
  readonly label: string;
  readonly among: readonly string[];
  /** How many records it has used, from the beginning, of splits that it has. */
  readonly begun: readonly (Lease & { readonly records: number })[];
}

/** It has rows for so many steps of the epoch. */
export interface Stepping extends Caller {
  readonly type: "steps";
  readonly among: readonly string[];
  readonly epoch: number;
  readonly ready: number;
  readonly known: number;
  readonly dry: boolean;
}

/** `failed`: it may have ended by what it used. `gone`: it was stopped, or lost. */
export type LifeEnd = "succeeded" | "failed" | "gone";

export type FeedCall = Opening | Asking | SplitEnd | Marking | Stepping;

export type FeedEvent =
  | FeedCall
  /** It uses records. */
  | { readonly type: "moved"; readonly task: string; readonly generation: number }
  /** Nobody waits for that answer any more. */
  | { readonly type: "gone"; readonly id: number }
  /** More splits have come; or no more will. */
  | { readonly type: "grown"; readonly splits: number; readonly plan: string; readonly isComplete: boolean }
  | { readonly type: "life-ended"; readonly task: string; readonly generation: number; readonly how: LifeEnd }
  /** Machines that have the bytes of splits, by place; none where that is not known. */
  | { readonly type: "located"; readonly splits: Readonly<Record<string, readonly string[]>> }
  | { readonly type: "journal-written" | "journal-failed"; readonly sequence: number }
  | { readonly type: "wake-up" };

export type FeedEffect =
  | { readonly type: "answer"; readonly id: number; readonly answer: FeedAnswer }
  /** JSON of a DurableFeed in place of those before; there is no other until what became of it is heard. */
  | { readonly type: "journal"; readonly sequence: number; readonly content: string }
  /** It failed, and goes to whoever asks next. */
  | { readonly type: "tried-again"; readonly split: number; readonly why: string }
  /** It has failed too often for that. */
  | { readonly type: "left-out"; readonly split: number; readonly why: string }
  /** There is no other until `located` is heard. */
  | { readonly type: "locate"; readonly splits: readonly { readonly place: number; readonly split: number }[] }
  /** In place of the wake-up that was asked for before. */
  | { readonly type: "wake-at"; readonly atMs: number };

/** One event being heard. */
export interface FeedStep {
  readonly state: FeedState;
  readonly nowMs: number;
  readonly effects: FeedEffect[];
  readonly splitAt: (place: number) => number;
}

/** What it tells of is in the journal before it is told. */
export function answer({ state }: FeedStep, id: number, said: FeedAnswer): void {
  state.held = [...state.held, { id, version: state.version, answer: said }];
}

export function refused(code: Refused["code"], message: string): Refused {
  return { type: "refused", code, message };
}
