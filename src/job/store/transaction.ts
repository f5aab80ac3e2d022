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

export type RefusalCode = "limit" | "invalid" | "forbidden" | "no-owner";

/** Why a transaction is refused as a whole: nothing of it has happened. */
export interface Refusal {
  readonly code: RefusalCode;
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

/** The answer to a request. */
export type StoreAnswer = Committed | Refusal;

/** All keys that begin so. */
export function withPrefix(prefix: string): Range {
  for (let length = prefix.length; length > 0; length -= 1) {
    const last = prefix.charCodeAt(length - 1);
    if (last < 0xffff) return { from: prefix, to: prefix.slice(0, length - 1) + String.fromCharCode(last + 1) };
  }
  return { from: prefix };
}

/** That key alone: no other one comes before the same with a NUL behind it. */
export function onlyKey(key: string): Required<Range> {
  return { from: key, to: `${key}\0` };
}

/** Where executors keep who has come to a barrier: beside what programs list and delete. */
export const BARRIERS = withPrefix("barrier/");

export function isIn(key: string, { from, to }: Range): boolean {
  return key >= from && (to === undefined || key < to);
}

/** What people call by a name of its own is a transaction, too. */
export const transactions = {
  of: (...success: readonly Operation[]): Transaction => ({ conditions: [], success, failure: [] }),
  get: (key: string): Transaction => transactions.of({ type: "get", key }),
  /** Its result says what the key held before. */
  put: (key: string, value: string, owned = false): Transaction => transactions.of({ type: "put", key, value, owned }),
  remove: (key: string): Transaction => transactions.of({ type: "delete", range: onlyKey(key) }),
  /** Writes the key where it is missing, and tells what it holds where it is not. */
  setDefault: (key: string, value: string, owned = false): Transaction => ({
    conditions: [{ of: "missing", key }],
    success: [{ type: "put", key, value, owned }],
    failure: [{ type: "get", key }],
  }),
} as const;
