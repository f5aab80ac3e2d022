import type { Cursor } from "../../../src/job/feeds/cursor.ts";
import type { Boundary, Uneven } from "../../../src/job/feeds/feed-spec.ts";
import type { Lease } from "../../../src/job/feeds/lease.ts";
import type { Runs } from "../../../src/job/feeds/runs.ts";

/** What is decided of a feed without knowing its files. */
export interface Feed {
  readonly name: string;
  /** Of its files, how they are cut and in which order they come: a cursor of another one is refused. */
  readonly plan: string;
  readonly splits: number;
  /** Absent: it is all there. */
  readonly growth?: Growth;
  /** Of the order of its epochs; absent: that of the plan. */
  readonly seed?: number;
  /** Absent: without end. */
  readonly epochs?: number;
  /** How many splits a task has at a time. */
  readonly window: number;
  /** A task that has splits and uses none of their records for so long loses them. */
  readonly leaseMs: number;
  /** A split that failed as often is left out from then on. */
  readonly maxAttempts: number;
  /** Absent: an epoch begins when all of the one before is used. */
  readonly boundary?: Boundary;
  /** Absent: each task makes as many steps as it has rows for. */
  readonly uneven?: Uneven;
  /** False: splits are given in their order alone, wherever their bytes are. */
  readonly locality?: boolean;
}

/** Of an input that grows, which is read once. What it has grown by is in a journal of its own before it is heard of. */
export interface Growth {
  /** What came together, which has an order of its own, behind all that came before. */
  readonly batches: readonly Batch[];
  readonly isComplete: boolean;
}

interface Batch {
  /** The place behind its last split. */
  readonly behind: number;
  /** Of all up to here: a cursor that was taken then is of this plan. */
  readonly plan: string;
}

/** Where a generation begins: with nothing used, with what is, or with what a checkpoint says is. */
export type Origin = "start" | "used" | Cursor;

/** A lease as the task gets it. */
export interface Given extends Lease {
  /** The number that it has in the plan. */
  readonly split: number;
  /** How many of its first records have been used already. */
  readonly skip: number;
}

export interface Reader {
  readonly generation: number;
  /** The last lease of which it has said that all is used: it may say so again when the answer was lost. */
  readonly lastUsed: number;
  /** It has ended well: nobody waits for it at a mark. */
  readonly isDone?: boolean;
}

/** What a task has used since it began to read, or this attempt of the ApplicationMaster began. */
export interface Pace {
  readonly sinceMs: number;
  /** When it had last used a split. */
  readonly usedAtMs: number;
  readonly splits: number;
  /** As far as it counts them. */
  readonly records: number;
}

export interface Taken {
  readonly label: string;
  readonly cursor: Cursor;
  /** Who met there: the generation of each. */
  readonly lives: Readonly<Record<string, number>>;
}

/** What a later attempt of the ApplicationMaster has to know. */
export interface DurableFeed {
  /** The first one that is not over, from 0 on; as many as there are once all are. */
  readonly epoch: number;
  /** Places whose splits are used: those of all epochs stand one behind the other. None of epochs that are over. */
  readonly used: Runs;
  /** Splits that are left out, by their numbers. */
  readonly poisoned: Runs;
  /** Why some of them are, by their numbers: the first ones. */
  readonly failures: Readonly<Record<string, string>>;
  /** How many records are used of splits that are not, by place, as the generation's origin says. */
  readonly partly: Readonly<Record<string, number>>;
  /** Whose a split is, by place. */
  readonly leases: Readonly<Record<string, { readonly number: number; readonly task: string }>>;
  readonly lastLease: number;
  /** The place behind the last one that a task of this generation was given: what is said of others leaves nothing. */
  readonly handedOut: number;
  /** How often a split has failed, by its number. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Of the gang, whose earlier ones read no more; 0: nobody has opened the feed. */
  readonly generation: number;
  readonly origin: Origin;
  /** The tasks that read. */
  readonly readers: Readonly<Record<string, Reader>>;
  /** The last cursor that tasks of the generation were given, and at which mark. */
  readonly taken?: Taken;
  /** How many steps all tasks have been told to make. */
  readonly agreed?: Agreed;
}

/** All that a later step depends on: plain data. */
export interface FeedState extends DurableFeed {
  feed: Feed;
  epoch: number;
  used: number[];
  poisoned: number[];
  failures: Record<string, string>;
  partly: Record<string, number>;
  leases: Record<string, { readonly number: number; readonly task: string }>;
  lastLease: number;
  handedOut: number;
  attempts: Record<string, number>;
  generation: number;
  origin: Origin;
  readers: Record<string, Reader>;
  /** Of each reader. */
  paces: Record<string, Pace>;
  taken?: Taken;
  agreed?: Agreed;
  /** What tasks have said of their steps in this epoch. */
  ahead?: StepsAhead;
  /** No split before it is free. */
  next: number;
  /** Which machines tasks run on, and which ones have the bytes of splits that come next. */
  readonly nearby: {
    /** Of each task that has asked. */
    readonly tasks: Record<string, string>;
    /** There are two machines at least. */
    isSpread: boolean;
    /** So many places are looked at. */
    ahead: number;
    /** By place, of those that nobody was given yet. */
    readonly splits: Record<string, readonly string[]>;
    /** It was asked of those before this place. */
    behind: number;
    /** The answer is not there yet. */
    isAsked: boolean;
  };
  /** The splits that a task has, by their places, in the order in which it got them. */
  hands: Record<string, readonly number[]>;
  /** When a task loses its splits. */
  due: Record<string, number>;
  /** For which a wake-up was asked last. */
  wakeAtMs?: number;
  /** Tasks that wait for splits, in the order in which they came. */
  waiting: readonly Waiting[];
  mark?: Mark;
  /** How often that has changed which the journal holds. */
  version: number;
  readonly journal: {
    /** Of the last write. */
    sequence: number;
    /** The version that is safe. */
    written: number;
    /** The version that is being written. */
    writing?: number;
    /** In a row; then nothing is written before that time. */
    failures: number;
    retryAtMs?: number;
  };
  /** Answers that wait until the journal holds what they tell of. */
  held: readonly { readonly id: number; readonly version: number; readonly answer: FeedAnswer }[];
}

export interface Waiting {
  readonly id: number;
  readonly task: string;
  readonly most: number;
  readonly atOnce: boolean;
}

interface Agreed {
  readonly epoch: number;
  readonly steps: number;
  /** They make no more in this epoch. */
  readonly last: boolean;
}

/** Tasks that make the same number of steps in an epoch. */
export interface StepsAhead {
  readonly among: readonly string[];
  readonly there: Record<
    string,
    {
      /** Of the call that waits. */
      id?: number;
      /** For so many steps it has rows. */
      readonly ready: number;
      /** There are no more rows for it. */
      readonly isDry: boolean;
    }
  >;
}

/** The tasks of `among` stop at one place, for a cursor that is true of all of them. */
export interface Mark {
  readonly label: string;
  readonly among: readonly string[];
  /** Those who have come: the call of each, and the records it has used of splits that it has, by place. */
  readonly there: Record<string, { readonly id: number; readonly used: Readonly<Record<string, number>> }>;
}

export type FeedAnswer =
  | { readonly type: "opened"; readonly epoch: number }
  /** None: it gets none now, and was not to wait. */
  | { readonly type: "given"; readonly splits: readonly Given[] }
  /** All epochs are over. */
  | { readonly type: "end" }
  | { readonly type: "noted" }
  | { readonly type: "cursor"; readonly cursor: Cursor }
  /** All may make so many steps of the epoch; the last ones: no more. */
  | { readonly type: "agreed"; readonly steps: number; readonly last: boolean }
  | Refused;

/**
 * - `invalid`: it cannot be done as it was asked
 * - `stale`: a later generation reads, or another life of the task
 * - `lost`: the task has lost the split
 * - `replaced`: the task has asked again since
 */
export interface Refused {
  readonly type: "refused";
  readonly code: "invalid" | "stale" | "lost" | "replaced";
  readonly message: string;
}
