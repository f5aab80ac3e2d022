/** One life of a task. */
export interface Life {
  /** `worker:0` */
  readonly task: string;
  readonly generation: number;
}

/** A key and what it holds. */
export interface Entry {
  readonly key: string;
  /** Bytes, each as a character from U+0000 to U+00FF: V8 keeps one in a byte, and such strings compare as their bytes do. */
  readonly value: string;
  /** The revision that created the key. */
  readonly created: number;
  /** The last one that wrote it. */
  readonly modified: number;
  /** How often it has been written since it was created: 1 at first. */
  readonly version: number;
  /** Gone with that life. */
  readonly owner?: Life;
}

/** What a revision did to one key. */
export type Change =
  | { readonly type: "put"; readonly revision: number; readonly key: string; readonly entry: Entry }
  | { readonly type: "delete"; readonly revision: number; readonly key: string };

/** Keys from `from` on, before `to`, in the order of their UTF-16 code units; without `to` all that follow. */
export interface Range {
  readonly from: string;
  readonly to?: string;
}

export type Comparison = "=" | "≠" | "<" | "≤" | ">" | "≥";

/** Of a key that is missing, `value` and `owner` hold for nothing but `≠`, and the numbers are 0. */
export type Condition =
  | { readonly of: "exists"; readonly key: string }
  | { readonly of: "missing"; readonly key: string }
  | { readonly of: "value"; readonly key: string; readonly is: Comparison; readonly to: string }
  | { readonly of: "owner"; readonly key: string; readonly is: "=" | "≠"; readonly to: string }
  | {
      readonly of: "created" | "modified" | "version";
      readonly key: string;
      readonly is: Comparison;
      readonly to: number;
    };

export type Operation =
  | { readonly type: "get"; readonly key: string }
  | { readonly type: "list"; readonly range: Range; readonly limit?: number; readonly keysOnly?: boolean }
  /** @property owned gone with the life that the request names */
  | { readonly type: "put"; readonly key: string; readonly value: string; readonly owned?: boolean }
  | { readonly type: "delete"; readonly range: Range };

/** All of it happens at once, at one revision, or nothing of it. */
export interface Transaction {
  readonly conditions: readonly Condition[];
  /** Where all conditions hold. */
  readonly success: readonly Operation[];
  readonly failure: readonly Operation[];
}

/** The answer to one operation, of the same type. */
export type Result =
  | { readonly type: "get"; readonly entry?: Entry }
  /** @property more the range holds more than that */
  | { readonly type: "list"; readonly entries: readonly Entry[]; readonly more: boolean }
  /** @property before what the key held until then */
  | { readonly type: "put"; readonly before?: Entry }
  | { readonly type: "delete"; readonly deleted: number };

/** Why a transaction is refused as a whole: nothing of it has happened. */
export interface Refusal {
  readonly code: "limit" | "invalid" | "forbidden" | "no-owner";
  /** What, and what to do. */
  readonly message: string;
}

/** Of a transaction that happened. */
export interface Committed {
  /** The store's, once it had happened. */
  readonly revision: number;
  readonly succeeded: boolean;
  readonly results: readonly Result[];
}

/** All that the store holds: plain data. */
export interface StoreState {
  /** Of the last change; the first one is 1. */
  revision: number;
  /** Sorted by key. */
  entries: Entry[];
  /** Of all keys and values, in bytes. */
  bytes: number;
  /** How many keys each life owns that owns any. */
  owned: Record<string, number>;
  /** The latest changes, oldest first. */
  changes: Change[];
  /** What they take, in bytes. */
  changesBytes: number;
  /** Changes up to this revision are no longer known one by one. */
  compacted: number;
  /** Where earlier attempts of the ApplicationMaster ended: what they did after that revision is lost. */
  epochs: { readonly attempt: number; readonly lastRevision: number }[];
  readonly journal: JournalState;
}

/** What of the store is in the journal. */
export interface JournalState {
  /** The attempt whose changes are written. */
  attempt: number;
  /** Of the last file that was written or is being written; 0: none. */
  sequence: number;
  /** The revision up to which all is safe. */
  written: number;
  /** The one that is being written. */
  writing?: number;
  /** Of what is being written. */
  writingBytes: number;
  /** Files since the last whole one. */
  segments: number;
  segmentsBytes: number;
  /** Somebody waits for the next one. */
  urgent: boolean;
  /** Not before then, where something is to be written. */
  dueMs?: number;
  /** Failures since the last success. */
  failures: number;
  /** Answers that wait until their revision is safe, the oldest first. */
  readonly held: { readonly id: number; readonly revision: number; readonly committed: Committed }[];
}

export function lifeName({ task, generation }: Life): string {
  return `${task}#${generation}`;
}
