import type { Lease } from "../../../src/job/feeds/lease.ts";
import { addNumber, hasNumber, removeNumber, sizeOfRuns } from "../../../src/job/feeds/runs.ts";
import { machine, rowOf } from "../../../src/moves.ts";
import type { Row } from "../state/machine.ts";
import type { FeedState } from "./records.ts";
import type { FeedStep } from "./step.ts";

type SplitPhase = "free" | "leased" | "used" | "poisoned";

const PHASES = {
  free: "no task has it",
  leased: "a task has it",
  used: "a task has used all of it",
  poisoned: "it failed too often, and is left out",
} satisfies Record<SplitPhase, string>;

const ROWS = [
  { on: "granted", from: ["free"], to: "leased", durable: true, does: "grant" },
  { on: "all-used", from: ["leased"], to: "used", durable: true, does: "acknowledge" },
  // It was believed lost, and no other task has it.
  { on: "all-used", from: ["free", "poisoned"], to: "used", durable: true, does: "acknowledge" },
  { on: "taken-back", from: ["leased"], to: "free", durable: true, does: "giveBack" },
  { on: "given-up", from: ["leased"], to: "poisoned", durable: true, does: "blame" },
] as const satisfies readonly Row<SplitPhase>[];

type SplitMove = (typeof ROWS)[number]["on"];

/** A split in one epoch, which begins with every split free that is not poisoned. A generation begins with what its origin says. */
export const SPLIT = machine<SplitPhase, SplitMove>({
  name: "split of a feed",
  phases: PHASES,
  groups: {},
  rows: ROWS,
});

/** A split that nobody has is not recorded by itself: 100,000 of them are a few runs. */
export function phaseOf({ state, splitAt }: FeedStep, place: number): SplitPhase {
  if (state.leases[place] !== undefined) return "leased";
  if (hasNumber(state.used, place)) return "used";
  return hasNumber(state.poisoned, splitAt(place)) ? "poisoned" : "free";
}

/** Places of all epochs follow one another. */
export function placeOf({ feed }: Pick<FeedState, "feed">, { epoch, position }: Omit<Lease, "number">): number {
  return epoch * feed.splits + position;
}

/** The place behind the last one that may be handed out while this epoch is not over. */
export function horizonOf({ feed, epoch }: Pick<FeedState, "feed" | "epoch">): number {
  const { splits, boundary, epochs = Number.POSITIVE_INFINITY } = feed;
  if (boundary === "infinite") return Number.POSITIVE_INFINITY;
  return splits * Math.min(epochs, epoch + (boundary === "overlap" ? 2 : 1));
}

/** The only way to change a split's phase. @param task the task that has it from then on, if it is leased */
export function moveSplit(step: FeedStep, place: number, on: SplitMove, task = ""): void {
  const { state } = step;
  const to = rowOf(SPLIT, phaseOf(step, place), on)?.to;
  if (to === undefined) return;
  const split = step.splitAt(place);
  takeFromHand(state, place);
  delete state.nearby.splits[place];
  if (hasNumber(state.poisoned, split)) {
    removeNumber(state.poisoned, split);
    delete state.failures[split];
    // It is free again in later epochs.
    state.next = Math.min(state.next, placeOf(state, { epoch: state.epoch, position: 0 }));
  }
  if (to === "leased") {
    state.lastLease += 1;
    state.handedOut = Math.max(state.handedOut, place + 1);
    state.leases[place] = { number: state.lastLease, task };
    state.hands[task] = [...(state.hands[task] ?? []), place];
  } else if (to === "used") {
    addNumber(state.used, place);
    delete state.partly[place];
  } else if (to === "poisoned") addNumber(state.poisoned, split);
  else state.next = Math.min(state.next, place);
  state.version += 1;
}

function takeFromHand(state: FeedState, place: number): void {
  const task = state.leases[place]?.task;
  if (task === undefined) return;
  delete state.leases[place];
  const rest = state.hands[task]?.filter((one) => one !== place) ?? [];
  if (rest.length > 0) state.hands[task] = rest;
  else delete state.hands[task];
}

/** The first free place that may be handed out. */
export function firstFree(step: FeedStep): number | undefined {
  const { state } = step;
  // With epochs without end the search would never finish.
  if (sizeOfRuns(state.poisoned) === state.feed.splits) return undefined;
  const behind = horizonOf(state);
  state.next = Math.max(state.next, placeOf(state, { epoch: state.epoch, position: 0 }));
  while (state.next < behind && phaseOf(step, state.next) !== "free") state.next += 1;
  return state.next < behind ? state.next : undefined;
}

/** Whether no split of the epoch is still to come. */
export function isEpochOver(step: FeedStep): boolean {
  const { state } = step;
  const behind = placeOf(state, { epoch: state.epoch + 1, position: 0 });
  return (firstFree(step) ?? behind) >= behind && Object.keys(state.leases).every((place) => Number(place) >= behind);
}
