import type { Lease } from "../../../src/job/feeds/lease.ts";
import { numbersFrom, sizeOfRuns } from "../../../src/job/feeds/runs.ts";
import { paceFrom } from "./journaling.ts";
import { nextFor, runsOn } from "./nearby.ts";
import type { FeedAnswer, FeedState, Given, Refused, Waiting } from "./records.ts";
import { firstFree, isEpochOver, moveSplit, phaseOf, placeOf } from "./split-moves.ts";
import { type Asking, answer, type FeedStep, refused, type SplitEnd } from "./step.ts";

/** How many left-out splits keep their reasons at most, and how many characters of each are kept, so that the state stays small. */
const MOST_FAILURES = 20;
const MOST_WORDS = 500;

/** A wake-up that is later than this was delayed along with everything that would have been heard meanwhile: no task counts as silent. */
const LATE_MS = 5_000;

/** @returns undefined where it waits */
export function ask(step: FeedStep, { id, task, most, atOnce, has, host }: Asking): FeedAnswer | undefined {
  const { state } = step;
  dismiss(step, task);
  if (host !== undefined) runsOn(state, task, host);
  const held = leasesOf(step, task);
  const unheard = held.filter(({ number }) => !has.includes(number));
  if (unheard.length > 0) return { type: "given", splits: unheard };
  if (held.length >= state.feed.window) {
    if (atOnce) return { type: "given", splits: [] };
    const many = `${task} has ${held.length} splits of ${state.feed.name}, as many as it may have`;
    return refused("invalid", `${many}: say first what is used`);
  }
  state.waiting = [...state.waiting, { id, task, most, atOnce }];
  return undefined;
}

/** A task has one waiting call at a time: a new call means that the one before was lost on its way. */
export function dismiss(step: FeedStep, task: string): void {
  const { state } = step;
  const before = state.waiting.find((one) => one.task === task);
  if (before === undefined) return;
  state.waiting = state.waiting.filter((one) => one !== before);
  answer(step, before.id, refused("replaced", `${task} has asked again, or is gone`));
}

/** Gives free splits to the tasks that wait, in the order in which they came. */
export function serve(step: FeedStep): void {
  const { state } = step;
  turnEpoch(step);
  const stay: Waiting[] = [];
  for (const one of state.waiting) {
    const { id, task, most, atOnce } = one;
    if (isOver(state)) answer(step, id, { type: "end" });
    else if (firstFree(step) !== undefined) answer(step, id, { type: "given", splits: grant(step, task, most) });
    else if (atOnce || stepsToCome(state)) answer(step, id, { type: "given", splits: [] });
    else stay.push(one);
  }
  state.waiting = stay;
}

/**
 * A task that makes as many steps as the others is told that it gets nothing more in this epoch, because the others wait for its report on
 * steps.
 */
function stepsToCome({ feed, agreed, epoch }: FeedState): boolean {
  return feed.uneven !== undefined && !(agreed?.epoch === epoch && agreed.last);
}

function grant(step: FeedStep, task: string, most: number): readonly Given[] {
  const { state, nowMs } = step;
  const before = leasesOf(step, task);
  const room = Math.min(Math.max(1, most), state.feed.window - before.length);
  for (let given = 0; given < room; given += 1) {
    const place = nextFor(step, task);
    if (place === undefined) break;
    moveSplit(step, place, "granted", task);
  }
  renew(state, task, nowMs);
  return leasesOf(step, task).slice(before.length);
}

/** All of a split is used. A report from a task that lost the split counts as long as no other task has it. */
export function acknowledge(step: FeedStep, { task, lease, records = 0 }: SplitEnd): FeedAnswer {
  const { state, nowMs } = step;
  const { epoch, position, number } = lease;
  const { feed, mark } = state;
  const place = placeOf(state, lease);
  if (position < 0 || position >= feed.splits || place >= state.handedOut)
    return refused("invalid", `${feed.name} has given nobody split ${position} of epoch ${epoch}`);
  if (mark?.there[task] !== undefined)
    return refused("invalid", `${task} waits at mark ${mark.label}: say before it or after it what is used`);
  const reader = state.readers[task];
  if (reader === undefined || number === reader.lastUsed) return { type: "noted" };
  if (!holds(state, task, lease) && !isFree(step, lease)) return refusedAsLost(state, task, lease);
  state.readers[task] = { ...reader, lastUsed: number };
  const pace = state.paces[task] ?? paceFrom(nowMs);
  const counts = { splits: pace.splits + 1, records: pace.records + records };
  state.paces[task] = { ...pace, ...counts, usedAtMs: nowMs };
  moveSplit(step, place, "all-used");
  renew(state, task, nowMs);
  return { type: "noted" };
}

/** Nobody has it, and nobody has used it. */
function isFree(step: FeedStep, lease: Lease): boolean {
  const { state } = step;
  return lease.epoch >= state.epoch && ["free", "poisoned"].includes(phaseOf(step, placeOf(state, lease)));
}

export function refusedAsLost(state: FeedState, task: string, lease: Lease): Refused {
  const { feed, leases } = state;
  const now = leases[placeOf(state, lease)]?.task;
  const lost = `${task} used nothing of ${feed.name} for ${feed.leaseMs / 1_000} s, and has lost split ${lease.position}`;
  return refused("lost", now === undefined ? lost : `${lost}: ${now} has it`);
}

/** The split cannot be read or used. */
export function fail(step: FeedStep, { task, lease, error }: SplitEnd): FeedAnswer {
  const { state } = step;
  if (holds(state, task, lease)) blame(step, placeOf(state, lease), error ?? "no reason was said");
  return { type: "noted" };
}

/** @param why what the task did or ended by, where the split that it used may be at fault */
export function takeBack(step: FeedStep, task: string, why?: string): void {
  const [first, ...others] = step.state.hands[task] ?? [];
  delete step.state.due[task];
  if (first === undefined) return;
  if (why === undefined) giveBack(step, first);
  else blame(step, first, why);
  for (const place of others) giveBack(step, place);
}

function giveBack(step: FeedStep, place: number): void {
  moveSplit(step, place, "taken-back");
}

function blame(step: FeedStep, place: number, why: string): void {
  const { state, effects } = step;
  const split = step.splitAt(place);
  const attempts = (state.attempts[split] ?? 0) + 1;
  state.attempts[split] = attempts;
  if (attempts < state.feed.maxAttempts) {
    giveBack(step, place);
    effects.push({ type: "tried-again", split, why });
    return;
  }
  moveSplit(step, place, "given-up");
  if (Object.keys(state.failures).length < MOST_FAILURES) state.failures[split] = why.slice(0, MOST_WORDS);
  effects.push({ type: "left-out", split, why });
}

/** A task that has used nothing for too long loses its splits. */
export function expire(step: FeedStep): void {
  const { state, nowMs } = step;
  const late = nowMs - (state.wakeAtMs ?? nowMs);
  for (const [task, dueMs] of awaited(state)) {
    if (late > LATE_MS) state.due[task] = dueMs + late;
    else if (dueMs <= nowMs) takeBack(step, task, `${task} used none of it for ${state.feed.leaseMs / 1_000} s`);
  }
  delete state.wakeAtMs;
}

/**
 * When the next task loses its splits, or a failed write is retried. No task is due before a wake-up already asked for: a task that has used
 * something since is due later than those that were due first then.
 */
export function nextDue(state: FeedState, nowMs: number): number | undefined {
  const { feed, journal, wakeAtMs = Number.POSITIVE_INFINITY } = state;
  const times = wakeAtMs <= nowMs + feed.leaseMs ? [] : awaited(state).map(([, dueMs]) => dueMs);
  if (journal.retryAtMs !== undefined) times.push(journal.retryAtMs);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Tasks that are expected to use records; one that waits at a mark, or for others' steps, uses none. */
function awaited({ due, mark, ahead }: FeedState): readonly (readonly [string, number])[] {
  const waits = (task: string) => mark?.there[task] !== undefined || ahead?.there[task]?.id !== undefined;
  return Object.entries(due).filter(([task]) => !waits(task));
}

/** The task uses its splits. */
export function renew(state: FeedState, task: string, nowMs: number): void {
  if (state.hands[task] !== undefined) state.due[task] = nowMs + state.feed.leaseMs;
  else delete state.due[task];
}

/** The leases of a task, in the order in which it got them. */
function leasesOf({ state, splitAt }: FeedStep, task: string): readonly Given[] {
  const { hands, leases, partly, feed } = state;
  return (hands[task] ?? []).map((place) => {
    const { number = 0 } = leases[place] ?? {};
    const [epoch, position] = [Math.floor(place / feed.splits), place % feed.splits];
    return { number, epoch, position, split: splitAt(place), skip: partly[place] ?? 0 };
  });
}

export function holds(state: FeedState, task: string, lease: Lease): boolean {
  const now = state.leases[placeOf(state, lease)];
  return now?.number === lease.number && now.task === task;
}

/** An epoch is over when none of its splits and steps is still to come. Tasks may already have splits of later epochs. */
function turnEpoch(step: FeedStep): void {
  const { state } = step;
  while (!isOver(state) && !mayGrow(state) && isEpochOver(step) && !stepsToCome(state)) {
    state.epoch += 1;
    const from = placeOf(state, { epoch: state.epoch, position: 0 });
    const partly = Object.entries(state.partly).filter(([place]) => Number(place) >= from);
    Object.assign(state, { used: numbersFrom(state.used, from), partly: Object.fromEntries(partly) });
    state.version += 1;
  }
}

/** Whether all epochs are over, or nothing readable is left. */
function isOver(state: FeedState): boolean {
  const { epoch, feed, poisoned } = state;
  if (epoch >= (feed.epochs ?? Number.POSITIVE_INFINITY)) return true;
  return !mayGrow(state) && sizeOfRuns(poisoned) === feed.splits;
}

function mayGrow({ feed: { growth } }: FeedState): boolean {
  return growth !== undefined && !growth.isComplete;
}
