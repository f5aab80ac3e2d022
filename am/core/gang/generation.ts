import { countWords } from "../../../src/job/reasons/words.ts";
import { checkpointOf, startingPoint } from "../containers/checkpoints.ts";
import { carryingMs } from "../containers/transfers.ts";
import { nextSequence, whenDurable, withdraw } from "../journal/barrier.ts";
import { startsWithGang } from "../policies/start.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { ClusterAddresses } from "../state/effects.ts";
import type { TaskRecord } from "../state/records.ts";
import type { Held } from "../state/state.ts";
import { containerOf, emit, findTask, log, record, roleOf, type Step } from "../state/step.ts";
import { BEFORE_START, moveTask } from "../state/transitions.ts";

/** Opens the next generation of the gang; its number is journaled before any program of it starts. */
export function openGeneration(step: Step): void {
  const { state } = step;
  state.generation = nextGeneration(step);
  state.started = false;
  state.generations.push({
    generation: state.generation,
    startedAtMs: step.nowMs,
    runningAtMs: undefined,
    endedAtMs: undefined,
    endedBy: undefined,
    resumedFrom: state.checkpoint,
  });
  log(step, "info", "generation-opened", `Generation ${state.generation} begins.`, { generation: state.generation });
  const { checkpoint } = state;
  const from = checkpoint === undefined ? {} : { checkpoint: checkpoint.path, step: checkpoint.step };
  record(step, { type: "generation-opened", ...from });
}

/** The number of another life: of the gang, or of one task. */
export function nextGeneration({ state }: Step): number {
  state.lastGeneration++;
  state.journal.dirty = true;
  state.journal.generationSequence = nextSequence(state);
  return state.lastGeneration;
}

/**
 * Gives a task whose program has ended, or never started, a life in the given generation: its executor makes ready where it is healthy,
 * else a new container is wanted.
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
  if (container === undefined) {
    task.host = "";
    moveTask(step, task, ["waiting", "succeeded", "failed", "stopped", "lost"], "waiting");
    return;
  }
  if (task.phase === "allocated" || task.phase === "launched") {
    return;
  }
  moveTask(step, task, ["preparing", "registered", "succeeded", "failed", "stopped"], "preparing");
  prepare(step, task);
}

/** What ended this life is still being judged. */
function keepLife({ state }: Step, task: TaskRecord): void {
  const verdict = state.verdicts.find(
    ({ generation, scope }) => generation === task.generation && (scope === "" || scope === task.id),
  );
  if (verdict !== undefined) {
    verdict.lives[task.id] = { ...task };
  }
}

/**
 * An executor is to make ready for its task's present generation, as soon as the journal knows it: what ended the one before is then
 * written down, and a later attempt meets no executor that is ahead of it.
 */
export function prepare(step: Step, { id, generation }: TaskRecord): void {
  whenDurable(step, { what: "prepare", task: id, generation }, step.state.journal.generationSequence);
}

/** The journal knows the generation. */
export function sendPrepare(step: Step, held: Extract<Held, { task: string }>): void {
  const task = findTask(step, held.task);
  const container = task && containerOf(step, task);
  if (task?.phase !== "preparing" || container === undefined || task.generation !== held.generation) {
    return;
  }
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: container.id },
    message: { type: "prepare", generation: task.generation, reason: step.state.restartReason },
  });
  awaitOf(step, container, "prepare", step.spec.timeouts.stopGraceMs + Bounds.prepareMs + carryingMs(step));
}

/**
 * A complete gang is journaled as one that starts before anybody is told: a later attempt then knows that programs may run, and restarts
 * none of them. Whoever goes missing meanwhile takes that back.
 */
export function startWhenReady(step: Step): void {
  const { state } = step;
  if (state.started) {
    return;
  }
  const intended = startIntended(step);
  if (!gangIsReady(step)) {
    withdraw(step, "start-gang");
  } else if (intended !== state.generation) {
    whenDurable(step, { what: "start-gang", generation: state.generation });
  }
}

/** The generation whose cluster spec goes out as soon as the journal says so; 0 while somebody is missing. */
function startIntended({ state }: Step): number {
  const [start] = state.held.flatMap((held) => (held.what === "start-gang" ? [held] : []));
  return start?.generation ?? 0;
}

/** A later attempt: the journal says that the cluster spec may be out, so its tasks are taken for starting. */
export function resumeStart(step: Step): void {
  const { state } = step;
  if (state.phase !== "gathering" || startIntended(step) !== state.generation || !isComplete(step)) {
    return;
  }
  for (const task of state.tasks) {
    if (startsWithGang(step, task)) {
      moveTask(step, task, ["registered"], "starting");
    }
  }
  state.started = true;
  state.everStarted = true;
  state.phase = "running";
}

/** The cluster spec goes out to a task again: it was lost with a broken stream. */
export function resendStart(step: Step, task: TaskRecord): void {
  sendStart(step, task, addresses(step, task.generation));
}

function gangIsReady(step: Step): boolean {
  const { state } = step;
  return step.nowMs >= state.startNotBeforeMs && state.phase === "gathering" && isComplete(step);
}

function isComplete(step: Step): boolean {
  const { state } = step;
  let members = 0;
  for (const [position, role] of state.roles.entries()) {
    const spec = roleOf(step, { role: position });
    if (!startsWithGang(step, { role: position })) {
      continue;
    }
    members += spec.instances;
    const givenUp = spec.tracking === "sidecar" ? role.counts.failed : 0;
    if (role.counts.registered + givenUp < spec.instances) {
      return false;
    }
  }
  return members > 0;
}

/** The journal knows that the gang is complete. */
export function startGang(step: Step): void {
  const { state } = step;
  if (state.started || !gangIsReady(step)) {
    return;
  }
  const spec = addresses(step, state.generation);
  const starting = state.tasks.filter((task) => task.phase === "registered" && startsWithGang(step, task));
  const generation = state.generations.at(-1);
  if (generation !== undefined) {
    generation.resumedFrom = startingPoint(step, starting);
  }
  for (const task of starting) {
    sendStart(step, task, spec);
  }
  state.started = true;
  state.everStarted = true;
  state.phase = "running";
  state.journal.dirty = true;
  state.gang.returns = 0;
  const words = `The cluster spec of generation ${state.generation} goes out to ${countWords(spec.tasks.length, "task")}.`;
  log(step, "info", "cluster-spec-sent", words, { generation: state.generation });
  record(step, { type: "cluster-spec-sent" });
}

/**
 * A task that waits for nobody starts when the journal knows which container it lives in: a later attempt then asks there whether its
 * program runs.
 */
export function intendStart(step: Step, { id, generation }: TaskRecord): void {
  whenDurable(step, { what: "start-task", task: id, generation });
}

/** The journal knows where it lives. */
export function startTask(step: Step, held: Extract<Held, { task: string }>): void {
  const task = findTask(step, held.task);
  const isWanted = step.state.outcome === undefined && task?.generation === held.generation;
  if (!isWanted || task?.phase !== "registered" || startsWithGang(step, task)) {
    return;
  }
  if (step.state.phase === "restarting") {
    whenDurable(step, held, held.sequence);
    return;
  }
  startingPoint(step, [task]);
  sendStart(step, task, addresses(step, task.generation));
  noteTaskStart(step);
}

function noteTaskStart({ spec, state }: Step): void {
  if (spec.distributedMode === "fcfs" && state.phase === "gathering") {
    state.phase = "running";
    state.everStarted = true;
  }
}

/**
 * The program of a task that starts alone runs already: an earlier attempt started it and died before its journal said so. False for a
 * member of the gang, which no attempt starts before that.
 */
export function adoptStart(step: Step, task: TaskRecord): boolean {
  if (startsWithGang(step, task)) {
    return false;
  }
  moveTask(step, task, BEFORE_START, "starting");
  step.state.journal.dirty = true;
  noteTaskStart(step);
  return true;
}

/**
 * Nothing was heard from the container in which an earlier attempt may have started a task that starts alone: what replaces it gets a
 * generation of its own.
 */
export function renewAfterLostStart(step: Step, task: TaskRecord): void {
  if (BEFORE_START.includes(task.phase) && !startsWithGang(step, task)) {
    task.generation = nextGeneration(step);
  }
}

function sendStart(step: Step, task: TaskRecord, clusterSpec: ClusterAddresses): void {
  const container = containerOf(step, task);
  if (container === undefined) {
    return;
  }
  moveTask(step, task, ["registered"], "starting");
  step.state.journal.dirty = true;
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: container.id },
    message: {
      type: "start-child",
      generation: task.generation,
      clusterSpec,
      restartReason: step.state.restartReason,
      checkpoint: checkpointOf(step, task),
    },
  });
  awaitOf(step, container, "start", Bounds.startMs + carryingMs(step));
}

/** Where every task of the job listens now. Tasks that live on their own keep the address of their own life. */
function addresses(step: Step, generation: number): ClusterAddresses {
  const listed = step.spec.distributedMode === "gang" ? step.state.tasks.filter((task) => task.port > 0) : [];
  return { generation, tasks: listed.map(({ id, host, port }) => ({ task: id, host, port })) };
}
