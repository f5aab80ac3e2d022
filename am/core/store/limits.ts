import type { Operation, Refusal, Transaction } from "../../../src/job/store/transaction.ts";
import type { StoreState } from "./records.ts";

/** The most that the store holds; documented in docs/guide/key-value-store.md. */
export const storeLimits = {
  keyBytes: 512,
  valueBytes: 128 << 10,
  /** All values of one transaction together: a caller's message is read whole (MOST_REQUEST_BYTES). */
  requestBytes: 192 << 10,
  keys: 100_000,
  totalBytes: 32 << 20,
  operations: 128,
  listed: 10_000,
  /** All lists of one transaction together. */
  listedBytes: 2 << 20,
  /**
   * The changes kept for watches. Only once they exceed this by a tenth are all beyond it dropped, at once: removing from the front of a list
   * moves all of it.
   */
  changesBytes: 8 << 20,
} as const;

/** What a key takes in memory besides its name and value, roughly. */
export const ENTRY_BYTES = 100;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Why the transaction cannot be carried out, whatever the store holds; undefined: it can. */
export function malformed({ conditions, success, failure }: Transaction): Refusal | undefined {
  const count = Math.max(conditions.length, success.length, failure.length);
  if (count > storeLimits.operations)
    return limit(`a transaction has at most ${storeLimits.operations} conditions and operations, not ${count}`);
  for (const { key } of conditions) {
    const why = badKey(key);
    if (why !== undefined) return why;
  }
  const bytes = [...success, ...failure].reduce((sum, one) => sum + (one.type === "put" ? one.value.length : 0), 0);
  if (bytes > storeLimits.requestBytes)
    return limit(
      `a transaction writes at most ${storeLimits.requestBytes} bytes, not ${bytes}: put a file's path there instead`,
    );
  for (const operations of [success, failure]) {
    const why = badOperations(operations);
    if (why !== undefined) return why;
  }
  return undefined;
}

function badOperations(operations: readonly Operation[]): Refusal | undefined {
  const written = new Set<string>();
  for (const operation of operations) {
    const why = badOperation(operation);
    if (why !== undefined) return why;
    if (operation.type !== "put") continue;
    if (written.has(operation.key)) return invalid(`a transaction writes ${operation.key} twice: write it once`);
    written.add(operation.key);
  }
  return undefined;
}

function badOperation(operation: Operation): Refusal | undefined {
  if (operation.type === "list" || operation.type === "delete") return undefined;
  const why = badKey(operation.key);
  if (why !== undefined || operation.type === "get") return why;
  const { length } = operation.value;
  if (length <= storeLimits.valueBytes) return undefined;
  return limit(
    `the value of ${operation.key} has ${length} bytes, at most ${storeLimits.valueBytes} are kept: put a file's path there instead`,
  );
}

function badKey(key: string): Refusal | undefined {
  if (key === "") return invalid("a key is empty: name one");
  if (LONE_SURROGATE.test(key)) return invalid("a key is no Unicode text");
  const bytes = keyBytes(key);
  if (bytes <= storeLimits.keyBytes) return undefined;
  return limit(`a key has ${bytes} bytes, at most ${storeLimits.keyBytes} are allowed: ${key.slice(0, 40)}…`);
}

/** Length in UTF-8. */
export function keyBytes(key: string): number {
  let bytes = key.length;
  for (let place = 0; place < key.length; place += 1) {
    const code = key.charCodeAt(place);
    // The halves of a surrogate pair take two bytes each.
    if (code >= 0x80) bytes += code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 1 : 2;
  }
  return bytes;
}

/** Why the store would hold too much; undefined: it does not. */
export function overfull({
  entries,
  bytes,
}: Pick<StoreState, "bytes"> & { readonly entries: number }): Refusal | undefined {
  if (entries > storeLimits.keys) return limit(`the store holds ${storeLimits.keys} keys at most: delete some first`);
  if (bytes > storeLimits.totalBytes)
    return limit(`the store holds ${storeLimits.totalBytes} bytes at most: delete some keys first`);
  return undefined;
}

function limit(message: string): Refusal {
  return { code: "limit", message };
}

function invalid(message: string): Refusal {
  return { code: "invalid", message };
}
