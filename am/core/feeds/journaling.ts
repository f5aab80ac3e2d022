import { retryAfterMs } from "../store/journaling.ts";
import { FEWEST_AHEAD } from "./nearby.ts";
import type { DurableFeed, Feed, FeedState, Pace } from "./records.ts";
import type { FeedStep } from "./step.ts";

const NOTHING: DurableFeed = {
  epoch: 0,
  used: [],
  poisoned: [],
  failures: {},
  partly: {},
  leases: {},
  lastLease: 0,
  handedOut: 0,
  attempts: {},
  generation: 0,
  origin: "start",
  readers: {},
};

/** The pace of a task that has used nothing yet. */
export function paceFrom(nowMs: number): Pace {
  return { sinceMs: nowMs, usedAtMs: nowMs, splits: 0, records: 0 };
}

/** A feed as restored from the journal. Tasks that read go on reading, with their whole lease time again. */
export function recoveredFeed(feed: Feed, nowMs: number, durable = NOTHING): FeedState {
  const { used, poisoned, failures, partly, leases, attempts, readers } = durable;
  const state: FeedState = {
    ...durable,
    ...{ used: [...used], poisoned: [...poisoned], failures: { ...failures } },
    ...{ partly: { ...partly }, leases: { ...leases } },
    ...{ attempts: { ...attempts }, readers: { ...readers } },
    ...{ feed, next: 0, hands: {}, due: {}, waiting: [], version: 0, held: [] },
    nearby: { tasks: {}, isSpread: false, ahead: FEWEST_AHEAD, splits: {}, behind: 0, isAsked: false },
    paces: Object.fromEntries(Object.keys(readers).map((task) => [task, paceFrom(nowMs)])),
    journal: { sequence: 0, written: 0, failures: 0 },
  };
  const inOrder = Object.entries(leases).sort(([, left], [, right]) => left.number - right.number);
  for (const [position, { task }] of inOrder) {
    state.hands[task] = [...(state.hands[task] ?? []), Number(position)];
    state.due[task] = nowMs + feed.leaseMs;
  }
  return state;
}

/** Writes what has changed, one write at a time. */
export function write({ state, effects, nowMs }: FeedStep): void {
  const { journal, version } = state;
  if (journal.writing !== undefined || journal.written === version || nowMs < (journal.retryAtMs ?? nowMs)) return;
  delete journal.retryAtMs;
  journal.sequence += 1;
  journal.writing = version;
  effects.push({ type: "journal", sequence: journal.sequence, content: JSON.stringify(durable(state)) });
}

function durable(state: FeedState): DurableFeed {
  const { epoch, used, poisoned, failures, partly, leases, lastLease, handedOut, attempts } = state;
  const { generation, origin, readers, taken, agreed } = state;
  return {
    ...{ epoch, used, poisoned, failures, partly, leases, lastLease, handedOut, attempts },
    ...{ generation, origin, readers },
    ...(taken && { taken }),
    ...(agreed && { agreed }),
  };
}

export function written({ journal }: FeedState, sequence: number): void {
  if (sequence !== journal.sequence || journal.writing === undefined) return;
  journal.written = journal.writing;
  journal.failures = 0;
  delete journal.writing;
}

export function writeFailed({ journal }: FeedState, sequence: number, nowMs: number): void {
  if (sequence !== journal.sequence || journal.writing === undefined) return;
  journal.failures += 1;
  journal.retryAtMs = nowMs + retryAfterMs(journal.failures);
  delete journal.writing;
}

/** Sends the answers whose change is safely written. */
export function release({ state, effects }: FeedStep): void {
  const isSafe = ({ version }: { readonly version: number }) => version <= state.journal.written;
  for (const { id, answer } of state.held.filter(isSafe)) effects.push({ type: "answer", id, answer });
  state.held = state.held.filter((one) => !isSafe(one));
}
