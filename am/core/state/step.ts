import type { Happening } from "../../../src/job/history-event.ts";
import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import type { Effect, LogFields } from "./effects.ts";
import type { ContainerRecord, TaskRecord } from "./records.ts";
import type { CoreState, Identity } from "./state.ts";

/** What every decision works on: the job, its state, the time of this step and the effects it has so far. */
export interface Step {
  readonly spec: JobSpec;
  readonly identity: Identity;
  readonly state: CoreState;
  /** Position of each task in `state.tasks`, by its name. */
  readonly positions: ReadonlyMap<string, number>;
  nowMs: number;
  effects: Effect[];
  /** Something that people see changed in this step. */
  changed: boolean;
}

export function newStep(spec: JobSpec, identity: Identity, state: CoreState): Step {
  const positions = new Map(state.tasks.map((task, position) => [task.id, position]));
  return {
    spec,
    identity,
    state,
    positions,
    nowMs: identity.startedAtMs,
    effects: [],
    changed: false,
  };
}

export function emit(step: Step, effect: Effect): void {
  step.effects.push(effect);
}

export function findTask(step: Step, id: string): TaskRecord | undefined {
  const position = step.positions.get(id);
  return position === undefined ? undefined : step.state.tasks[position];
}

/** The task that lives in the container now, if one does. */
export function tenantOf(step: Step, container: ContainerRecord): TaskRecord | undefined {
  const task = findTask(step, container.task);
  return container.phase === "held" && task?.containerId === container.id ? task : undefined;
}

export function containerOf(step: Step, task: TaskRecord): ContainerRecord | undefined {
  return step.state.containers[task.containerId];
}

export function roleOf(step: Pick<Step, "spec">, task: { readonly role: number }): RoleSpec {
  const role = step.spec.roles[task.role];
  if (role === undefined) {
    throw new RangeError(`no role at position ${task.role}`);
  }
  return role;
}

export function log(
  step: Step,
  level: "info" | "warn" | "error",
  event: string,
  message: string,
  fields?: LogFields,
): void {
  emit(step, { type: "log", level, event, message, ...(fields === undefined ? {} : { fields }) });
}

/** A line of the job's history. */
export function record(step: Step, happening: Happening, about: Partial<TaskRecord> = {}): void {
  emit(step, {
    type: "record",
    event: {
      ...happening,
      atMs: step.nowMs,
      ...(about.id === undefined ? {} : { task: about.id }),
      ...(about.containerId ? { containerId: about.containerId } : {}),
      generation: about.generation ?? step.state.generation,
    },
  });
}

/** The fields by which a log line names a task. */
export function about(task: TaskRecord): LogFields {
  return { task: task.id, container: task.containerId, generation: task.generation };
}
