import type {
  Committed,
  Entry,
  Life,
  Operation,
  Range,
  Refusal,
  Result,
  Transaction,
} from "../../../src/job/store/transaction.ts";
import type { Change } from "../../../src/job/store/watched.ts";
import { apply, compact, entrySize, forget, placeOf, placesOf } from "./changes.ts";
import { holds } from "./conditions.ts";
import { malformed, overfull, storeLimits } from "./limits.ts";
import { lifeName, type StoreState } from "./records.ts";

/** Carries a transaction out, or refuses all of it. @param life the caller's life, with which the keys that it owns end */
export function transact(state: StoreState, transaction: Transaction, life?: Life): Committed | Refusal {
  const refusal = malformed(transaction);
  if (refusal !== undefined) return refusal;
  const succeeded = transaction.conditions.every((condition) => holds(condition, entryOf(state, condition.key)));
  const operations = succeeded ? transaction.success : transaction.failure;
  const problem = refusalOf(state, operations, life);
  if (problem !== undefined) return problem;
  const revision = state.revision + 1;
  const listed: Listed = { entries: 0, bytes: 0 };
  const results = operations.map((operation) => carryOut(state, operation, revision, listed, life));
  compact(state);
  return { revision: state.revision, succeeded, results };
}

/** Removes the keys of a life that is over, at one revision. */
export function endLife(state: StoreState, life: Life): void {
  const name = lifeName(life);
  if (state.owned[name] === undefined) return;
  const revision = state.revision + 1;
  const isOwned = ({ owner }: Entry) => owner !== undefined && lifeName(owner) === name;
  const gone = state.entries.filter(isOwned);
  state.entries = state.entries.filter((entry) => !isOwned(entry));
  forget(state, gone, revision);
  compact(state);
}

export function entryOf(state: Pick<StoreState, "entries">, key: string): Entry | undefined {
  return entryAt(state, placeOf(state.entries, key), key);
}

/** @param place of the key, if it is there */
function entryAt({ entries }: Pick<StoreState, "entries">, place: number, key: string): Entry | undefined {
  const found = entries[place];
  return found?.key === key ? found : undefined;
}

/** Checked before anything happens. What a deletion in the same transaction would free is not counted. */
function refusalOf(state: StoreState, operations: readonly Operation[], life: Life | undefined): Refusal | undefined {
  let { bytes } = state;
  let entries = state.entries.length;
  let grows = false;
  for (const operation of operations) {
    if (operation.type !== "put") continue;
    if (operation.owned === true && life === undefined)
      return {
        code: "no-owner",
        message: `${operation.key} is to go with a task's life, and no task that lives was named`,
      };
    const before = entryOf(state, operation.key);
    const growth = entrySize(operation) - (before === undefined ? 0 : entrySize(before));
    if (before === undefined) entries += 1;
    grows ||= growth > 0;
    bytes += growth;
  }
  return grows ? overfull({ entries, bytes }) : undefined;
}

/** What the lists of a transaction have returned so far. */
interface Listed {
  entries: number;
  bytes: number;
}

function carryOut(
  state: StoreState,
  operation: Operation,
  revision: number,
  listed: Listed,
  life: Life | undefined,
): Result {
  switch (operation.type) {
    case "get": {
      const entry = entryOf(state, operation.key);
      return { type: "get", ...(entry === undefined ? {} : { entry }) };
    }
    case "list":
      return list(state, operation, listed);
    case "put": {
      const place = placeOf(state.entries, operation.key);
      const before = entryAt(state, place, operation.key);
      apply(state, putting(operation, before, revision, life), place);
      return { type: "put", ...(before === undefined ? {} : { before }) };
    }
    case "delete":
      return { type: "delete", deleted: remove(state, operation.range, revision) };
  }
}

function putting(
  { key, value, owned }: Extract<Operation, { type: "put" }>,
  before: Entry | undefined,
  revision: number,
  life: Life | undefined,
): Change {
  const { created = revision, version = 0 } = before ?? {};
  const owner = owned === true && life !== undefined ? { owner: { task: life.task, generation: life.generation } } : {};
  const entry = { key, value, created, modified: revision, version: version + 1, ...owner };
  return { type: "put", revision, key, entry };
}

function remove(state: StoreState, range: Range, revision: number): number {
  const [first, end] = placesOf(state.entries, range);
  const gone = state.entries.splice(first, end - first);
  forget(state, gone, revision);
  return gone.length;
}

/**
 * All lists of a transaction together return at most as much as one may: a later list that is cut short says so, like any
 * other.
 */
function list(
  state: StoreState,
  { range, limit = storeLimits.listed, keysOnly = false }: Extract<Operation, { type: "list" }>,
  listed: Listed,
): Result {
  const [first, end] = placesOf(state.entries, range);
  const most = Math.min(limit, storeLimits.listed);
  const entries: Entry[] = [];
  for (const entry of state.entries.slice(first, Math.min(end, first + most))) {
    const shown = keysOnly ? { ...entry, value: "" } : entry;
    const bytes = listed.bytes + entrySize(shown);
    if (bytes > storeLimits.listedBytes && listed.entries > 0) break;
    entries.push(shown);
    listed.entries += 1;
    listed.bytes = bytes;
  }
  return { type: "list", entries, more: first + entries.length < end };
}
