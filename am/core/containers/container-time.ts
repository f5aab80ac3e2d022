import type { ContainerTime } from "../../../src/job/search/container-time.ts";
import type { ContainerRecord, TaskPhase, TaskRecord } from "../state/records.ts";
import type { CoreState } from "../state/state.ts";
import { findTask, type Step } from "../state/step.ts";
import { BEFORE_START } from "../state/task-moves.ts";

type Part = Exclude<keyof ContainerTime, "heldMs">;

/** Phases before a trial's program runs. */
const BEFORE_PROGRAM: readonly TaskPhase[] = [...BEFORE_START, "starting"];

/** In a search: adds up what its containers did since the last step. Must be called before anything changes. */
export function countContainerTime(step: Step, nowMs: number): void {
  const { time } = step.state.usage;
  if (time !== undefined) {
    const countedAtMs = Math.max(nowMs, time.countedAtMs);
    Object.assign(
      time,
      containerTimeAt(step.state, time, nowMs, (id) => findTask(step, id)),
      { countedAtMs },
    );
  }
}

/** What they have done until `nowMs`: what was counted before, and what each has done since. */
export function containerTimeAt(
  { containers, roles }: Pick<CoreState, "containers" | "roles">,
  { countedAtMs, ...time }: NonNullable<CoreState["usage"]["time"]>,
  nowMs: number,
  taskOf: (id: string) => TaskRecord | undefined,
): ContainerTime {
  const elapsedMs = Math.max(0, nowMs - countedAtMs);
  for (const container of Object.values(containers)) {
    time.heldMs += elapsedMs;
    const part = partOf(container, taskOf(container.task), roles);
    if (part !== undefined) {
      time[part] += elapsedMs;
    }
  }
  return time;
}

/** What a container in which no trial's program runs is waiting for; undefined: one runs. */
function partOf(
  { phase, handedOver, deadlines }: ContainerRecord,
  tenant: TaskRecord | undefined,
  roles: CoreState["roles"],
): Part | undefined {
  if (phase === "discarded" || phase === "terminating") {
    return "afterLastMs";
  }
  if (deadlines.idle !== undefined) {
    return "barrierMs";
  }
  if (tenant === undefined || BEFORE_PROGRAM.includes(tenant.phase)) {
    return handedOver ? "handOverMs" : "startMs";
  }
  if (tenant.phase === "running" || tenant.phase === "stopping") {
    return undefined;
  }
  const isLast = roles.every(({ counts }) => counts.waiting === 0);
  return isLast ? "afterLastMs" : "barrierMs";
}
