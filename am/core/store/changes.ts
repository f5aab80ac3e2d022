import { countBefore } from "../../../src/job/sorted.ts";
import type { Entry, Range } from "../../../src/job/store/transaction.ts";
import type { Change } from "../../../src/job/store/watched.ts";
import { ENTRY_BYTES, keyBytes, storeLimits } from "./limits.ts";
import { lifeName, type StoreState } from "./records.ts";

/**
 * Carries out one change, and remembers it for watchers. Changes of one revision follow one another.
 * @param place of its key, where that is known
 */
export function apply(state: StoreState, change: Change, place = placeOf(state.entries, change.key)): void {
  const { entries } = state;
  const found = entries[place];
  const before = found?.key === change.key ? found : undefined;
  if (before !== undefined) account(state, before, -1);
  if (change.type === "put") {
    account(state, change.entry, 1);
    if (before === undefined) entries.splice(place, 0, change.entry);
    else entries[place] = change.entry;
  } else if (before !== undefined) entries.splice(place, 1);
  remember(state, change);
}

/** Accounts for entries that were already taken from the list. */
export function forget(state: StoreState, gone: readonly Entry[], revision: number): void {
  for (const entry of gone) {
    account(state, entry, -1);
    remember(state, { type: "delete", revision, key: entry.key });
  }
}

function remember(state: StoreState, change: Change): void {
  state.revision = change.revision;
  state.changes.push(change);
  state.changesBytes += sizeOf(change);
}

/** Forgets the oldest changes beyond the limit, whole revisions at a time, once it is exceeded by a tenth. */
export function compact(state: StoreState): void {
  const { changes } = state;
  let { changesBytes: bytes } = state;
  if (bytes <= 1.1 * storeLimits.changesBytes) return;
  let first = 0;
  while (bytes > storeLimits.changesBytes) {
    const revision = changes[first]?.revision ?? 0;
    for (let change = changes[first]; change?.revision === revision; change = changes[first]) {
      bytes -= sizeOf(change);
      first += 1;
    }
    state.compacted = revision;
  }
  changes.splice(0, first);
  state.changesBytes = bytes;
}

function account(state: StoreState, entry: Entry, sign: 1 | -1): void {
  state.bytes += sign * entrySize(entry);
  if (entry.owner === undefined) return;
  const name = lifeName(entry.owner);
  const count = (state.owned[name] ?? 0) + sign;
  if (count > 0) state.owned[name] = count;
  else delete state.owned[name];
}

export function entrySize({ key, value }: Pick<Entry, "key" | "value">): number {
  return ENTRY_BYTES + keyBytes(key) + value.length;
}

export function sizeOf(change: Change): number {
  return change.type === "put" ? entrySize(change.entry) : ENTRY_BYTES + keyBytes(change.key);
}

/** Where the key is in the sorted list, or would be. */
export function placeOf(entries: readonly Entry[], key: string): number {
  return countBefore(entries, (entry) => entry.key < key);
}

/** The part of the sorted list that lies in the range. */
export function placesOf(entries: readonly Entry[], { from, to }: Range): readonly [number, number] {
  const first = placeOf(entries, from);
  return [first, to === undefined ? entries.length : Math.max(first, placeOf(entries, to))];
}
