import { silenceNoticedMs } from "../../../src/job/silence.ts";
import { Bounds } from "./bounds.ts";
import type { ContainerDeadline, ContainerRecord, Deadline } from "./records.ts";
import type { CoreState } from "./state.ts";
import type { Step } from "./step.ts";

/** A deadline that is this long from now. */
export function deadlineIn({ nowMs }: Pick<Step, "nowMs">, durationMs: number): Deadline {
  return { sinceMs: nowMs, dueMs: nowMs + durationMs };
}

/** Something is awaited of a container; this replaces an earlier deadline of the same name. */
export function awaitOf(step: Step, container: ContainerRecord, what: ContainerDeadline, durationMs: number): void {
  const deadline = deadlineIn(step, durationMs);
  container.deadlines[what] = deadline;
  noteContainerDeadline(step.state, deadline.dueMs);
}

/** It came, or is no longer awaited. */
export function awaitNoMore(container: ContainerRecord, ...whats: readonly ContainerDeadline[]): void {
  for (const what of whats) {
    delete container.deadlines[what];
  }
}

/** A container may be due from then on. */
export function noteContainerDeadline({ wakeUp }: Pick<CoreState, "wakeUp">, dueMs: number): void {
  wakeUp.containersMs = wakeUp.containersMs === 0 ? dueMs : Math.min(wakeUp.containersMs, dueMs);
}

/**
 * This ApplicationMaster stood still and heard nothing. Whatever was awaited by then is awaited until everything that still exists has been
 * heard again, and the rest is known to be gone.
 */
export function notePause({ state, spec, nowMs }: Step): void {
  // A grace that was granted before, as at a takeover, may be longer.
  const leftMs = returnEndsAtMs(state) - nowMs;
  state.pause = { endedAtMs: nowMs, graceMs: Math.max(silenceNoticedMs(spec.timeouts), leftMs) };
}

/**
 * The earlier attempt is gone, and executors look for this one: they get their time for that, and YARN gets its time to say what became of
 * the others.
 */
export function noteTakeover(step: Step): void {
  step.state.pause = { endedAtMs: step.nowMs, graceMs: Bounds.rejoinMs + step.spec.timeouts.verdictMs };
}

/** Moves back deadlines that are still to come and were set by a clock at least this far ahead of ours. */
export function setBack({ containers, gangs, groupDeadlines, finishDeadline }: CoreState, aheadMs: number): void {
  const ofContainers = Object.values(containers).flatMap(({ deadlines }) => Object.values(deadlines));
  const ofGangs = gangs.flatMap(({ stopDeadline, restDeadline, hold, verdicts }) => [
    stopDeadline,
    restDeadline,
    hold.deadline,
    ...verdicts.map(({ deadline }) => deadline),
  ]);
  for (const deadline of [...ofContainers, ...ofGangs, ...Object.values(groupDeadlines), finishDeadline]) {
    if (deadline !== undefined) {
      deadline.sinceMs -= aheadMs;
      deadline.dueMs -= aheadMs;
    }
  }
  for (const gang of gangs) {
    // 0 stands for no time.
    gang.startNotBeforeMs -= gang.startNotBeforeMs === 0 ? 0 : aheadMs;
    gang.graceEndsAtMs -= gang.graceEndsAtMs === 0 ? 0 : aheadMs;
    gang.hold.askAgainAtMs -= gang.hold.askAgainAtMs === 0 ? 0 : aheadMs;
    gang.hold.pausedAtMs -= gang.hold.pausedAtMs === 0 ? 0 : aheadMs;
  }
}

/** Whether executors may still look for this attempt, which took over from another. */
export function isTakingOver({ state, nowMs }: Step): boolean {
  return state.attempt > 1 && nowMs < returnEndsAtMs(state);
}

/** Until when executors may still look for this attempt, because it took over or had been paused itself; 0: neither. */
export function returnEndsAtMs({ pause }: Pick<CoreState, "pause">): number {
  return pause.endedAtMs + pause.graceMs;
}

/** When a deadline really ends: a deadline set before a pause of this process blames nobody for what it did not hear. */
export function dueMsOf(state: Pick<CoreState, "pause">, { sinceMs, dueMs }: Deadline): number {
  return sinceMs < state.pause.endedAtMs ? Math.max(dueMs, returnEndsAtMs(state)) : dueMs;
}

/** How long executors that look for this attempt may still come: until then they can neither receive orders nor report what they know. */
export function rejoinLeftMs({ state, nowMs }: Step): number {
  const looking = Object.values(state.containers).filter(({ link }) => link === "rejoining");
  return Math.max(0, ...looking.map(({ deadlines: { rejoin } }) => (rejoin === undefined ? 0 : rejoin.dueMs - nowMs)));
}
