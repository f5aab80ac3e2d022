import { LONGEST_UNNOTICED_MS } from "../../src/api/keepalive.ts";
import { goOn, isolate } from "./isolation.ts";
import type { StagingNews } from "./master.ts";
import type { AbsenceState, ExecutorState } from "./state.ts";
import { emit, type Step } from "./step.ts";

/** The shortest time between two reads of the staging folder. */
const LEAST_PAUSE_MS = 250;
/** Something overdue for longer than this shows that the process was stopped: that time is no absence of the ApplicationMaster. */
const LATE_MS = 5_000;
/** After such a stop the executor searches for this long before it gives up. */
const AFTER_SLEEP_MS = 60_000;

/**
 * What an executor does while it is connected to no ApplicationMaster. It reads the staging folder, at random times so that thousands of
 * executors do not do so at once, for the address of a later attempt and for whether its container is still its task's. It measures how
 * long it has reached neither. A connection whose loss is noticed now may have been broken for a while.
 */
export function beginAbsence(step: Step): void {
  const { state, nowMs } = step;
  state.absences += 1;
  const heardAtMs = nowMs - LONGEST_UNNOTICED_MS;
  const absence = { sinceMs: nowMs, heardAtMs, orphanedAtMs: nowMs + state.limits.orphanMs };
  state.absence = absence;
  heard(step, state.absence, heardAtMs);
  lookWithin(step, state.absence, 0, patienceMs(state) / 3);
}

/** An ApplicationMaster has welcomed the executor, or the executor ends. */
export function endAbsence({ state }: Step): void {
  state.absence = undefined;
}

/** The deadlines of an absence, each with what follows. */
export function absenceDeadlines({ absence }: ExecutorState): [number | undefined, (step: Step) => void][] {
  return absence === undefined
    ? []
    : [
        [absence.lookAtMs, (step) => lookOnce(step, absence)],
        [absence.isolatedAtMs, (step) => silentTooLong(step, absence)],
        [absence.orphanedAtMs, (step) => orphan(step, absence)],
      ];
}

/** @returns the address of an ApplicationMaster, where the look found one */
export function looked(step: Step, number: number, news: StagingNews | undefined): StagingNews["master"] {
  const { state } = step;
  const { absence } = state;
  if (absence?.lookedAtMs === undefined || number !== state.absences) return undefined;
  const { lookedAtMs } = absence;
  absence.lookedAtMs = undefined;
  if (news?.isReplaced === true) {
    endAbsence(step);
    emit(step, { type: "replaced" });
    return undefined;
  }
  if (news === undefined) {
    lookWithin(step, absence, patienceMs(state) / 15, patienceMs(state) / 3);
    return undefined;
  }
  heard(step, absence, lookedAtMs);
  lookWithin(step, absence, state.limits.isolationMs / 4, state.limits.isolationMs / 2);
  goOn(step, "the staging folder");
  return news.master;
}

/** The time left to reach the staging folder if the loss was noticed as late as possible; none where it is not positive. */
function patienceMs({ limits }: ExecutorState): number {
  return limits.isolationMs - LONGEST_UNNOTICED_MS;
}

function heard({ state, nowMs }: Step, absence: AbsenceState, atMs: number): void {
  absence.heardAtMs = atMs;
  absence.isolatedAtMs = Math.max(nowMs, atMs + state.limits.isolationMs);
}

function lookWithin({ nowMs, random }: Step, absence: AbsenceState, earliestMs: number, latestMs: number): void {
  absence.lookAtMs = nowMs + Math.max(LEAST_PAUSE_MS, earliestMs + (latestMs - earliestMs) * random);
}

function lookOnce(step: Step, absence: AbsenceState): void {
  absence.lookAtMs = undefined;
  absence.lookedAtMs = step.nowMs;
  emit(step, { type: "look", absence: step.state.absences });
}

/** Even when overdue: a process that was stopped has reached nobody in that time. */
function silentTooLong(step: Step, absence: AbsenceState): void {
  absence.isolatedAtMs = undefined;
  isolate(step, step.nowMs - absence.heardAtMs);
}

function orphan(step: Step, absence: AbsenceState): void {
  const { state, nowMs } = step;
  const lateMs = nowMs - (absence.orphanedAtMs ?? nowMs);
  absence.orphanedAtMs = lateMs > LATE_MS ? nowMs + Math.min(state.limits.orphanMs, AFTER_SLEEP_MS) : undefined;
  if (absence.orphanedAtMs === undefined) emit(step, { type: "orphaned", silentMs: nowMs - absence.sinceMs });
}
