import { hintsExhausted } from "./containers/asks.ts";
import { askAgainTimes } from "./containers/refusals.ts";
import { containerOverdue } from "./executors/overdue.ts";
import { stopOverdue } from "./failures/losses.ts";
import { verdictsDueMs, verdictsOverdue } from "./failures/verdict.ts";
import { restDueMs } from "./gang/completeness.ts";
import { askAgain, holdOver } from "./gang/hold.ts";
import { allocationDueMs, allocationOverdue } from "./job/allocation.ts";
import { applicationDueMs, applicationOverdue } from "./job/begin.ts";
import { finishStageOverdue } from "./job/finish.ts";
import { groupLimitsDueMs, groupLimitsOverdue } from "./job/group-limits.ts";
import { searchDueMs, searchOverdue } from "./job/search-end.ts";
import { journalDueMs } from "./journal/journal.ts";
import { dueMsOf, noteContainerDeadline } from "./state/deadlines.ts";
import type { GangState } from "./state/gang.ts";
import { CONTAINER_DEADLINES, type ContainerDeadline, type Deadline } from "./state/records.ts";
import type { CoreState } from "./state/state.ts";
import { emit, type Step } from "./state/step.ts";

/** Something of the job, or of one of its gangs, that ends at a given time: when, unless that is open, and what follows. */
interface Bound<Of extends readonly unknown[]> {
  dueMs(step: Step, ...of: Of): number | undefined;
  over(step: Step, ...of: Of): void;
}

const OF_JOB: readonly Bound<[]>[] = [
  { dueMs: applicationDueMs, over: applicationOverdue },
  { dueMs: searchDueMs, over: searchOverdue },
  { dueMs: ({ state }) => dueMsOfAny(state, state.hintsDeadline), over: hintsExhausted },
  { dueMs: groupLimitsDueMs, over: groupLimitsOverdue },
  { dueMs: ({ state }) => dueMsOfAny(state, state.finishDeadline), over: finishStageOverdue },
];

const OF_GANG: readonly Bound<[GangState]>[] = [
  { dueMs: allocationDueMs, over: allocationOverdue },
  { dueMs: ({ state }, { stopDeadline }) => dueMsOfAny(state, stopDeadline), over: stopOverdue },
  { dueMs: ({ state }, { hold }) => dueMsOfAny(state, hold.deadline), over: holdOver },
  { dueMs: (_, { hold }) => hold.askAgainAtMs || undefined, over: askAgain },
  { dueMs: verdictsDueMs, over: verdictsOverdue },
];

/** The requested time has come: whatever is due has its consequences. */
export function wakeUp(step: Step): void {
  const { state } = step;
  state.wakeUp.atMs = 0;
  for (const bound of OF_JOB) {
    lookAt(step, bound);
  }
  for (const gang of state.gangs) {
    for (const bound of OF_GANG) {
      lookAt(step, bound, gang);
    }
  }
  if (state.wakeUp.containersMs !== 0 && state.wakeUp.containersMs <= step.nowMs) {
    lookThroughContainers(step);
  }
}

/** What follows where something is over. */
function lookAt<Of extends readonly unknown[]>(step: Step, { dueMs, over }: Bound<Of>, ...of: Of): void {
  if ((dueMs(step, ...of) ?? Number.POSITIVE_INFINITY) <= step.nowMs) {
    over(step, ...of);
  }
}

function lookThroughContainers(step: Step): void {
  const { state } = step;
  const due: [string, ContainerDeadline][] = [];
  state.wakeUp.containersMs = 0;
  for (const [id, { deadlines }] of Object.entries(state.containers)) {
    for (const what of CONTAINER_DEADLINES) {
      const deadline = deadlines[what];
      const dueMs = deadline && dueMsOf(state, deadline);
      if (dueMs !== undefined && dueMs > step.nowMs) {
        noteContainerDeadline(state, dueMs);
      } else if (dueMs !== undefined) {
        due.push([id, what]);
      }
    }
  }
  for (const [id, what] of due) {
    const container = state.containers[id];
    if (container?.deadlines[what] !== undefined) {
      delete container.deadlines[what];
      containerOverdue(step, what, container);
    }
  }
}

/** Asks to be woken when the next thing is due, if that is earlier than the time already asked for. */
export function askForWakeUp(step: Step): void {
  const { wakeUp: asked, phase } = step.state;
  let nextMs = laterThanNow(step, journalDueMs(step));
  nextMs = Math.min(nextMs, asked.containersMs || Number.POSITIVE_INFINITY);
  for (const turnMs of askAgainTimes(step)) {
    nextMs = Math.min(nextMs, laterThanNow(step, turnMs));
  }
  for (const { dueMs } of OF_JOB) {
    nextMs = Math.min(nextMs, dueMs(step) ?? Number.POSITIVE_INFINITY);
  }
  for (const gang of step.state.gangs) {
    nextMs = Math.min(nextMs, nextOf(step, gang));
  }
  if (phase !== "over" && nextMs < Number.POSITIVE_INFINITY && (asked.atMs === 0 || nextMs < asked.atMs)) {
    asked.atMs = nextMs;
    emit(step, { type: "wake-at", atMs: nextMs });
  }
}

/** When something of a gang is due next, or `settle` may be able to do more. */
function nextOf(step: Step, gang: GangState): number {
  let nextMs = Math.min(
    laterThanNow(step, gang.startNotBeforeMs),
    laterThanNow(step, gang.graceEndsAtMs),
    laterThanNow(step, restDueMs(step, gang)),
  );
  for (const { dueMs } of OF_GANG) {
    nextMs = Math.min(nextMs, dueMs(step, gang) ?? Number.POSITIVE_INFINITY);
  }
  return nextMs;
}

function laterThanNow({ nowMs }: Step, atMs: number | undefined): number {
  return atMs === undefined || atMs <= nowMs ? Number.POSITIVE_INFINITY : atMs;
}

function dueMsOfAny(state: CoreState, deadline: Deadline | undefined): number | undefined {
  return deadline === undefined ? undefined : dueMsOf(state, deadline);
}
