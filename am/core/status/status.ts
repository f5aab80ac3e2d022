import { costOf, type Usage } from "../../../src/job/cost.ts";
import type { Checkpoint } from "../../../src/job/execution.ts";
import { gpusOf } from "../../../src/job/gpus.ts";
import { parameterWords } from "../../../src/job/search/parse-parameter.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import { inTrial } from "../../../src/job/search/trial-tasks.ts";
import { isEnded, type Search, type Trial, type TrialState } from "../../../src/job/search/trials.ts";
import { shellWords } from "../../../src/job/shell-words.ts";
import { countTasks, type RoleSpec, tasksOfRole } from "../../../src/job/spec.ts";
import type {
  Budgets,
  GenerationSummary,
  JobOutcome,
  JobState,
  JobStatus,
  RoleStatus,
  SearchStatus,
  TaskState,
  TaskStatus,
  TrialStatus,
} from "../../../src/job/status.ts";
import { parseTaskId } from "../../../src/job/task.ts";
import { containerTimeAt } from "../containers/container-time.ts";
import type { Core } from "../core.ts";
import { failureOf } from "../failures/trial-failures.ts";
import { budgetOf } from "../gang/charges.ts";
import { haltOf, trialOf } from "../policies/trials.ts";
import type { GenerationRecord, Payer } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import { gatheringGeneration, isRestarting } from "../state/gang-moves.ts";
import type { TaskPhase, TaskRecord } from "../state/records.ts";
import type { CoreState } from "../state/state.ts";
import { gangOf, inJob, presentGang, roleOf, rolesOf } from "../state/step.ts";
import { AFTER_END } from "../state/task-moves.ts";
import { waitsOf } from "./waits.ts";

const STATE_OF_PHASE: Readonly<Record<TaskPhase, TaskState>> = {
  waiting: "waiting",
  allocated: "allocated",
  launched: "launched",
  preparing: "launched",
  registered: "registered",
  starting: "registered",
  running: "running",
  stopping: "running",
  succeeded: "succeeded",
  failed: "failed",
  stopped: "stopped",
  lost: "lost",
};

/** The share of the tasks that have ended. */
export function progressOf({ spec, state }: Pick<Core, "spec" | "state">): number {
  const ended = state.tasks.filter(({ phase }) => phase === "succeeded" || phase === "failed" || phase === "stopped");
  const all = countTasks(spec);
  return all === 0 ? 0 : ended.length / all;
}

/** The job as people and programs see it at `nowMs`. */
export function statusOf(core: Pick<Core, "spec" | "state">, nowMs: number): JobStatus {
  const { spec, state } = core;
  // In a search the first gang speaks for all: how often a trial was restarted is shown with its task.
  const gang = spec.trials === undefined ? presentGang(core) : undefined;
  const generations = generationsOf(core);
  return {
    statusVersion: 1,
    applicationId: state.applicationId,
    attempt: state.attempt,
    name: spec.name,
    queue: spec.queue,
    state: jobState(core),
    generation: generations.at(-1)?.generation ?? 0,
    startedAtMs: state.startedAtMs,
    nowMs,
    amHost: state.amHost,
    ...(state.amContainerId === "" ? {} : { amContainerId: state.amContainerId }),
    roles: spec.roles.map((_, position) => roleStatus(core, position)),
    tasks: state.tasks.map((task) => taskStatus(core, state.judgedLives[task.id] ?? task)),
    waits: waitsOf(core, nowMs),
    generations,
    ...(state.takeovers.length === 0 ? {} : { takeovers: state.takeovers.map((one) => ({ ...one })) }),
    budgets: budgetsOf(core, gang, nowMs),
    services: state.services.map((service) => ({ ...service })),
    ...(spec.resumeFrom === undefined ? {} : { resumeFrom: spec.resumeFrom }),
    // In a search each trial has its own.
    ...(gang === undefined || spec.search !== undefined ? {} : checkpoints(gang)),
    usage: usageOf(core, nowMs),
    ...(spec.search === undefined ? {} : { search: searchStatus(core, spec.search, nowMs) }),
    ...(state.outcome === undefined ? {} : { outcome: state.outcome }),
  };
}

function usageOf({ spec, state: { usage } }: Pick<Core, "spec" | "state">, nowMs: number): Usage {
  const sinceCountedMs = Math.max(0, nowMs - usage.countedAtMs);
  const seconds = (untilCountedMs: number, held: number) => Math.round((untilCountedMs + held * sinceCountedMs) / 1000);
  const hasGpus = spec.roles.some(({ resource }) => gpusOf(resource.others, spec.gpuTypes) > 0);
  const held = {
    memoryMiBSeconds: seconds(usage.memoryMiBMs, usage.memoryMiB),
    vcoreSeconds: seconds(usage.vcoreMs, usage.vcores),
    ...(hasGpus ? { gpuSeconds: seconds(usage.gpuMs, usage.gpus) } : {}),
  };
  const cost = costOf(held, spec.am);
  return cost === undefined ? held : { ...held, cost };
}

/** Budgets of the gang; a role's own budget is that of its own gang. */
function budgetsOf(core: Pick<Core, "spec" | "state">, gang: GangState | undefined, nowMs: number): Budgets {
  const left = (payer: Payer, of = gang) => budgetOf(core, of ?? { charges: [] }, payer, nowMs);
  const own = core.spec.roles.filter(({ retryCount }) => retryCount !== undefined);
  const roles = own.map((role) => {
    const { gang: position = -1 } = core.state.roles[core.spec.roles.indexOf(role)] ?? {};
    return { role: role.name, ...left({ class: "program", role: role.name }, core.state.gangs[position]) };
  });
  return {
    program: left({ class: "program" }),
    infrastructure: left({ class: "infrastructure" }),
    ...(roles.length === 0 ? {} : { roles }),
  };
}

/** Nothing is missed any more when a checkpoint that counts is as far. */
function checkpoints({ checkpoint, droppedCheckpoint: dropped }: GangState): Partial<JobStatus> {
  const isMissed = dropped !== undefined && (checkpoint === undefined || checkpoint.step < dropped.step);
  return {
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(isMissed ? { droppedCheckpoint: dropped } : {}),
  };
}

/** Generations of all gangs, in the order in which they began. */
function generationsOf(core: Pick<Core, "spec" | "state">): GenerationSummary[] {
  const { gangs } = core.state;
  if (core.spec.trials !== undefined) {
    return gangs.flatMap((gang) => gang.generations.map((one) => generationSummary(core, gang, one))).slice(0, 1);
  }
  return gangs
    .flatMap((gang) => {
      const roles = gangs.length > 1 ? { roles: rolesOf(core, gang).map(([, { name }]) => name) } : {};
      return gang.generations.map((one) => ({ ...generationSummary(core, gang, one), ...roles }));
    })
    .sort((a, b) => a.generation - b.generation);
}

function generationSummary(
  core: Pick<Core, "spec" | "state">,
  gang: GangState,
  one: GenerationRecord,
): GenerationSummary {
  return {
    generation: one.generation,
    startedAtMs: one.startedAtMs,
    ...gatheringTimes(core, gang, one),
    ...(one.runningAtMs === undefined ? {} : { runningAtMs: one.runningAtMs }),
    ...(one.endedAtMs === undefined ? {} : { endedAtMs: one.endedAtMs }),
    ...(one.endedBy === undefined ? {} : { endedBy: one.endedBy }),
    ...(one.resumedFrom === undefined ? {} : { resumedFrom: one.resumedFrom }),
  };
}

/** When all its tasks had reached each phase; what a kept container already had took no time. */
function gatheringTimes(
  core: Pick<Core, "spec" | "state">,
  gang: GangState,
  one: GenerationRecord,
): Pick<GenerationSummary, "allocatedAtMs" | "localizedAtMs" | "registeredAtMs"> {
  const isPresent = one === gatheringGeneration(gang);
  const anyIn = (...phases: TaskPhase[]) =>
    isPresent && rolesOf(core, gang).some(([, { counts }]) => phases.some((phase) => counts[phase] > 0));
  if (anyIn("waiting")) return {};
  const allocatedAtMs = one.allocatedAtMs ?? one.startedAtMs;
  if (anyIn("allocated", "launched")) return { allocatedAtMs };
  const localizedAtMs = Math.max(allocatedAtMs, one.localizedAtMs ?? 0);
  const registered = one.specAtMs === undefined ? {} : { registeredAtMs: one.specAtMs };
  return { allocatedAtMs, localizedAtMs, ...registered };
}

/** While gangs are at work, what keeps the job from running; in a search, as long as no trial runs. */
function jobState({ spec, state }: Pick<Core, "spec" | "state">): JobState {
  const { phase, outcome, gangs } = state;
  if (phase === "over") {
    return outcome?.result ?? "finishing";
  }
  if (phase !== "under-way") {
    return phase;
  }
  if (spec.trials !== undefined && gangs.some((gang) => gang.phase === "running")) {
    return "running";
  }
  if (gangs.some(isRestarting)) {
    return "restarting";
  }
  return gangs.some((gang) => gang.phase === "gathering") ? "gathering" : "running";
}

/** In a search, of all trials together. */
function roleStatus(core: Pick<Core, "spec" | "state">, position: number): RoleStatus {
  const role = roleOf(core, { role: position });
  const { name, resource, nodeLabel } = role;
  const all = core.state.roles.filter((_, one) => inJob(core, one) === position);
  const count = (...phases: TaskPhase[]) =>
    all.reduce((sum, { counts }) => sum + phases.reduce((ofOne, phase) => ofOne + counts[phase], 0), 0);
  const instances = tasksOfRole(core.spec, role);
  const running = count("running", "stopping");
  return {
    name,
    instances,
    allocated: instances - count("waiting", "lost"),
    registered: running + count("registered", "starting", "succeeded", "failed", "stopped"),
    running,
    ended: count(...AFTER_END),
    ...resource,
    ...(nodeLabel === undefined ? {} : { nodeLabel }),
  };
}

function searchStatus(
  { spec: { roles, trials, leadTask }, state }: Pick<Core, "spec" | "state">,
  { metric, direction, space, algorithm, stop, budget, maxParallel, jobFile, givenKeys, outputDir }: Search,
  nowMs: number,
): SearchStatus {
  const { time } = state.usage;
  const tasks = new Map(state.tasks.map((task) => [task.id, task]));
  return {
    metric,
    direction,
    parameters: space.map(({ name }) => name),
    command: programOf(roles.find(({ name }) => name === parseTaskId(leadTask)?.role)),
    space: space.map(parameterWords),
    ...{ algorithm, stop, maxParallel },
    ...(budget === undefined ? {} : { budget }),
    ...(trials === undefined ? {} : { trials }),
    ...(jobFile === undefined ? {} : { jobFile }),
    ...(givenKeys === undefined ? {} : { givenKeys }),
    ...(outputDir === undefined ? {} : { outputDir }),
    ...(time && { containerTime: containerTimeAt(state, time, nowMs, (id) => tasks.get(id)) }),
  };
}

const PARAMETER = /(\{\{param\.[^{}]*\}\})/;

/** A part of a value: parameters are quoted when they are filled in. */
function quoted(part: string): string {
  return part === "" || PARAMETER.test(part) ? part : shellWords([part]);
}

/** The command of a role for any shell, with those of its variables that contain parameters. */
function programOf(role: RoleSpec | undefined): string {
  const { command = "", environment = {} } = role ?? {};
  const variables = Object.entries(environment).filter(([, value]) => value.includes("{{param."));
  const words = variables.map(([name, value]) => `${name}=${value.split(PARAMETER).map(quoted).join("")}`);
  return words.length === 0 ? command : `(export ${words.join(" ")}; ${command})`;
}

/** When its job has ended, a trial that still ran has been interrupted. */
export function endedState(outcome: JobOutcome | undefined, { state }: Pick<Trial, "state">): TrialState {
  return outcome !== undefined && state === "running" ? "interrupted" : state;
}

function trialStatus({ spec, state }: Pick<Core, "spec" | "state">, task: TaskRecord): TrialStatus {
  const { trialValue } = task;
  const { outcome } = state;
  const failure = failureOf({ spec }, task);
  const checkpoint = checkpointOfTrial(state, task);
  const why = haltOf(task) ?? failure?.words;
  const application = earlierApplication(spec, task);
  return {
    state: endedState(outcome, trialOf(task)),
    ...(why === undefined ? {} : { why }),
    ...(typeof trialValue === "string" && { nonFinite: trialValue }),
    ...(checkpoint === undefined ? {} : { checkpoint: checkpoint.path }),
    ...(failure?.lines && { lines: failure.lines }),
    ...(application === undefined ? {} : { application }),
  };
}

/** The application that has the logs of a trial which ended in an earlier search. */
export function earlierApplication(spec: Core["spec"], { id }: Pick<TaskRecord, "id">): string | undefined {
  const trials = spec.search?.before;
  // Few searches go on from another one: for all others this avoids parsing ids on every request.
  const name = trials && parseTaskId(id);
  const before = name && trials[inTrial(spec, name).number];
  return before !== undefined && isEnded(before) ? before.application : undefined;
}

/** For a trial that is stopped early, the value at that time. */
function metricsOf({ search }: Core["spec"], { metrics, trialStop, trialValue }: TaskRecord) {
  const isStopped = search !== undefined && trialStop !== undefined && typeof trialValue === "number";
  return isStopped ? { ...metrics, [search.metric]: trialValue } : metrics;
}

/** The furthest checkpoint that any container can read. */
export function checkpointOfTrial(state: CoreState, task: TaskRecord): Checkpoint | undefined {
  return task.checkpoint ?? gangOf({ state }, task).checkpoint;
}

/** A trial that goes on has the checkpoint of its earlier lives, until it has one of its own. */
function checkpointStepOf({ spec, state }: Pick<Core, "spec" | "state">, task: TaskRecord) {
  const ofTrial = spec.search && task.trialParameters && checkpointOfTrial(state, task)?.step;
  const step = Math.max(task.checkpointStep, ofTrial ?? 0);
  return step > 0 ? { checkpointStep: step } : {};
}

function taskStatus({ spec, state }: Pick<Core, "spec" | "state">, task: TaskRecord): TaskStatus {
  const containerId = task.containerId || (task.lastContainer?.id ?? "");
  const { nodeHttpAddress } = state.containers[containerId] ?? task.lastContainer ?? {};
  return {
    task: task.id,
    state: STATE_OF_PHASE[task.phase],
    restarts: task.restarts,
    ...(task.restartReason === "" ? {} : { restartReason: task.restartReason }),
    ...(task.host === "" ? {} : { host: task.host }),
    ...(task.port === 0 ? {} : { port: task.port, ...(task.ports && { ports: task.ports }) }),
    ...(containerId === "" ? {} : { containerId }),
    ...(nodeHttpAddress === undefined ? {} : { nodeHttpAddress }),
    ...(task.startedAtMs === 0 ? {} : { startedAtMs: task.startedAtMs }),
    ...(task.endedAtMs === 0 ? {} : { endedAtMs: task.endedAtMs }),
    ...(task.exit === "" ? {} : { exit: task.exit }),
    ...(task.step === 0 ? {} : { step: task.step }),
    ...(task.metrics === undefined ? {} : { metrics: metricsOf(spec, task) }),
    ...(task.trialParameters === undefined ? {} : { params: textsOf(task.trialParameters) }),
    ...(spec.search === undefined || task.trialParameters === undefined
      ? {}
      : { trial: trialStatus({ spec, state }, task) }),
    ...(task.transfers === undefined ? {} : { transfers: task.transfers }),
    ...checkpointStepOf({ spec, state }, task),
  };
}

function textsOf(parameters: Parameters): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
}
