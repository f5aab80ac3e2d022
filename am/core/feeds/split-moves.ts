import { addNumber, hasNumber, removeNumber } from "../../../src/job/feeds/runs.ts";
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
  // It was thought to be lost, and nobody else has it.
  { on: "all-used", from: ["free", "poisoned"], to: "used", durable: true, does: "acknowledge" },
  { on: "taken-back", from: ["leased"], to: "free", durable: true, does: "giveBack" },
  { on: "given-up", from: ["leased"], to: "poisoned", durable: true, does: "blame" },
] as const satisfies readonly Row<SplitPhase>[];

type SplitMove = (typeof ROWS)[number]["on"];

/** A split in an epoch, which begins with all of them free that are not poisoned. A generation begins with what its origin says. */
export const SPLIT = machine<SplitPhase, SplitMove>({
  name: "split of a feed",
  phases: PHASES,
  groups: {},
  rows: ROWS,
});

/** There is no record of a split that nobody has: 100,000 of them are a few runs. */
export function phaseOf({ state, splitAt }: FeedStep, position: number): SplitPhase {
  if (state.leases[position] !== undefined) return "leased";
  if (hasNumber(state.used, position)) return "used";
  return hasNumber(state.poisoned, splitAt(position)) ? "poisoned" : "free";
}

/** The one way a split changes its phase. @param task whose it is from then on, where it is leased */
export function moveSplit(step: FeedStep, position: number, on: SplitMove, task = ""): void {
  const { state } = step;
  const to = rowOf(SPLIT, phaseOf(step, position), on)?.to;
  if (to === undefined) return;
  const split = step.splitAt(position);
  takeFromHand(state, position);
  removeNumber(state.poisoned, split);
  delete state.failures[split];
  if (to === "leased") {
    state.lastLease += 1;
    state.leases[position] = { number: state.lastLease, task };
    state.hands[task] = [...(state.hands[task] ?? []), position];
  } else if (to === "used") {
    addNumber(state.used, position);
    delete state.partly[position];
  } else if (to === "poisoned") addNumber(state.poisoned, split);
  else state.next = Math.min(state.next, position);
  state.version += 1;
}

function takeFromHand(state: FeedState, position: number): void {
  const task = state.leases[position]?.task;
  if (task === undefined) return;
  delete state.leases[position];
  const rest = state.hands[task]?.filter((one) => one !== position) ?? [];
  if (rest.length > 0) state.hands[task] = rest;
  else delete state.hands[task];
}

/** The first one that is free. */
export function firstFree(step: FeedStep): number | undefined {
  const { state } = step;
  while (state.next < state.feed.splits && phaseOf(step, state.next) !== "free") state.next += 1;
  return state.next < state.feed.splits ? state.next : undefined;
}

/** No split of the epoch is to come. */
export function isEpochOver(step: FeedStep): boolean {
  return firstFree(step) === undefined && Object.keys(step.state.leases).length === 0;
}
