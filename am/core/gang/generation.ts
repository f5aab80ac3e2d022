import { countWords } from "../../../src/job/reasons/words.ts";
import { checkpointOf, startingPoint } from "../containers/checkpoints.ts";
import { carryingMs } from "../containers/transfers.ts";
import type { ClusterAddresses } from "../state/effects.ts";
import type { TaskRecord } from "../state/state.ts";
import { containerOf, emit, inGang, log, record, roleOf, type Step } from "../state/step.ts";
import { Bounds, setOrder } from "../state/timers.ts";
import { BEFORE_START, moveTask } from "../state/transitions.ts";

/** Opens the next generation of the gang; its number is journaled before any program of it starts. */
export function openGeneration(step: Step): void {
  const { state } = step;
  state.lastGeneration++;
  state.generation = state.lastGeneration;
  state.started = false;
  state.journal.dirty = true;
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
 * Tells an executor to make ready for its task's present generation, as soon as the journal knows it: what ended the one before is then
 * written down, and a later attempt meets no executor that is ahead of it.
 */
export function prepare(step: Step, task: TaskRecord): void {
  if (step.state.journal.durableGeneration < task.generation) {
    step.unprepared.add(task);
    return;
  }
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: task.containerId },
    message: { type: "prepare", generation: task.generation, reason: step.state.restartReason },
  });
  setOrder(step, "prepare", task.containerId, step.spec.timeouts.stopGraceMs + Bounds.prepareMs + carryingMs(step));
}

/** The journal may know by now what executors are to make ready for. */
export function prepareJournaled(step: Step): void {
  const { journal, lastGeneration } = step.state;
  if (step.unprepared.size === 0 || (journal.durableGeneration < lastGeneration && journal.inFlight !== 0)) {
    return;
  }
  const waiting = [...step.unprepared];
  step.unprepared.clear();
  for (const task of waiting) {
    if (task.phase === "preparing") {
      prepare(step, task);
    }
  }
}

/** Starts whatever is complete: the whole gang, and every task that lives on its own. */
export function startWhenReady(step: Step): void {
  const { state } = step;
  if (state.phase !== "gathering" && state.phase !== "running") {
    return;
  }
  if (!state.started && mayStart(step)) {
    startGang(step);
  }
  if (step.registeredAlone.size > 0) {
    startAlone(step);
  }
}

/**
 * A complete gang is journaled as one that starts before anybody is told: a later attempt then knows that programs may run, and restarts
 * none of them. Whoever goes missing meanwhile takes that back.
 */
function mayStart(step: Step): boolean {
  const { state } = step;
  const { journal } = state;
  if (!gangIsReady(step)) {
    if (state.startIntended !== 0) {
      state.startIntended = 0;
      journal.inFlightStart = 0;
      journal.durableStart = 0;
      journal.dirty = true;
    }
    return false;
  }
  if (state.startIntended !== state.generation) {
    state.startIntended = state.generation;
    journal.dirty = true;
  }
  return journal.durableStart === state.generation;
}

/** A later attempt: the journal says that the cluster spec may be out, so its tasks are taken for starting. */
export function resumeStart(step: Step): void {
  const { state } = step;
  if (state.phase !== "gathering" || state.startIntended !== state.generation || !isComplete(step)) {
    return;
  }
  for (const task of state.tasks) {
    if (waitsForAll(step, task.role)) {
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
    if (!waitsForAll(step, position)) {
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

/** The first cluster spec waits for every task, later ones for those that restart together. */
function waitsForAll(step: Step, position: number): boolean {
  const everybody = step.spec.distributedMode === "gang" && !step.state.everStarted;
  return everybody || inGang(step, roleOf(step, { role: position }));
}

function startGang(step: Step): void {
  const { state } = step;
  const spec = addresses(step, state.generation);
  const starting = state.tasks.filter((task) => task.phase === "registered" && waitsForAll(step, task.role));
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
  emit(step, { type: "clear-timer", name: "allocation" });
  const words = `The cluster spec of generation ${state.generation} goes out to ${countWords(spec.tasks.length, "task")}.`;
  log(step, "info", "cluster-spec-sent", words, { generation: state.generation });
  record(step, { type: "cluster-spec-sent" });
}

/**
 * A task that waits for nobody starts when the journal knows which container it lives in: a later attempt then asks there whether its
 * program runs.
 */
export function registerAlone({ state, registeredAlone }: Step, task: TaskRecord): void {
  registeredAlone.delete(task);
  registeredAlone.set(task, state.journal.sequence + 1);
}

function startAlone(step: Step): void {
  for (const [task, sequence] of step.registeredAlone) {
    if (sequence > step.state.journal.durableSequence) {
      return;
    }
    step.registeredAlone.delete(task);
    if (task.phase === "registered" && isAlone(step, task)) {
      startingPoint(step, [task]);
      sendStart(step, task, addresses(step, task.generation));
      noteStartedAlone(step);
    }
  }
}

function noteStartedAlone({ spec, state }: Step): void {
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
  if (!isAlone(step, task)) {
    return false;
  }
  moveTask(step, task, BEFORE_START, "starting");
  step.registeredAlone.delete(task);
  step.state.journal.dirty = true;
  noteStartedAlone(step);
  return true;
}

/**
 * Nothing was heard from the container in which an earlier attempt may have started a task that starts alone: what replaces it gets a
 * generation of its own.
 */
export function distrustStart(step: Step, task: TaskRecord): void {
  if (BEFORE_START.includes(task.phase) && isAlone(step, task)) {
    task.generation = ++step.state.lastGeneration;
  }
}

/** Whether a registered task need not wait for others. */
export function isAlone(step: Step, task: TaskRecord): boolean {
  return step.spec.distributedMode === "fcfs" || (step.state.everStarted && !inGang(step, roleOf(step, task)));
}

function sendStart(step: Step, task: TaskRecord, clusterSpec: ClusterAddresses): void {
  moveTask(step, task, ["registered"], "starting");
  step.state.journal.dirty = true;
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: task.containerId },
    message: {
      type: "start-child",
      generation: task.generation,
      clusterSpec,
      restartReason: step.state.restartReason,
      checkpoint: checkpointOf(step, task),
    },
  });
  setOrder(step, "start", task.containerId, Bounds.startMs + carryingMs(step));
}

/** Where every task of the job listens now. Tasks that live on their own keep the address of their own life. */
function addresses(step: Step, generation: number): ClusterAddresses {
  const listed = step.spec.distributedMode === "gang" ? step.state.tasks.filter((task) => task.port > 0) : [];
  return { generation, tasks: listed.map(({ id, host, port }) => ({ task: id, host, port })) };
}
