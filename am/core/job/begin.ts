import type { RoleSpec } from "../../../src/job/spec.ts";
import { openGeneration } from "../gang/generation.ts";
import type { Event, ResourceAmount } from "../state/events.ts";
import { log, record, type Step } from "../state/step.ts";
import { setTimer } from "../state/timers.ts";
import { countWords, durationWords, keyWords, memoryWords } from "../words/words.ts";
import { finish } from "./finish.ts";

/** The ResourceManager knows this attempt. The first one begins at once; a later one hears first what the earlier left. */
export function registered(step: Step, event: Extract<Event, { type: "am-registered" }>): void {
  const { state } = step;
  state.attempt = event.attempt;
  state.maximum = event.maximum;
  state.counted = event.counted;
  state.resourceTypes = event.resourceTypes;
  if (state.phase !== "starting") {
    return;
  }
  const words = `Attempt ${event.attempt} of the ApplicationMaster on ${state.amHost} is registered.`;
  log(step, "info", "am-registered", words, { attempt: event.attempt });
  if (event.attempt === 1) {
    beginJob(step);
  }
}

/** The first generation of a job that has none. */
export function beginJob(step: Step): void {
  const { state, spec } = step;
  const problem = firstProblem(step);
  if (problem !== undefined) {
    finish(step, { result: "failed", summary: problem });
    return;
  }
  record(step, "job-started", {}, { name: spec.name, tasks: state.tasks.length });
  openGeneration(step);
  for (const task of state.tasks) {
    task.generation = state.generation;
  }
  state.phase = "gathering";
  step.changed = true;
  setJobTimers(step);
}

/** The bounds on the whole job, counted from the first attempt's start. */
export function setJobTimers(step: Step): void {
  const { applicationMs, allocationMs } = step.spec.timeouts;
  const elapsedMs = step.nowMs - step.state.startedAtMs;
  if (applicationMs !== undefined) {
    setTimer(step, "application", Math.max(0, applicationMs - elapsedMs));
  }
  if (allocationMs !== undefined && !step.state.everStarted) {
    setTimer(step, "allocation", Math.max(0, allocationMs - elapsedMs));
  }
}

export function applicationTimer(step: Step): void {
  const limit = durationWords(step.spec.timeouts.applicationMs ?? 0);
  finish(step, {
    result: "failed",
    summary: `the job ran longer than ${limit}: ${keyWords(step, "tony.application.timeout")}`,
  });
}

export function allocationTimer(step: Step): void {
  if (step.state.everStarted) {
    return;
  }
  const missing = step.state.roles.reduce(
    (sum, { counts }) => sum + counts.waiting + counts.allocated + counts.launched + counts.preparing,
    0,
  );
  const limit = durationWords(step.spec.timeouts.allocationMs ?? 0);
  const summary = `${missing} of ${countWords(step.state.tasks.length, "task")} not registered within ${limit}: ${keyWords(step, "tony.container.allocation.timeout")}`;
  finish(step, { result: "failed", summary });
}

/** What no amount of waiting can give. */
function firstProblem(step: Step): string | undefined {
  const { maximum, resourceTypes } = step.state;
  if (maximum === undefined) {
    return undefined;
  }
  return step.spec.roles
    .map((role) => problemOf(step, role, maximum, resourceTypes))
    .find((problem) => problem !== undefined);
}

function problemOf(
  step: Step,
  { name, resource }: RoleSpec,
  maximum: ResourceAmount,
  types: readonly string[],
): string | undefined {
  if (resource.memoryMiB > maximum.memoryMiB) {
    const asked = memoryWords(resource.memoryMiB);
    return `${keyWords(step, `tony.${name}.memory`)} asks for ${asked} a container; the cluster gives at most ${memoryWords(maximum.memoryMiB)}`;
  }
  if (resource.vcores > maximum.vcores) {
    return `${keyWords(step, `tony.${name}.vcores`)} asks for ${resource.vcores} a container; the cluster gives at most ${maximum.vcores}`;
  }
  for (const [type, amount] of Object.entries(resource.others)) {
    if (amount > 0 && !types.includes(type)) {
      return `role ${name} asks for ${amount} of ${type}, a resource type that the cluster does not know`;
    }
    const most = maximum.others[type];
    if (most !== undefined && amount > most) {
      return `role ${name} asks for ${amount} of ${type} a container; the cluster gives at most ${most}`;
    }
  }
  return undefined;
}
