import { stopWords } from "../../../src/job/reasons/stops.ts";
import { durationWords, keyWords } from "../../../src/job/reasons/words.ts";
import { stopWithinMs } from "../../../src/job/silence.ts";
import { mayMove } from "../../../src/moves.ts";
import { beginTermination, discard } from "../containers/containers.ts";
import {
  childEnding,
  exitWords,
  failedBeforeStop,
  hungEnding,
  isYield,
  orderedEnding,
  terminationEnding,
  timeLimitEnding,
  yieldEnding,
} from "../failures/endings.ts";
import { accountFor, lateEvidence, programSucceeded, taskFailed } from "../failures/verdict.ts";
import { dropRest } from "../gang/completeness.ts";
import { joinNext } from "../gang/restart.ts";
import { doneForGood } from "../gang/stages.ts";
import { isShareDone, restartsWithGang } from "../policies/restart.ts";
import { awaitNoMore, awaitOf } from "../state/deadlines.ts";
import type { ChildExit, Event } from "../state/events.ts";
import type { GenerationRecord } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import { isSpecOut } from "../state/gang-moves.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { about, containerOf, emit, findTask, gangOf, log, record, rolesOf, type Step, tasksOf } from "../state/step.ts";
import { moveTask, TASK, type TaskMove } from "../state/task-moves.ts";
import { departureEnding, tellOfDeparture } from "./departures.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

export function childStarted(step: Step, event: Of<"child-started">): void {
  const task = current(step, event);
  const container = task === undefined ? undefined : containerOf(step, task);
  if (task !== undefined && container !== undefined) {
    started(step, task, event.atMs);
    tellOfDeparture(step, container, task);
  }
}

export function started(step: Step, task: TaskRecord, atMs: number): void {
  const container = containerOf(step, task);
  if (container === undefined || !mayMove(TASK, task.phase, "program-runs")) {
    return;
  }
  moveTask(step, task, "program-runs");
  task.startedAtMs = atMs;
  // A program that starts owes nothing yet, whatever the previous one in this container did or was told.
  awaitNoMore(container, "start", "progress", "hang-stop");
  if (container.notice?.cause === "preemption") {
    delete container.notice;
  }
  log(step, "info", "task-started", `${task.id} runs its program.`, about(task));
  record(step, { type: "task-started", host: task.host }, task);
  boundExecution(step, container);
  noteRunning(step, gangOf(step, task));
}

/** The executor ends a program that runs too long, and reports it: this bound is for an executor that does not. */
function boundExecution(step: Step, container: ContainerRecord): void {
  const { executionMs } = step.spec.timeouts;
  if (executionMs !== undefined) {
    awaitOf(step, container, "execution", executionMs + stopWithinMs(step.spec.timeouts));
  }
}

/** A generation runs when its last program runs or, where each starts by itself, when the first does. */
function noteRunning(step: Step, gang: GangState): void {
  const present = gang.generations.at(-1);
  if (present === undefined || present.runningAtMs !== undefined) {
    return;
  }
  if (isSpecOut(gang)) {
    if (rolesOf(step, gang).every(([, { counts }]) => counts.starting === 0)) {
      const { generation } = gang;
      present.runningAtMs = lastStart(step, gang, present);
      log(step, "info", "generation-running", `All programs of generation ${generation} run.`, { generation });
    }
  } else if (step.spec.distributedMode === "fcfs") {
    present.runningAtMs = step.nowMs;
  }
}

/** A later attempt hears of starts that are long past; their times are by the clocks of their machines. */
function lastStart(step: Step, gang: GangState, { specAtMs = 0 }: GenerationRecord): number {
  const last = tasksOf(step, gang).reduce((latest, { startedAtMs }) => Math.max(latest, startedAtMs), specAtMs);
  return Math.min(step.nowMs, last);
}

/** The move of a task for each way in which a program ends. */
const END = {
  succeeded: "program-succeeded",
  failed: "program-failed",
  stopped: "program-stopped",
  lost: "program-ended-with-container",
} as const satisfies Record<string, TaskMove>;

/**
 * A program ended. Whatever its generation, its executor is told that the exit is known; otherwise it would report it for ever.
 */
export function childExited(step: Step, event: Of<"child-exited">): void {
  const container = step.state.containers[event.containerId];
  acknowledge(step, event);
  const task = current(step, event);
  if (task === undefined || container === undefined) {
    return;
  }
  const { exit } = event;
  const stop = exit.stopReason;
  const endedItself = stop === undefined;
  const succeeded = endedItself && exit.exitCode === 0 && exit.signal === "" && !exit.failedToStart;
  const stoppedForCause = stop?.code === "ran-too-long" || stop?.code === "hung";
  const isTerminated = stop?.code === "container-terminated";
  const toldToLeave = isTerminated && step.state.phase !== "finishing";
  const stopped = toldToLeave ? "lost" : "stopped";
  const came = endedItself && cameTooLate(step, task, exit) ? "stopped" : "failed";
  const to = succeeded ? "succeeded" : endedItself || stoppedForCause ? came : stopped;
  if (!mayMove(TASK, task.phase, END[to])) {
    return;
  }
  moveTask(step, task, END[to]);
  task.endedAtMs = exit.atMs;
  task.exit = exitWords(exit);
  record(step, { type: "task-ended", exit: task.exit, result: to }, task);
  const cutShort = to === "stopped" && exit.signal === "SIGKILL" && !isTerminated;
  const grace = `${keyWords(step, "tony.task.stop-grace")} (${durationWords(step.spec.timeouts.stopGraceMs)})`;
  const remark = cutShort ? `: it was still stopping; the time for that is ${grace}` : "";
  log(step, "info", "task-ended", `${task.id} ended: ${to}, exit ${task.exit}${remark}.`, about(task));
  const before = failedBeforeStop(step, task, container, exit);
  if (before !== undefined) {
    lateEvidence(step, before);
  }
  if (!isTerminated) {
    accountFor(step, container.id);
  }
  if (to === "failed") {
    programFailed(step, task, container, exit);
  } else if (to === "succeeded") {
    programSucceeded(step, task, container, exit);
    dropRest(step, task);
    doneForGood(step, task);
  }
  if (toldToLeave) {
    toldToEnd(step, task, container, exit);
  } else if (stop?.code === "node-leaves" && to === "stopped") {
    taskFailed(step, task, departureEnding(step, task, container, stop.step));
  } else if (stop !== undefined && to === "stopped" && isMissed(step, task)) {
    taskFailed(
      step,
      task,
      orderedEnding(step, task, container, { why: stopWords(stop), source: "core", exit: task.exit }),
    );
  }
  joinNext(step, task);
}

/** Nobody else restarts what was stopped: its gang runs, or restarts without it. */
function isMissed(step: Step, task: TaskRecord): boolean {
  const { phase } = gangOf(step, task);
  return phase === "running" || (phase !== "done" && !restartsWithGang(step, task));
}

/** A program that joined late and found that the others had just ended: their own ends decide what follows. */
function cameTooLate(step: Step, task: TaskRecord, { missedMeeting }: ChildExit): boolean {
  const isOver = missedMeeting === "closed" || (missedMeeting === "empty" && isShareDone(step, task));
  return task.late === true && isOver;
}

/** A program ended badly by itself, or was stopped because it ran too long or hung. */
function programFailed(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): void {
  const code = exit.stopReason?.code;
  if (code === "ran-too-long") {
    taskFailed(step, task, timeLimitEnding(step, task, container));
  } else if (code === "hung") {
    taskFailed(step, task, hungEnding(step, task, container, exit));
  } else if (isYield(step, container)) {
    if (container.notice?.cause === "preemption") {
      discard(step, container, "YARN wants it back");
    }
    taskFailed(step, task, yieldEnding(step, task, container, exit));
  } else {
    taskFailed(step, task, childEnding(step, task, container, exit));
  }
}

/** The node ends the container, and so its executor with the program: another container is wanted, and YARN will say why. */
function toldToEnd(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): void {
  const ending = terminationEnding(step, task, container, exit);
  beginTermination(step, container, "its node ended it", false);
  if (!lateEvidence(step, ending)) {
    taskFailed(step, task, ending);
  }
}

function current(
  step: Step,
  event: { readonly containerId: string; readonly task: string; readonly generation: number },
): TaskRecord | undefined {
  const task = findTask(step, event.task);
  return task?.containerId === event.containerId && task.generation === event.generation ? task : undefined;
}

export function acknowledge(
  step: Step,
  about: { readonly task: string; readonly containerId: string; readonly generation: number },
): void {
  emit(step, {
    type: "send",
    to: { task: about.task, containerId: about.containerId },
    message: { type: "acknowledge-exit", generation: about.generation },
  });
}
