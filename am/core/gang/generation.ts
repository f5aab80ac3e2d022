import type { ClusterSpec } from "../../../src/job/cluster-spec.ts";
import { countWords } from "../../../src/job/reasons/words.ts";
import { checkpointOf, dropCheckpoint, startingPoint } from "../containers/checkpoints.ts";
import { carryingMs } from "../containers/transfers.ts";
import { nextSequence, waiting, whenDurable, withdraw } from "../journal/barrier.ts";
import { isElastic, startsWithGang } from "../policies/restart.ts";
import { leadOf, leadOfGang } from "../policies/trials.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitNoMore, awaitOf } from "../state/deadlines.ts";
import type { GangState } from "../state/gang.ts";
import { isRestarting, moveGang } from "../state/gang-moves.ts";
import type { TaskRecord } from "../state/records.ts";
import type { Held } from "../state/state.ts";
import {
  about,
  containerOf,
  emit,
  findTask,
  gangOf,
  log,
  noteDurable,
  record,
  type Step,
  tasksOf,
} from "../state/step.ts";
import { BEFORE_START, moveTask } from "../state/task-moves.ts";
import { hasEnough, isGathered } from "./completeness.ts";

/** Opens the next generation of a gang; its number is journaled before any program of it starts. */
export function openGeneration(step: Step, gang: GangState): void {
  gang.generation = nextGeneration(step);
  step.roomChanged = true;
  gang.generations.push({
    generation: gang.generation,
    startedAtMs: step.nowMs,
    specAtMs: undefined,
    runningAtMs: undefined,
    endedAtMs: undefined,
    endedBy: undefined,
    resumedFrom: gang.checkpoint,
  });
  const { generation, checkpoint } = gang;
  const { resumeFrom } = step.spec;
  const earlier = checkpoint === undefined && resumeFrom !== undefined ? ` from ${resumeFrom}` : "";
  log(step, "info", "generation-opened", `Generation ${generation} begins${earlier}.`, { generation });
  const from = checkpoint === undefined ? {} : { checkpoint: checkpoint.path, step: checkpoint.step };
  record(step, { type: "generation-opened", ...from }, { generation });
}

/** The number of a new life: of the gang, or of one task. */
export function nextGeneration(step: Step): number {
  const { state } = step;
  state.lastGeneration++;
  noteDurable(step);
  state.journal.generationSequence = nextSequence(state);
  return state.lastGeneration;
}

/**
 * Gives a task whose program has ended, or never started, a life in the given generation: a healthy executor prepares for it, otherwise a
 * new container is wanted.
 */
export function renewTask(step: Step, task: TaskRecord, generation: number): void {
  const container = containerOf(step, task);
  if (task.generation !== generation) {
    keepLife(step, task);
  }
  task.generation = generation;
  task.port = 0;
  task.startedAtMs = 0;
  task.endedAtMs = 0;
  task.exit = "";
  task.step = 0;
  task.checkpointStep = 0;
  delete task.metrics;
  delete task.trialValue;
  delete task.lastContainer;
  delete task.late;
  if (container === undefined) {
    task.host = "";
    task.waitingSinceMs = step.nowMs;
    moveTask(step, task, "renewed-without-container");
    return;
  }
  if (task.phase === "allocated" || task.phase === "launched") {
    return;
  }
  awaitNoMore(container, "idle");
  moveTask(step, task, "renewed-in-its-container");
  prepare(step, task);
}

/** The end of this life is still being judged. */
function keepLife(step: Step, task: TaskRecord): void {
  const verdict = gangOf(step, task).verdicts.find(
    ({ generation, scope }) => generation === task.generation && (scope === "" || scope === task.id),
  );
  if (verdict !== undefined) {
    verdict.lives[task.id] = { ...task };
  }
}

/**
 * Orders an executor to prepare for its task's present generation, once the journal holds that generation: the end of the one before is then
 * on record, and a later attempt meets no executor that is ahead of it.
 */
export function prepare(step: Step, { id, generation }: TaskRecord): void {
  whenDurable(step, { what: "prepare", task: id, generation }, step.state.journal.generationSequence);
}

/** The journal holds the generation. */
export function sendPrepare(step: Step, held: Extract<Held, { task: string; generation: number }>): void {
  const task = findTask(step, held.task);
  const container = task && containerOf(step, task);
  if (task?.phase !== "preparing" || container === undefined || task.generation !== held.generation) {
    return;
  }
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: container.id },
    message: { type: "prepare", generation: task.generation, reason: gangOf(step, task).restartReason },
  });
  awaitOf(step, container, "prepare", step.spec.timeouts.stopGraceMs + Bounds.prepareMs + carryingMs(step));
}

/**
 * Before any task is told, a complete gang is journaled as starting: a later attempt then knows that programs may run, and restarts none of
 * them. If a task goes missing meanwhile, this is withdrawn.
 */
export function startWhenReady(step: Step, gang: GangState): void {
  if (gang.phase === "running") {
    return;
  }
  const { position, generation } = gang;
  if (!gangIsReady(step, gang)) {
    withdraw(step, { what: "start-gang", gang: position });
  } else if (!isStartIntended(step, gang)) {
    whenDurable(step, { what: "start-gang", gang: position, generation });
  }
}

/** Whether the cluster spec of its present generation is sent as soon as the journal holds the intent. */
function isStartIntended(step: Step, { position, generation }: GangState): boolean {
  const held = waiting(step, { what: "start-gang", gang: position });
  return held?.what === "start-gang" && held.generation === generation;
}

/** In a later attempt: the journal says that the cluster spec may have been sent, so the gang's tasks are presumed to be starting. */
export function resumeStart(step: Step, gang: GangState): void {
  if (gang.phase !== "gathering" || !isStartIntended(step, gang) || !hasEnough(step, gang)) {
    return;
  }
  for (const task of tasksOf(step, gang)) {
    if (task.phase === "registered" && startsWithGang(step, task)) {
      moveTask(step, task, "start-presumed");
    }
  }
  noteStart(step, gang, "start-presumed");
}

function noteStart(step: Step, gang: GangState, on: "spec-sent" | "start-presumed"): void {
  const present = gang.generations.at(-1);
  if (present !== undefined) {
    present.specAtMs = step.nowMs;
  }
  moveGang(step, gang, on);
}

/** Sends the cluster spec to a task again: a broken stream lost it. */
export function resendStart(step: Step, task: TaskRecord): void {
  // The task gets the whole time for that again.
  noteDurable(step);
  sendStart(step, task, addresses(step, task));
}

function gangIsReady(step: Step, gang: GangState): boolean {
  return step.nowMs >= gang.startNotBeforeMs && gang.phase === "gathering" && isGathered(step, gang);
}

/** The journal knows that the gang is complete. */
export function startGang(step: Step, held: Extract<Held, { gang: number }>): void {
  const gang = step.state.gangs[held.gang];
  if (gang === undefined || !gangIsReady(step, gang)) {
    return;
  }
  const { generation } = gang;
  const starting = tasksOf(step, gang).filter((task) => task.phase === "registered" && startsWithGang(step, task));
  const spec = addressesOf(step, gang, generation);
  const present = gang.generations.at(-1);
  if (present !== undefined) {
    present.resumedFrom = startingPoint(step, gang, starting);
  }
  for (const task of starting) {
    sendStart(step, task, spec);
  }
  noteStart(step, gang, "spec-sent");
  const words = `The cluster spec of generation ${generation} goes out to ${countWords(spec.tasks.length, "task")}.`;
  log(step, "info", "cluster-spec-sent", words, { generation });
  record(step, { type: "cluster-spec-sent" }, { generation });
}

/** A task that waits for no other starts once the journal knows its container: a later attempt then asks there whether its program runs. */
export function intendStart(step: Step, task: TaskRecord): void {
  const { id, generation } = task;
  whenDurable(step, { what: "start-task", task: id, generation });
}

/** The journal knows its container. */
export function startTask(step: Step, held: Extract<Held, { task: string; generation: number }>): void {
  const task = findTask(step, held.task);
  const isWanted = step.state.outcome === undefined && task?.generation === held.generation;
  if (!isWanted || task?.phase !== "registered" || startsWithGang(step, task)) {
    return;
  }
  const gang = gangOf(step, task);
  if (isRestarting(gang)) {
    whenDurable(step, held, held.sequence);
    return;
  }
  if (isElastic(step, task)) {
    join(step, task);
  } else {
    startingPoint(step, gang, [task]);
  }
  sendStart(step, task, addresses(step, task));
  noteTaskStart(step, gang);
}

/** The task goes on from the others' checkpoint, whatever lies in its container. */
function join(step: Step, task: TaskRecord): void {
  const container = containerOf(step, task);
  task.late = true;
  log(step, "info", "task-joins", `${task.id} joins the others, which run already.`, about(task));
  if (container !== undefined) {
    dropCheckpoint(step, container, "the others of its gang cannot read it");
  }
}

function noteTaskStart(step: Step, gang: GangState): void {
  if (step.spec.distributedMode === "fcfs" && gang.phase === "gathering") {
    moveGang(step, gang, "first-task-starts");
  }
}

/**
 * The program of a task that starts alone already runs: an earlier attempt started it and died before its journal said so. False for a
 * member of the gang, which no attempt starts before that.
 */
export function adoptStart(step: Step, task: TaskRecord): boolean {
  if (startsWithGang(step, task)) {
    return false;
  }
  moveTask(step, task, "start-adopted");
  if (isElastic(step, task)) {
    task.late = true;
  }
  noteTaskStart(step, gangOf(step, task));
  return true;
}

/**
 * Nothing was heard from the container in which an earlier attempt may have started a task that starts alone: its replacement gets a
 * generation of its own.
 */
export function renewAfterLostStart(step: Step, task: TaskRecord): void {
  if (BEFORE_START.includes(task.phase) && !startsWithGang(step, task)) {
    task.generation = nextGeneration(step);
  }
}

function sendStart(step: Step, task: TaskRecord, clusterSpec: ClusterSpec): void {
  const container = containerOf(step, task);
  if (container === undefined) {
    return;
  }
  const gang = gangOf(step, task);
  const isAlone = task.generation !== gang.generation;
  const { trialParameters } = leadOf(step, task);
  moveTask(step, task, "spec-sent");
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: container.id },
    message: {
      type: "start-child",
      generation: task.generation,
      clusterSpec,
      restartReason: (isAlone && task.restartReason) || gang.restartReason,
      restarts: gang.generations.length - 1 + (leadOfGang(step, gang) === undefined ? task.restarts : 0),
      checkpoint: checkpointOf(step, task),
      ...(trialParameters === undefined ? {} : { trialParams: JSON.stringify(trialParameters) }),
    },
  });
  awaitOf(step, container, "start", Bounds.startMs + carryingMs(step));
}

function addresses(step: Step, task: TaskRecord): ClusterSpec {
  const gang = gangOf(step, task);
  const spec = addressesOf(step, gang, task.generation);
  return isElastic(step, task) ? { ...spec, gangGeneration: gang.generation } : spec;
}

/**
 * The addresses of every task of the gang, and of running tasks of other gangs, but not of other trials. Tasks that live on their own keep
 * the address of their own life.
 */
function addressesOf(step: Step, gang: GangState, generation: number): ClusterSpec {
  const isOther = (task: TaskRecord) => step.spec.trials === undefined && task.phase === "running";
  const isListed = (task: TaskRecord) => task.port > 0 && (gangOf(step, task) === gang || isOther(task));
  const listed = step.spec.distributedMode === "gang" ? step.state.tasks.filter(isListed) : [];
  return {
    generation,
    tasks: listed.map(({ id, host, port, ports }) => ({ task: id, host, port, ...(ports && { ports }) })),
  };
}
