/** One life of a task. */
export interface Life {
  /** `worker:0` */
  readonly task: string;
  readonly generation: number;
}

/** A key and its value. */
export interface Entry {
  readonly key: string;
  /** Bytes, each as a character from U+0000 to U+00FF: V8 stores one per byte, and such strings compare as their bytes do. */
  readonly value: string;
  /** The revision that created the key. */
  readonly created: number;
  /** The revision that last wrote it. */
  readonly modified: number;
  /** How many times it has been written since its creation: 1 at first. */
  readonly version: number;
  /** The key is deleted when that life ends. */
  readonly owner?: Life;
}

/** Keys from `from`, before `to`, in the order of their UTF-16 code units; without `to` all that follow. */
export interface Range {
  readonly from: string;
  readonly to?: string;
}

export type Comparison = "=" | "≠" | "<" | "≤" | ">" | "≥";

/** For a missing key, conditions on `value` and `owner` are only true with `≠`, and the numbers are 0. */
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
  /** @property owned whether it is deleted when the life named in the request ends */
  | { readonly type: "put"; readonly key: string; readonly value: string; readonly owned?: boolean }
  | { readonly type: "delete"; readonly range: Range };

/** Happens as a whole, at one revision, or not at all. */
export interface Transaction {
  readonly conditions: readonly Condition[];
  /** Executed where all conditions hold. */
  readonly success: readonly Operation[];
  readonly failure: readonly Operation[];
}

/** The answer to one operation, of the same type. */
export type Result =
  | { readonly type: "get"; readonly entry?: Entry }
  /** @property more whether the range contains further keys */
  | { readonly type: "list"; readonly entries: readonly Entry[]; readonly more: boolean }
  /** @property before the key's previous value */
  | { readonly type: "put"; readonly before?: Entry }
  | { readonly type: "delete"; readonly deleted: number };

export type RefusalCode = "limit" | "invalid" | "forbidden" | "no-owner";

/** Why a transaction is refused as a whole: nothing of it has been executed. */
export interface Refusal {
  readonly code: RefusalCode;
  /** What is wrong, and what to do. */
  readonly message: string;
}

/** The answer to an executed transaction. */
export interface Committed {
  /** The store's revision after it. */
  readonly revision: number;
  readonly succeeded: boolean;
  readonly results: readonly Result[];
}

/** The answer to a request. */
export type StoreAnswer = Committed | Refusal;

/** All keys that begin with the prefix. */
export function withPrefix(prefix: string): Range {
  for (let length = prefix.length; length > 0; length -= 1) {
    const last = prefix.charCodeAt(length - 1);
    if (last < 0xffff) return { from: prefix, to: prefix.slice(0, length - 1) + String.fromCharCode(last + 1) };
  }
  return { from: prefix };
}

/** That key alone: no other key comes before the same key followed by NUL. */
export function onlyKey(key: string): Required<Range> {
  return { from: key, to: `${key}\0` };
}

/** Where executors record who has arrived at a barrier: outside of what programs list and delete. */
export const BARRIERS = withPrefix("barrier/");

export function isIn(key: string, { from, to }: Range): boolean {
  return key >= from && (to === undefined || key < to);
}

/** Operations with names of their own are transactions, too. */
export const transactions = {
  of: (...success: readonly Operation[]): Transaction => ({ conditions: [], success, failure: [] }),
  get: (key: string): Transaction => transactions.of({ type: "get", key }),
  /** Its result contains the key's previous value. */
  put: (key: string, value: string, owned = false): Transaction => transactions.of({ type: "put", key, value, owned }),
  remove: (key: string): Transaction => transactions.of({ type: "delete", range: onlyKey(key) }),
  /** Writes the key if it is missing, and otherwise returns its value. */
  setDefault: (key: string, value: string, owned = false): Transaction => ({
    conditions: [{ of: "missing", key }],
    success: [{ type: "put", key, value, owned }],
    failure: [{ type: "get", key }],
  }),
} as const;
