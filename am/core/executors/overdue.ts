import { endedBecause } from "../../../src/job/outcome.ts";
import type { EndingFacts } from "../../../src/job/reasons/endings.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { stopWithinMs } from "../../../src/job/silence.ts";
import { discard, giveBackUnclaimed, isHeard } from "../containers/containers.ts";
import { linkEnding, timeLimitEnding, unheardEnding } from "../failures/endings.ts";
import { containerGone } from "../failures/losses.ts";
import { completionStatusOverdue } from "../failures/verdict.ts";
import { DONE } from "../gang/stages.ts";
import { finish } from "../job/finish.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { ContainerDeadline, ContainerRecord, TaskPhase, TaskRecord } from "../state/records.ts";
import { type Step, tenantOf } from "../state/step.ts";
import { AFTER_END } from "../state/task-moves.ts";
import { departureOverdue } from "./departures.ts";
import { hangStopOverdue, progressOverdue } from "./progress.ts";
import { reconnectOverdue, silenceOverdue } from "./silence.ts";

type OfTask = (step: Step, container: ContainerRecord, task: TaskRecord) => void;

/**
 * What follows when an executor owes something for too long. Each entry applies to a task in the phases in which it waits for that.
 */
const OF_TASK: Partial<Record<ContainerDeadline, { readonly phases: readonly TaskPhase[]; readonly overdue: OfTask }>> =
  {
    launch: { phases: ["allocated", "launched"], overdue: launchOverdue },
    registration: { phases: ["launched"], overdue: registrationOverdue },
    prepare: { phases: ["preparing"], overdue: giveUp({ code: "executor-not-ready" }, "it did not get ready") },
    start: { phases: ["starting"], overdue: giveUp({ code: "program-start-unheard" }, "it did not start") },
    execution: { phases: ["running"], overdue: executionOverdue },
    departure: { phases: ["running"], overdue: departureOverdue },
    progress: { phases: ["running"], overdue: progressOverdue },
    "trial-stop": {
      phases: ["stopping"],
      overdue: giveUp({ code: "not-stopped" }, "its program did not stop in time"),
    },
    "hang-stop": { phases: ["running"], overdue: hangStopOverdue },
    idle: { phases: AFTER_END, overdue: (step, container) => discard(step, container, "no trial took it in time") },
  };

/** Something was awaited of a container in vain. */
export function containerOverdue(step: Step, what: ContainerDeadline, container: ContainerRecord): void {
  const task = tenantOf(step, container);
  const ofTask = OF_TASK[what];
  if (ofTask !== undefined) {
    if (task !== undefined && ofTask.phases.includes(task.phase)) {
      ofTask.overdue(step, container, task);
    }
  } else if (what === "release" && container.phase === "terminating") {
    discard(step, container, container.discardReason);
  } else if (what === "leave") {
    discard(step, container, DONE);
  } else if (what === "completion-status" && container.link === "up") {
    completionStatusOverdue(step, container);
  } else if (what === "rejoin" && container.phase === "unclaimed") {
    giveBackUnclaimed(step, container, "no executor claimed it");
  } else if (what === "rejoin" && container.link === "rejoining" && task !== undefined) {
    rejoinOverdue(step, container, task);
  } else if (what === "heartbeat" && container.link === "up" && task !== undefined) {
    silenceOverdue(step, container, task);
  } else if (what === "reconnect" && container.link === "broken" && task !== undefined) {
    reconnectOverdue(step, container, task);
  }
}

function giveUp(facts: EndingFacts, discardReason: string): OfTask {
  return (step, container, task) =>
    containerGone(step, container, unheardEnding(step, task, container, facts), discardReason);
}

function launchOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  const facts = { code: "executor-not-started", limitMs: step.spec.timeouts.launchMs } as const;
  giveUp(facts, "its executor did not start in time")(step, container, task);
}

/** TonY's meaning of its key: an executor that does not register in time fails the job. */
function registrationOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  const limitMs = step.spec.timeouts.registrationMs ?? 0;
  const setting = settingOf(step.spec, "tony.container.registration.timeout");
  const at = { task: task.id, host: container.host };
  finish(step, endedBecause("failed", { code: "registration-too-long", ...at, limitMs, setting }));
}

/**
 * The executor itself ends a program that runs too long. An executor that is not heard may have suspended its program; other bounds
 * declare it lost.
 */
function executionOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  if (!isHeard(container)) {
    awaitOf(step, container, "execution", stopWithinMs(step.spec.timeouts));
    return;
  }
  containerGone(step, container, timeLimitEnding(step, task, container), "its program ran longer than it may");
}

function rejoinOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  const ending = { ...linkEnding(step, task, container, { code: "executor-not-back" }), machine: false };
  containerGone(step, container, ending, "its executor did not come back");
}
