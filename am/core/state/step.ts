import type { Happening } from "../../../src/job/history-event.ts";
import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import type { Effect, LogFields } from "./effects.ts";
import type { GangState } from "./gang.ts";
import type { ContainerRecord, RoleState, TaskRecord } from "./records.ts";
import type { CoreState, Identity } from "./state.ts";

/** What every decision works on: the job, its state, the time of this step and its effects so far. */
export interface Step {
  readonly spec: JobSpec;
  readonly identity: Identity;
  readonly state: CoreState;
  /** Position of each task in `state.tasks`, by its name. */
  readonly positions: ReadonlyMap<string, number>;
  nowMs: number;
  effects: Effect[];
  /** Whether something that people see changed in this step. */
  changed: boolean;
  /** What happens on a defect of ours, and which ones were reported. */
  readonly defects: Defects;
  readonly told: Set<string>;
  /** Whether nodes, or what is wanted of them in all, changed in this step. */
  roomChanged: boolean;
  /** A snapshot of the journal as text. */
  readonly textOf: (snapshot: object) => string;
}

/** `throw`: in tests and simulation. `log`: in production, where a job runs on. */
export type Defects = "throw" | "log";

export function newStep(
  spec: JobSpec,
  identity: Identity,
  state: CoreState,
  defects: Defects,
  textOf: Step["textOf"] = JSON.stringify,
): Step {
  const positions = new Map(state.tasks.map((task, position) => [task.id, position]));
  return {
    spec,
    identity,
    state,
    positions,
    nowMs: identity.startedAtMs,
    effects: [],
    changed: false,
    roomChanged: false,
    defects,
    told: new Set(),
    textOf,
  };
}

/** A later attempt must know what changed: the next snapshot of the journal holds it. */
export function noteDurable({ state }: Pick<Step, "state">): void {
  state.journal.dirty = true;
}

/** Something that our own rules exclude. Reported once per kind, which is `what`. */
export function defect(step: Step, what: string, where: string): void {
  if (step.defects === "throw") {
    throw new Error(`${what} (${where})`);
  }
  if (!step.told.has(what)) {
    step.told.add(what);
    log(
      step,
      "error",
      "defect",
      `${what} (${where}). This is a defect of tony-ts, and nothing was changed: please report it.`,
    );
  }
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

/** The gang that a task, or a role, belongs to. */
export function gangOf({ state }: Pick<Step, "state">, task: { readonly role: number }): GangState {
  const gang = state.gangs[state.roles[task.role]?.gang ?? -1];
  if (gang === undefined) {
    throw new RangeError(`no gang for the role at position ${task.role}`);
  }
  return gang;
}

export function tasksOf({ state }: Pick<Step, "state">, gang: GangState): TaskRecord[] {
  return state.tasks.filter(({ role }) => state.roles[role]?.gang === gang.position);
}

/** The gang's roles, each with its position. */
export function rolesOf({ state }: Pick<Step, "state">, gang: GangState): [number, RoleState][] {
  // A plain loop: this is called several times in each step, for each gang.
  const roles: [number, RoleState][] = [];
  for (const position of gang.roles) {
    const role = state.roles[position];
    if (role !== undefined) {
      roles.push([position, role]);
    }
  }
  return roles;
}

/** The position of a role in the job: trials that are gangs all have the job's roles, one trial after the other. */
export function inJob({ spec }: Pick<Step, "spec">, position: number): number {
  return position % spec.roles.length;
}

/** Gangs whose turn has come: the others need nothing yet. */
export function begunGangs({ state }: Pick<Step, "state">): GangState[] {
  return state.gangs.filter(({ phase }) => phase !== "ahead");
}

/** The gang that began last: what concerns the whole job is reported under its generation. */
export function presentGang({ state }: Pick<Step, "state">): GangState | undefined {
  return state.gangs.reduce<GangState | undefined>(
    (last, gang) => (gang.generation > (last?.generation ?? 0) ? gang : last),
    undefined,
  );
}

/** The task's role, with the size that its containers have, as far as that is known. */
export function roleOf({ spec, state }: Pick<Step, "spec" | "state">, task: { readonly role: number }): RoleSpec {
  const role = askedOf({ spec }, task);
  const given = state.roles[inJob({ spec }, task.role)]?.given;
  return given === undefined ? role : { ...role, resource: given };
}

/** As the job has it: with the size that YARN is asked for. */
export function askedOf({ spec }: Pick<Step, "spec">, task: { readonly role: number }): RoleSpec {
  const role = spec.roles[inJob({ spec }, task.role)];
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

/** Adds a line to the job's history. */
export function record(step: Step, happening: Happening, about: Partial<TaskRecord> = {}): void {
  emit(step, {
    type: "record",
    event: {
      ...happening,
      atMs: step.nowMs,
      ...(about.id === undefined ? {} : { task: about.id }),
      ...(about.containerId ? { containerId: about.containerId } : {}),
      generation: about.generation ?? presentGang(step)?.generation ?? 0,
    },
  });
}

/** The fields by which a log line names a task. */
export function about(task: TaskRecord): LogFields {
  return { task: task.id, container: task.containerId, generation: task.generation };
}
