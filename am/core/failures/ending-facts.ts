import { Bounds } from "../state/bounds.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";

/** Whose end it is. */
export function where(task: TaskRecord, container: ContainerRecord) {
  return {
    task: task.id,
    containerId: container.id,
    host: container.host,
    generation: container.generation,
  };
}

/**
 * An exit is heard at once, or as soon as its stream is back. What its machine's clock says beyond that is the clock's error: it is
 * shown, but must not decide which of two exits came first.
 */
export function when(step: Step, atMs: number): Pick<Ending, "atMs" | "seenAtMs"> {
  return { atMs, seenAtMs: Math.min(step.nowMs, Math.max(step.nowMs - Bounds.reconnectMs, atMs)) };
}

/** We saw it ourselves. */
export function seen(atMs: number): Pick<Ending, "atMs" | "seenAtMs"> {
  return { atMs, seenAtMs: atMs };
}

/** Its container or executor is gone: since its stream broke, where it did. */
export function whenGone(step: Step, { brokenAtMs }: ContainerRecord): Pick<Ending, "atMs" | "seenAtMs"> {
  return seen(brokenAtMs === 0 ? step.nowMs : brokenAtMs);
}

/** What its program said last. */
export function linesOf({ traceback, lastLines }: ChildExit): readonly string[] {
  return traceback === "" ? lastLines : traceback.split("\n");
}

/** What a table shows of an exit. */
export function exitWords(exit: ChildExit): string {
  return exit.signal === "" ? String(exit.exitCode) : exit.signal;
}
