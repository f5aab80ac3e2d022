import type { Life, StoreAnswer, Transaction } from "../../../src/job/store/transaction.ts";
import { emptyStore } from "./empty-store.ts";
import { nextWrite, type StoreWrite, want, writeFailed, written } from "./journaling.ts";
import type { StoreState } from "./records.ts";
import { forbidden, type Rights } from "./rights.ts";
import { endLife, transact } from "./transaction.ts";

export interface StoreRequest {
  /** Chosen by the caller; identifies the answer. */
  readonly id: number;
  readonly transaction: Transaction;
  readonly rights: Rights;
  /** The life of the task that asks, or is named; owned keys end with it. */
  readonly life?: Life;
  /** The answer waits until everything that it reports is in the journal. */
  readonly durable: boolean;
}

export type StoreEvent =
  | ({ readonly type: "request" } & StoreRequest)
  | { readonly type: "life-ended"; readonly life: Life }
  | { readonly type: "journal-written"; readonly sequence: number }
  | { readonly type: "journal-failed"; readonly sequence: number }
  | { readonly type: "wake-up" };

export type StoreEffect =
  | { readonly type: "answer"; readonly id: number; readonly answer: StoreAnswer }
  /** There are later changes, which watchers are to be told of. */
  | { readonly type: "changed" }
  | ({ readonly type: "journal" } & StoreWrite)
  | { readonly type: "wake-at"; readonly atMs: number };

/** The decisions of a job's key-value store: events go in, effects come out. Like the core, it does no I/O. */
export interface Store {
  step(event: StoreEvent, nowMs: number): StoreEffect[];
  /** Plain data, changed by the store alone. */
  readonly state: StoreState;
}

/** A store that goes on from another one's `state`, written as JSON and read back, decides what that one would have decided. */
export function createStore(state: StoreState = emptyStore(1)): Store {
  return {
    state,
    step(event, nowMs) {
      const before = state.revision;
      const effects = hear(state, event, nowMs);
      if (state.revision > before) {
        want(state, false, nowMs);
        effects.push({ type: "changed" });
      }
      const write = nextWrite(state, nowMs);
      if (write !== undefined) effects.push({ type: "journal", ...write });
      else if (state.journal.dueMs !== undefined && state.journal.writing === undefined)
        effects.push({ type: "wake-at", atMs: state.journal.dueMs });
      return effects;
    },
  };
}

function hear(state: StoreState, event: StoreEvent, nowMs: number): StoreEffect[] {
  switch (event.type) {
    case "request":
      return answer(state, event, nowMs);
    case "life-ended":
      endLife(state, event.life);
      return [];
    case "journal-written":
      if (event.sequence !== state.journal.sequence) return [];
      written(state);
      return released(state);
    case "journal-failed":
      if (event.sequence === state.journal.sequence) writeFailed(state, nowMs);
      return [];
    case "wake-up":
      return [];
  }
}

function answer(
  state: StoreState,
  { id, transaction, rights, life, durable }: StoreRequest,
  nowMs: number,
): StoreEffect[] {
  const { journal } = state;
  const result = forbidden(transaction, rights) ?? transact(state, transaction, life);
  if (durable && !("code" in result) && journal.written < state.revision) {
    journal.held.push({ id, revision: state.revision, committed: result });
    want(state, true, nowMs);
    return [];
  }
  return [{ type: "answer", id, answer: result }];
}

/** Answers whose revision is now safe. */
function released({ journal }: StoreState): StoreEffect[] {
  const first = journal.held.findIndex(({ revision }) => revision > journal.written);
  const safe = journal.held.splice(0, first === -1 ? journal.held.length : first);
  return safe.map(({ id, committed }) => ({ type: "answer", id, answer: committed }));
}
