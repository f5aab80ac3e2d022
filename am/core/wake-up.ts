import { hintsExhausted } from "./containers/asks.ts";
import { askAgainTimes } from "./containers/refusals.ts";
import { containerOverdue } from "./executors/overdue.ts";
import { verdictsDueMs, verdictsOverdue } from "./failures/close-verdict.ts";
import { stopOverdue } from "./failures/overdue-stop.ts";
import { askAgain, holdOver } from "./gang/hold.ts";
import { allocationDueMs, allocationOverdue, applicationDueMs, applicationOverdue } from "./job/begin.ts";
import { finishStageOverdue } from "./job/finish.ts";
import { groupLimitsDueMs, groupLimitsOverdue } from "./job/group-limits.ts";
import { journalDueMs } from "./journal/journal.ts";
import { dueMsOf, noteContainerDeadline, notePause } from "./state/deadlines.ts";
import type { GangState } from "./state/gang.ts";
import { CONTAINER_DEADLINES, type ContainerDeadline, type Deadline } from "./state/records.ts";
import type { CoreState } from "./state/state.ts";
import { emit, type Step } from "./state/step.ts";

/** Something of the job, or of one of its gangs, that ends at a time: when, where that is not settled yet, and what follows. */
interface Bound<Of extends readonly unknown[]> {
  dueMs(step: Step, ...of: Of): number | undefined;
  over(step: Step, ...of: Of): void;
}

const OF_JOB: readonly Bound<[]>[] = [
  { dueMs: applicationDueMs, over: applicationOverdue },
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

/** Times at which `settle` finds that it may do more. */
function turnsOf(step: Step): (number | undefined)[] {
  const ofGangs = step.state.gangs.flatMap(({ startNotBeforeMs, graceEndsAtMs }) => [startNotBeforeMs, graceEndsAtMs]);
  return [...ofGangs, ...askAgainTimes(step), journalDueMs(step)];
}

/** Every bound, of the job and of each gang. */
function boundsOf(step: Step): Bound<[]>[] {
  const ofGangs = step.state.gangs.flatMap((gang) =>
    OF_GANG.map(({ dueMs, over }) => ({ dueMs: () => dueMs(step, gang), over: () => over(step, gang) })),
  );
  return [...OF_JOB, ...ofGangs];
}

/** Beyond this lateness of a wake-up we stood still ourselves. */
const OVERSLEPT_MS = 2_000;

/** The time that was asked for has come: what is due has its consequences. One that comes late shows a pause, and then blames nobody. */
export function wakeUp(step: Step): void {
  const { state } = step;
  if (state.wakeUp.atMs !== 0 && step.nowMs - state.wakeUp.atMs >= OVERSLEPT_MS) {
    notePause(step);
  }
  state.wakeUp.atMs = 0;
  for (const { dueMs, over } of boundsOf(step)) {
    if ((dueMs(step) ?? Number.POSITIVE_INFINITY) <= step.nowMs) {
      over(step);
    }
  }
  if (state.wakeUp.containersMs !== 0 && state.wakeUp.containersMs <= step.nowMs) {
    lookThroughContainers(step);
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

/** Asks to be woken when the next thing is due, where that is earlier than what was asked for. */
export function askForWakeUp(step: Step): void {
  const { wakeUp: asked, phase } = step.state;
  const dues = [
    ...boundsOf(step).map(({ dueMs }) => dueMs(step)),
    ...turnsOf(step).map((turnMs) => laterThanNow(step, turnMs)),
  ];
  const known = [...dues, asked.containersMs || undefined].filter((dueMs) => dueMs !== undefined);
  const nextMs = Math.min(...known);
  if (phase !== "over" && known.length > 0 && (asked.atMs === 0 || nextMs < asked.atMs)) {
    asked.atMs = nextMs;
    emit(step, { type: "wake-at", atMs: nextMs });
  }
}

function laterThanNow({ nowMs }: Step, atMs: number | undefined): number | undefined {
  return atMs === undefined || atMs <= nowMs ? undefined : atMs;
}

function dueMsOfAny(state: CoreState, deadline: Deadline | undefined): number | undefined {
  return deadline === undefined ? undefined : dueMsOf(state, deadline);
}
