import { countWords } from "../../../src/job/reasons/words.ts";
import { addContainer, discard, moveLink, relaunch } from "../containers/containers.ts";
import { keepOffAgain, leavingNodes } from "../containers/kept-off.ts";
import { resumeStart } from "../gang/generation.ts";
import { removeCheckpointsAgain } from "../gang/trial-checkpoints.ts";
import { allTrials } from "../journal/ended-trials.ts";
import { isSnapshot, JOURNAL_VERSION, type Snapshot } from "../journal/journal.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitOf, isTakingOver, noteContainerDeadline, noteTakeover, setBack } from "../state/deadlines.ts";
import type { AllocatedContainer, Event } from "../state/events.ts";
import type { GangState } from "../state/gang.ts";
import { emit, log, noteDurable, presentGang, record, type Step, tenantOf } from "../state/step.ts";
import { BEFORE_START, moveTask } from "../state/task-moves.ts";
import { beginJob } from "./begin.ts";
import { resumeFinish } from "./finish.ts";

/**
 * A later attempt begins. Its containers run on and their programs do not notice: the journal says what the job was; YARN's list and the
 * executors themselves say what of it still exists. Without a journal the job starts again.
 */
export function recovered(step: Step, event: Extract<Event, { type: "recovered" }>): void {
  if (step.state.phase !== "starting") {
    return;
  }
  const { journal, keptContainers } = event;
  if (!isSnapshot(journal, step.state.applicationId)) {
    startAgain(step, journal, keptContainers);
    noteAttempt(step);
    return;
  }
  restore(step, journal);
  noteAttempt(step);
  noteTakeover(step);
  resumeFinish(step);
  keep(step, unknownOf(step, keptContainers));
  for (const gang of step.state.gangs) {
    resumeStart(step, gang);
  }
  awaitRegistrations(step);
  findExecutors(step);
  keepOffAgain(step);
  removeCheckpointsAgain(step);
  step.changed = true;
  const { attempt } = step.state;
  const generation = presentGang(step)?.generation ?? 0;
  const words = `Attempt ${attempt} goes on with generation ${generation}: ${countWords(keptContainers.length, "container")} kept.`;
  log(step, "warn", "recovered", words, { attempt, generation });
  record(step, { type: "recovered", containers: keptContainers.length });
}

/**
 * YARN names containers that it could not name when this attempt registered. Those known from the journal need nothing: their executors
 * are awaited.
 */
export function recoveredLate(step: Step, containers: readonly AllocatedContainer[]): void {
  const unknown = unknownOf(step, containers);
  if (step.state.phase === "under-way" && isTakingOver(step)) {
    keep(step, unknown);
  } else {
    giveBack(step, unknown, "it belongs to an earlier attempt, and nobody waits for it any more");
  }
}

/** Containers known neither from the journal nor from YARN. */
function unknownOf({ state }: Step, containers: readonly AllocatedContainer[]): readonly AllocatedContainer[] {
  return containers.filter(({ containerId }) => {
    return state.containers[containerId] === undefined && state.ended[containerId] === undefined;
  });
}

function noteAttempt({ state, nowMs }: Step): void {
  state.takeovers.push({ attempt: state.attempt, atMs: nowMs });
}

function startAgain(step: Step, journal: unknown, kept: readonly AllocatedContainer[]): void {
  giveBack(step, kept, "it belongs to an attempt that left no journal");
  const why = journal === undefined ? "left no journal" : `left a journal that version ${JOURNAL_VERSION} cannot read`;
  const restartReason = `the earlier attempt of the ApplicationMaster ${why}`;
  log(step, "warn", "recovery-impossible", `The job starts again: ${restartReason}.`);
  beginJob(step);
  const isTrialAhead = ({ phase }: GangState) => step.spec.trials !== undefined && phase === "ahead";
  for (const gang of step.state.gangs.filter((one) => !isTrialAhead(one))) {
    gang.restartReason = restartReason;
  }
}

function giveBack(step: Step, containers: readonly AllocatedContainer[], reason: string): void {
  for (const container of containers) {
    discard(step, addContainer(step, container, container.priority - 1), reason);
  }
}

/** Restores the journal's state, without what belongs to this attempt or will be heard again. */
function restore(step: Step, snapshot: Snapshot): void {
  const { state } = step;
  const { journalVersion: _version, parts: _parts, over: _over, sequence, writtenAtMs, ...durable } = snapshot;
  const own = { attempt: state.attempt, amHost: state.amHost, amContainerId: state.amContainerId };
  Object.assign(state, durable, own, allTrials(step, snapshot));
  state.journal.sequence = sequence;
  state.journal.durableSequence = sequence;
  noteDurable(step);
  // A time of writing that lies in the future shows that the writer's clock is ahead of ours.
  setBack(state, Math.max(0, writtenAtMs + 1 - step.nowMs));
  for (const container of Object.values(state.containers)) {
    const { deadlines } = container;
    container.inherited = true;
    for (const { dueMs } of Object.values(deadlines)) {
      noteContainerDeadline(state, dueMs);
    }
    // Measured by another machine's clock, a program would seem to have run longer or shorter by the difference of the clocks. Its
    // executor enforces the limit.
    if (deadlines.execution !== undefined) {
      awaitOf(step, container, "execution", deadlines.execution.dueMs - deadlines.execution.sinceMs);
    }
  }
}

/** YARN kept containers that the journal does not know yet: their executors may come and name their tasks. */
function keep(step: Step, containers: readonly AllocatedContainer[]): void {
  const isOfRole = ({ priority }: AllocatedContainer) => step.state.roles[priority - 1] !== undefined;
  const masters = containers.filter((container) => !isOfRole(container));
  giveBack(step, masters, "it is an earlier attempt's ApplicationMaster");
  for (const given of containers.filter(isOfRole)) {
    const role = given.priority - 1;
    const container = addContainer(step, given, role);
    container.inherited = true;
    step.state.unclaimed[role] = (step.state.unclaimed[role] ?? 0) + 1;
    awaitOf(step, container, "rejoin", Bounds.rejoinMs);
  }
}

/** Executors that were ready for the earlier attempt report that again to this one. */
function awaitRegistrations(step: Step): void {
  for (const task of step.state.tasks.filter(({ phase }) => phase === "registered")) {
    moveTask(step, task, "attempt-changed");
  }
}

/** Dials every executor that the journal knows; all have the same time to come back. */
function findExecutors(step: Step): void {
  const executors: { task: string; containerId: string; address: string }[] = [];
  const leaving = new Set(leavingNodes(step).map(({ host }) => host));
  for (const container of Object.values(step.state.containers)) {
    if (container.phase === "discarded") {
      emit(step, { type: "stop-container", containerId: container.id, reason: container.discardReason });
    } else if (container.phase === "held") {
      moveLink(step, container, "attempt-changed");
      awaitOf(step, container, "rejoin", Bounds.rejoinMs);
      const tenant = tenantOf(step, container);
      const mayStart = container.handedOver && !leaving.has(container.host);
      if (mayStart && tenant !== undefined && BEFORE_START.includes(tenant.phase)) {
        relaunch(step, container, tenant);
      }
      if (container.rejoinAddress !== "") {
        executors.push({ task: container.task, containerId: container.id, address: container.rejoinAddress });
      }
    }
  }
  if (executors.length > 0) {
    emit(step, { type: "rejoin", executors });
  }
}
