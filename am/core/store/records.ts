import type { Committed, Entry, Life } from "../../../src/job/store/transaction.ts";
import type { Change } from "../../../src/job/store/watched.ts";

/** All that the store holds: plain data. */
export interface StoreState {
  /** Revision of the last change; the first one is 1. */
  revision: number;
  /** Sorted by key. */
  entries: Entry[];
  /** Size of all keys and values, in bytes. */
  bytes: number;
  /** How many keys each life owns, for lives that own any. */
  owned: Record<string, number>;
  /** The latest changes, oldest first. */
  changes: Change[];
  /** Their size in bytes. */
  changesBytes: number;
  /** Changes up to this revision are no longer known one by one. */
  compacted: number;
  /** Where earlier attempts of the ApplicationMaster ended: what they did after that revision is lost. */
  epochs: Epoch[];
  readonly journal: JournalState;
}

/** An earlier attempt of the ApplicationMaster, and its last revision that is known. */
export interface Epoch {
  readonly attempt: number;
  readonly lastRevision: number;
}

/** What of the store is in the journal. */
export interface JournalState {
  /** The attempt whose changes are written. */
  attempt: number;
  /** Number of the last file that was written or is being written; 0: none. */
  sequence: number;
  /** The revision up to which everything is safe. */
  written: number;
  /** The revision that is being written. */
  writing?: number;
  /** Size of what is being written. */
  writingBytes: number;
  /** Files since the last whole one. */
  segments: number;
  segmentsBytes: number;
  /** Somebody waits for the next one. */
  urgent: boolean;
  /** The next write, if there is something to write, is not before this time. */
  dueMs?: number;
  /** Failures since the last success. */
  failures: number;
  /** Answers that wait until their revision is safe, the oldest first. */
  readonly held: { readonly id: number; readonly revision: number; readonly committed: Committed }[];
}

export function lifeName({ task, generation }: Life): string {
  return `${task}#${generation}`;
}

/** The inverse of `lifeName`. */
export function lifeOfName(name: string): Life {
  const end = name.lastIndexOf("#");
  return { task: name.slice(0, end), generation: Number(name.slice(end + 1)) };
}
