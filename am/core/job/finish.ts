import { endedBecause, type Undated } from "../../../src/job/outcome.ts";
import { dropAllCheckpoints } from "../containers/checkpoints.ts";
import { discard } from "../containers/containers.ts";
import { carryingMs, mayCarry, notStored, someoneCarries } from "../containers/transfers.ts";
import { dropCheckpoints } from "../gang/trial-checkpoints.ts";
import { whenDurable } from "../journal/barrier.ts";
import { Bounds } from "../state/bounds.ts";
import { deadlineIn } from "../state/deadlines.ts";
import { moveGang } from "../state/gang-moves.ts";
import { ENDING, moveJob, type StageMove } from "../state/job-moves.ts";
import { nextPhase } from "../state/machine.ts";
import { emit, log, noteDurable, record, type Step, tenantOf } from "../state/step.ts";
import { ALIVE, moveTask } from "../state/task-moves.ts";

/**
 * Decides how the job ends. The first decision stands, except that a job whose results are not stored has not succeeded. Everything else follows
 * from it in `continueFinish`.
 */
export function finish(step: Step, outcome: Undated): void {
  const { state } = step;
  if (state.outcome !== undefined || state.phase === "over") {
    return;
  }
  state.outcome = { ...outcome, endedAtMs: step.nowMs };
  moveJob(step, "outcome-decided");
  step.changed = true;
  for (const gang of state.gangs) {
    moveGang(step, gang, "job-ends");
    const running = gang.generations.at(-1);
    if (running !== undefined) {
      running.endedAtMs ??= step.nowMs;
    }
  }
  const level = outcome.result === "failed" ? "error" : "info";
  log(
    step,
    level,
    "outcome-decided",
    `The job ${outcome.result === "killed" ? "was" : "has"} ${outcome.result}: ${outcome.summary}`,
  );
  enter(step, "outcome-decided", Bounds.outcomeJournalMs);
  whenDurable(step, { what: "end" });
}

/** The order of an ending: the outcome is journaled, tasks are stopped, the history is closed and the ResourceManager told, the AM exits. */
export function carryOutEnd(step: Step): void {
  if (step.state.finish === "journaling") {
    stopEverything(step);
    enter(step, "outcome-written", step.spec.timeouts.stopGraceMs + Bounds.stopMarginMs + carryingMs(step));
  }
}

/** Goes on when nothing runs any more and nothing is being uploaded. */
export function continueFinish(step: Step): void {
  if (step.state.finish === "stopping" && aliveCount(step) === 0 && !someoneCarries(step)) {
    unregister(step);
  }
}

/** The ending goes on without what is still missing. */
export function finishStageOverdue(step: Step): void {
  step.state.finishDeadline = undefined;
  if (step.state.finish === "stopping") {
    unregister(step);
  } else {
    carryOutEnd(step);
  }
}

/** An earlier attempt may have begun to carry out the decided end: it is carried out again from the start. */
export function resumeFinish(step: Step): void {
  if (step.state.outcome !== undefined) {
    enter(step, "attempt-changed", Bounds.outcomeJournalMs);
    whenDurable(step, { what: "end" }, step.state.journal.durableSequence);
  }
}

/**
 * Where the end may not have been recorded, another attempt may be starting from the staging folder: the folder stays for the client to remove.
 */
export function unregistered(step: Step, isPutDown: boolean): void {
  if (step.state.finish === "unregistering") {
    moveJob(step, "unregistered");
    emit(step, { type: "exit", exitCode: 0, cleanStaging: isPutDown });
  }
}

/** The ResourceManager says that this attempt is over: another one may be at work, so nothing is touched. */
export function shutDown(step: Step, reason: string): void {
  moveJob(step, "attempt-over");
  log(step, "warn", "attempt-over", `This attempt is over and touches nothing more: ${reason}`);
  emit(step, { type: "exit", exitCode: 1, cleanStaging: false });
}

function stopEverything(step: Step): void {
  const { state, spec } = step;
  for (const container of Object.values(state.containers)) {
    const tenant = tenantOf(step, container);
    if (tenant === undefined || (container.link !== "up" && !mayCarry(step, container))) {
      discard(step, container, "the job ends");
    } else if (container.link === "up") {
      emit(step, {
        type: "send",
        to: { task: tenant.id, containerId: container.id },
        message: { type: "exit", graceMs: spec.timeouts.stopGraceMs, reason: { code: "job-ended" } },
      });
    }
    if (tenant !== undefined && container.phase === "discarded") {
      moveTask(step, tenant, "job-ends-without-it");
    }
  }
  for (const task of state.tasks) {
    moveTask(step, task, "job-ends");
  }
}

function unregister(step: Step): void {
  const { state } = step;
  if (state.outcome === undefined) {
    return;
  }
  for (const task of state.tasks.filter(({ phase }) => ALIVE.includes(phase))) {
    const container = state.containers[task.containerId];
    if (container !== undefined) {
      discard(step, container, "its program did not stop in time");
    }
    moveTask(step, task, "end-overdue");
  }
  dropAllCheckpoints(step);
  const missing = state.outcome.result === "succeeded" ? notStored(step) : undefined;
  if (missing !== undefined) {
    state.outcome = { ...endedBecause("failed", missing), endedAtMs: state.outcome.endedAtMs };
    noteDurable(step);
    log(step, "error", "outcome-decided", `The job has failed: ${state.outcome.summary}`);
  }
  const { result, summary, reason } = state.outcome;
  record(step, { type: "job-ended", result, summary, reason });
  enter(step, "all-stopped");
  dropCheckpoints(step);
  emit(step, { type: "unregister", outcome: state.outcome });
}

/** The ending enters its next stage, which may take up to `boundMs`. */
function enter(step: Step, on: StageMove, boundMs?: number): void {
  const { state } = step;
  state.finish = nextPhase(step, ENDING, { id: state.applicationId, phase: state.finish }, on) ?? state.finish;
  step.state.finishSinceMs = step.nowMs;
  step.state.finishDeadline = boundMs === undefined ? undefined : deadlineIn(step, boundMs);
  step.changed = true;
}

function aliveCount(step: Step): number {
  return step.state.roles.reduce((sum, { counts }) => sum + counts.starting + counts.running + counts.stopping, 0);
}
