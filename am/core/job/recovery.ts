import { countWords } from "../../../src/job/reasons/words.ts";
import { addContainer, discard, setLink } from "../containers/containers.ts";
import { keepOpen } from "../failures/verdict.ts";
import { resumeStart } from "../gang/generation.ts";
import { isSnapshot, JOURNAL_VERSION, type Snapshot } from "../journal/journal.ts";
import type { AllocatedContainer, Event } from "../state/events.ts";
import type { ContainerRecord, CoreState } from "../state/state.ts";
import { emit, log, record, type Step } from "../state/step.ts";
import { Bounds, setOrder, setTimer } from "../state/timers.ts";
import { moveTask } from "../state/transitions.ts";
import { beginJob, setJobTimers } from "./begin.ts";

/**
 * A later attempt begins. Its containers run on and their programs never notice: the journal says what the job was, YARN's list and the
 * executors themselves say what of it is still there. Without a journal the job starts again.
 */
export function recovered(step: Step, event: Extract<Event, { type: "recovered" }>): void {
  if (step.state.phase !== "starting") {
    return;
  }
  const { journal, keptContainers } = event;
  if (!isSnapshot(journal, step.state.applicationId)) {
    startAgain(step, journal, keptContainers);
    return;
  }
  restore(step, journal);
  const unknown = keptContainers.filter(({ containerId }) => step.state.containers[containerId] === undefined);
  keep(step, unknown);
  resumeStart(step);
  awaitRegistrations(step);
  findExecutors(step);
  resumeTimers(step);
  step.changed = true;
  const words = `Attempt ${step.state.attempt} goes on with generation ${step.state.generation}: ${countWords(keptContainers.length, "container")} kept.`;
  log(step, "warn", "recovered", words, { attempt: step.state.attempt, generation: step.state.generation });
  record(step, { type: "recovered", containers: keptContainers.length });
}

function startAgain(step: Step, journal: unknown, kept: readonly AllocatedContainer[]): void {
  for (const container of kept) {
    discard(
      step,
      addContainer(step, container, container.priority - 1),
      "it belongs to an attempt that left no journal",
    );
  }
  const why = journal === undefined ? "left no journal" : `left a journal that version ${JOURNAL_VERSION} cannot read`;
  step.state.restartReason = `the earlier attempt of the ApplicationMaster ${why}`;
  log(step, "warn", "recovery-impossible", `The job starts again: ${step.state.restartReason}.`);
  beginJob(step);
}

/** The journal's state, but for what belongs to this attempt and what will be heard again. */
function restore(step: Step, snapshot: Snapshot): void {
  const { state } = step;
  const { journalVersion: _version, sequence, ...durable } = snapshot;
  const own = { attempt: state.attempt, amHost: state.amHost, amContainerId: state.amContainerId };
  Object.assign(state, durable, own);
  for (const role of state.roles) {
    role.outstanding = 0;
    role.hinted = false;
    role.hintsExhausted = false;
  }
  if (state.outcome !== undefined) {
    state.finish = "journaling";
  }
  Object.assign(state.journal, {
    sequence,
    durableSequence: sequence,
    dirty: true,
    durableGeneration: state.lastGeneration,
    durableOutcome: state.outcome !== undefined,
  } satisfies Partial<CoreState["journal"]>);
}

/** YARN kept containers that the journal does not know yet: their executors may come and name their tasks. */
function keep(step: Step, containers: readonly AllocatedContainer[]): void {
  for (const given of containers) {
    const role = given.priority - 1;
    const container = addContainer(step, given, role);
    step.state.unclaimed[role] = (step.state.unclaimed[role] ?? 0) + 1;
    setOrder(step, "rejoin", container.id, Bounds.rejoinMs);
  }
}

/** What was ready for the attempt before says so again to this one. */
function awaitRegistrations(step: Step): void {
  for (const task of step.state.tasks) {
    moveTask(step, task, ["registered"], "launched");
  }
}

/** Every executor the journal knows is dialled; each has the same time to come back. */
function findExecutors(step: Step): void {
  const executors: { task: string; containerId: string; address: string }[] = [];
  for (const container of Object.values(step.state.containers)) {
    if (container.phase === "discarded") {
      emit(step, { type: "stop-container", containerId: container.id, reason: container.discardReason });
    } else if (container.phase === "leaving") {
      // Why it ended YARN may still say, and not once it is released.
      setOrder(step, "leave", container.id, step.spec.timeouts.verdictMs);
    } else if (container.phase === "held") {
      awaitRejoin(step, container);
      if (container.rejoinAddress !== "") {
        executors.push({ task: container.task, containerId: container.id, address: container.rejoinAddress });
      }
    }
  }
  if (executors.length > 0) {
    emit(step, { type: "rejoin", executors });
  }
}

function awaitRejoin(step: Step, container: ContainerRecord): void {
  setLink(step, container, "rejoining");
  setOrder(step, "rejoin", container.id, Bounds.rejoinMs);
}

/** Whatever was being waited for is waited for again, its whole time: the attempt before may have used it up doing nothing. */
function resumeTimers(step: Step): void {
  const { state, spec } = step;
  setJobTimers(step);
  for (const verdict of state.verdicts) {
    // What became of an executor is known when it has come back, or its time to do so is up.
    keepOpen(step, verdict, Bounds.rejoinMs + spec.timeouts.verdictMs);
  }
  if (state.phase === "restarting") {
    setTimer(step, "tear-down", Bounds.rejoinMs + spec.timeouts.stopGraceMs);
  }
  if (state.startNotBeforeMs > step.nowMs) {
    setTimer(step, "back-off", state.startNotBeforeMs - step.nowMs);
  }
  if (state.graceEndsAtMs > 0) {
    setTimer(step, "after-chief", Math.max(0, state.graceEndsAtMs - step.nowMs));
  }
  if (state.gang.askAgainAtMs > 0) {
    setTimer(step, "ask-again", Math.max(0, state.gang.askAgainAtMs - step.nowMs));
  }
  if (state.phase === "finishing") {
    setTimer(step, "finish", Bounds.outcomeJournalMs);
  }
}
