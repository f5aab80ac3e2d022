import type { ContainerTime } from "../../../src/job/search/container-time.ts";
import type { ContainerRecord, TaskPhase } from "../state/records.ts";
import { findTask, type Step } from "../state/step.ts";
import { BEFORE_START } from "../state/task-moves.ts";

type Part = Exclude<keyof ContainerTime, "heldMs">;

/** Before a program of a trial runs. */
const BEFORE_PROGRAM: readonly TaskPhase[] = [...BEFORE_START, "starting"];

/** Of a search: counts what its containers did since the last step. To be called before anything changes. */
export function countContainerTime(step: Step, nowMs: number): void {
  const { usage, containers } = step.state;
  if (usage.time === undefined) {
    return;
  }
  const elapsedMs = Math.max(0, nowMs - usage.time.countedAtMs);
  usage.time.countedAtMs = Math.max(nowMs, usage.time.countedAtMs);
  for (const container of Object.values(containers)) {
    usage.time.heldMs += elapsedMs;
    const part = partOf(step, container);
    if (part !== undefined) {
      usage.time[part] += elapsedMs;
    }
  }
}

/** What a container waits for in which no trial's program runs; undefined: one does. */
function partOf(step: Step, { phase, task, handedOver, deadlines }: ContainerRecord): Part | undefined {
  if (phase === "discarded" || phase === "terminating") {
    return "afterLastMs";
  }
  if (deadlines.idle !== undefined) {
    return "barrierMs";
  }
  const tenant = findTask(step, task);
  if (tenant === undefined || BEFORE_PROGRAM.includes(tenant.phase)) {
    return handedOver ? "handOverMs" : "startMs";
  }
  if (tenant.phase === "running" || tenant.phase === "stopping") {
    return undefined;
  }
  const isLast = step.state.roles.every(({ counts }) => counts.waiting === 0);
  return isLast ? "afterLastMs" : "barrierMs";
}
