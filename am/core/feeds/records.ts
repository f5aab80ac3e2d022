import type { Cursor } from "../../../src/job/feeds/cursor.ts";
import type { Boundary, Uneven } from "../../../src/job/feeds/feed-spec.ts";
import type { Lease } from "../../../src/job/feeds/lease.ts";
import type { Runs } from "../../../src/job/feeds/runs.ts";

/** What is decided about a feed without reading its files. */
export interface Feed {
  readonly name: string;
  /** Identifies its files, how they are cut and their order: a cursor of another plan is refused. */
  readonly plan: string;
  readonly splits: number;
  /** Absent: the input is complete. */
  readonly growth?: Growth;
  /** Shuffles each epoch; absent: the order of the plan. */
  readonly seed?: number;
  /** Absent: without end. */
  readonly epochs?: number;
  /** How many splits a task may have at a time. */
  readonly window: number;
  /** A task that has splits and uses none of their records for this long loses them. */
  readonly leaseMs: number;
  /** A split that failed this often is left out from then on. */
  readonly maxAttempts: number;
  /** Absent: an epoch begins when all of the one before is used. */
  readonly boundary?: Boundary;
  /** Absent: each task makes as many steps as it has rows for. */
  readonly uneven?: Uneven;
  /** False: splits are given strictly in their order, wherever their bytes are. */
  readonly locality?: boolean;
}

/**
 * The growth of an input that grows, which is read once. Each batch is in a journal of its own before the feed hears of
 * it.
 */
export interface Growth {
  /** Splits that came together, which have an order of their own, behind all earlier ones. */
  readonly batches: readonly Batch[];
  readonly isComplete: boolean;
}

interface Batch {
  /** The place behind its last split. */
  readonly behind: number;
  /** The plan of all splits up to here: cursors taken at that time carry it. */
  readonly plan: string;
}

/** What a generation begins with: nothing used, everything used so far, or what a checkpoint says is used. */
export type Origin = "start" | "used" | Cursor;

/** A lease as the task gets it. */
export interface Given extends Lease {
  /** Its number in the plan. */
  readonly split: number;
  /** How many of its first records have been used already. */
  readonly skip: number;
}

export interface Reader {
  readonly generation: number;
  /** The last lease that it has reported as used up: it may repeat the report when the answer was lost. */
  readonly lastUsed: number;
  /** It has ended well: no mark waits for it. */
  readonly isDone?: boolean;
}

/** What a task has used since it began to read, or since this attempt of the ApplicationMaster began. */
export interface Pace {
  readonly sinceMs: number;
  /** When it last finished a split. */
  readonly usedAtMs: number;
  readonly splits: number;
  /** As far as it counts them. */
  readonly records: number;
}

export interface Taken {
  readonly label: string;
  readonly cursor: Cursor;
  /** The tasks that met there, with the generation of each. */
  readonly lives: Readonly<Record<string, number>>;
}

/** What a later attempt of the ApplicationMaster must know. */
export interface DurableFeed {
  /** The first epoch that is not over, from 0 on; equal to the number of epochs once all are. */
  readonly epoch: number;
  /** Places whose splits are used: the places of all epochs follow one another. None of epochs that are over. */
  readonly used: Runs;
  /** Splits that are left out, by number. */
  readonly poisoned: Runs;
  /** Why some of them are, by number: only for the first ones. */
  readonly failures: Readonly<Record<string, string>>;
  /** How many records are used of splits not yet used up, by place, as the generation's origin says. */
  readonly partly: Readonly<Record<string, number>>;
  /** The task that has a split, by place. */
  readonly leases: Readonly<Record<string, { readonly number: number; readonly task: string }>>;
  readonly lastLease: number;
  /**
   * The place behind the last one given to a task of this generation: reports about later places change nothing.
   */
  readonly handedOut: number;
  /** How often a split has failed, by number. */
  readonly attempts: Readonly<Record<string, number>>;
  /** Generation of the gang; earlier ones read no more. 0: nobody has opened the feed. */
  readonly generation: number;
  readonly origin: Origin;
  /** The tasks that read. */
  readonly readers: Readonly<Record<string, Reader>>;
  /** The last cursor given to tasks of the generation, with its mark. */
  readonly taken?: Taken;
  /** How many steps all tasks have been told to make. */
  readonly agreed?: Agreed;
}

/** Everything that a later step depends on: plain data. */
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
  /** By reader. */
  paces: Record<string, Pace>;
  taken?: Taken;
  agreed?: Agreed;
  /** What tasks have reported about their steps in this epoch. */
  ahead?: StepsAhead;
  /** No place before this one is free. */
  next: number;
  /** On which machines the tasks run, and which of these have the bytes of splits that come next. */
  readonly nearby: {
    /** By task, for those that have asked. */
    readonly tasks: Record<string, string>;
    /** Whether tasks run on at least two machines. */
    isSpread: boolean;
    /** How many places are searched. */
    ahead: number;
    /** By place, for splits not given out yet. */
    readonly splits: Record<string, readonly string[]>;
    /** Locations were asked for up to this place. */
    behind: number;
    /** Whether the answer is still to come. */
    isAsked: boolean;
  };
  /** The splits that a task has, by place, in the order in which it got them. */
  hands: Record<string, readonly number[]>;
  /** When a task loses its splits. */
  due: Record<string, number>;
  /** The wake-up asked for last. */
  wakeAtMs?: number;
  /** Tasks that wait for splits, in the order in which they came. */
  waiting: readonly Waiting[];
  mark?: Mark;
  /** How often the part that the journal holds has changed. */
  version: number;
  readonly journal: {
    /** Number of the last write. */
    sequence: number;
    /** The version that is safely written. */
    written: number;
    /** The version that is being written. */
    writing?: number;
    /** Failures in a row; after one, nothing is written before `retryAtMs`. */
    failures: number;
    retryAtMs?: number;
  };
  /** Answers that wait until the journal holds what they report. */
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
  /** Whether they make no more in this epoch. */
  readonly last: boolean;
}

/** Tasks that make the same number of steps in an epoch. */
export interface StepsAhead {
  readonly among: readonly string[];
  readonly there: Record<
    string,
    {
      /** The id of the call that waits. */
      id?: number;
      /** How many steps it has rows for. */
      readonly ready: number;
      /** Whether no more rows will come for it. */
      readonly isDry: boolean;
    }
  >;
}

/** The tasks of `among` stop at one point, for a cursor that holds for all of them. */
export interface Mark {
  readonly label: string;
  readonly among: readonly string[];
  /** The tasks that have come: the call of each, and how many records it has used of the splits it holds, by place. */
  readonly there: Record<string, { readonly id: number; readonly used: Readonly<Record<string, number>> }>;
}

export type FeedAnswer =
  | { readonly type: "opened"; readonly epoch: number }
  /** Empty: it gets none now, and asked not to wait. */
  | { readonly type: "given"; readonly splits: readonly Given[] }
  /** All epochs are over. */
  | { readonly type: "end" }
  | { readonly type: "noted" }
  | { readonly type: "cursor"; readonly cursor: Cursor }
  /** All may make this many steps of the epoch; `last`: no more will follow. */
  | { readonly type: "agreed"; readonly steps: number; readonly last: boolean }
  | Refused;

/**
 * - `invalid`: the call cannot be carried out as it was made
 * - `stale`: a later generation reads, or another life of the task
 * - `lost`: the task has lost the split
 * - `replaced`: the task has asked again since
 */
export interface Refused {
  readonly type: "refused";
  readonly code: "invalid" | "stale" | "lost" | "replaced";
  readonly message: string;
}
