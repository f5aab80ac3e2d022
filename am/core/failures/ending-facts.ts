import { missingModuleOf } from "../../../src/job/diagnosis/missing-module.ts";
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

/** Of what a program wrote after its last traceback, so many lines are told. */
const MOST_LINES_AFTER = 3;

/** What its program said last: with what it wrote after its traceback, which may be the better reason. */
export function linesOf(exit: ChildExit): readonly string[] {
  return exit.traceback === "" ? exit.lastLines : [...exit.traceback.split("\n"), ...linesAfterTraceback(exit)];
}

/** Whether its exception, or Python's own word for it, was the last that it wrote: one that it caught is mostly followed by something else. */
export function endedByException({ errorSummary, lastLines }: ChildExit): boolean {
  const [last] = lastLines.slice(-1);
  return last === undefined || last.endsWith(errorSummary) || missingModuleOf(lastLines) !== undefined;
}

/** A launcher's prefix stands before the lines that are not of the traceback itself. */
function linesAfterTraceback({ traceback, lastLines }: ChildExit): readonly string[] {
  const end = traceback.split("\n").at(-1) ?? "";
  const position = end === "" ? -1 : lastLines.findLastIndex((line) => line.endsWith(end));
  return position < 0 ? [] : lastLines.slice(position + 1).slice(-MOST_LINES_AFTER);
}

/** What a table shows of an exit. */
export function exitWords(exit: ChildExit): string {
  return exit.signal === "" || exit.signalOfChild ? String(exit.exitCode) : exit.signal;
}
