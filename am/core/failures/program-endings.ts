import type { EndingReason } from "../../../src/job/reasons/endings.ts";
import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import { memoryWords } from "../../../src/job/reasons/words.ts";
import { Bounds } from "../state/bounds.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { roleOf, type Step } from "../state/step.ts";
import { exitWords, linesOf, when, where } from "./ending-facts.ts";
import { commandRemedy, memoryRemedy, programRemedy } from "./remedies.ts";
import { startFailureOf } from "./start-failure.ts";
import { Strength } from "./strength.ts";

/** Signals by which a machine shows itself faulty. */
const MACHINE_SIGNALS: ReadonlySet<string> = new Set(["SIGBUS", "SIGILL"]);

/** A program that ended badly by itself, as its executor saw it. */
export function childEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  const machine = MACHINE_SIGNALS.has(exit.signal);
  const startFailure = startFailureOf(task, exit);
  const base = {
    ...where(task, container),
    ...when(step, exit.atMs),
    source: "child",
    exit: exitWords(exit),
    ...(startFailure === undefined ? {} : { startFailure }),
  } as const;
  const lines = linesOf(exit);
  const at = { task: task.id, host: container.host };
  const error = exit.errorSummary === "" ? {} : { error: exit.errorSummary };
  if (exit.outOfMemory) {
    const usedMiB = Math.round(exit.peakMemoryBytes / 2 ** 20);
    const limitMiB = container.resource.memoryMiB;
    const measured = { used: memoryWords(usedMiB), limit: memoryWords(limitMiB), usedMiB };
    const reason: EndingReason = { code: "ran-out-of-memory", ...at, ...measured };
    const remedy = memoryRemedy(step, task, "physical", { usedMiB, limitMiB });
    return { ...base, strength: Strength.outside, class: "program", machine: false, reason, lines, remedy };
  }
  if (exit.failedToStart) {
    const reason: EndingReason = { code: "program-not-started", ...at, ...error };
    // What its executor found wrong says itself how to mend it; a shell only complains.
    const remedy = exit.errorSummary === "" ? commandRemedy(step, task, exit) : undefined;
    return { ...base, strength: Strength.exit, class: "program", machine: false, reason, lines, remedy };
  }
  if (exit.portTaken) {
    const reason: EndingReason = { code: "port-taken", ...at, ...error };
    const remedy: Remedy = { code: "open-port-once", role: roleOf(step, task).name };
    return { ...base, strength: Strength.exit, class: "infrastructure", machine: false, reason, lines, remedy };
  }
  if (exit.signal !== "") {
    const told = exit.signalOfChild ? { exitCode: exit.exitCode } : {};
    const reason: EndingReason = { code: "program-signalled", ...at, signal: exit.signal, ...told };
    const failureClass = machine ? "infrastructure" : "program";
    const remedy = programRemedy(step, task, exit);
    return { ...base, strength: Strength.signal, class: failureClass, machine, reason, lines, remedy };
  }
  return {
    ...base,
    strength: exit.peerConnectionLost ? Strength.peerLost : Strength.exit,
    class: "program",
    machine: false,
    reason: { code: "program-exited", ...at, exitCode: exit.exitCode, ...error },
    lines,
    remedy: programRemedy(step, task, exit),
  };
}

/** Whether a program's bad end is that of its container, which is to be taken back: the notice's signal ends most programs. */
export function isYield(step: Step, { notice }: ContainerRecord): boolean {
  return (
    notice?.cause === "decommissioning" || (notice !== undefined && step.nowMs - notice.atMs <= Bounds.preemptionMs)
  );
}

/** A program that ended at such a notice, and thereby gave way to it, unless it lost a peer by something that is nearer to the root. */
export function yieldEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  const own = childEnding(step, task, container, exit);
  return {
    ...own,
    source: "core",
    strength: own.strength === Strength.peerLost ? own.strength : Strength.outside,
    class: "infrastructure",
    machine: false,
    reason: {
      code: container.notice?.cause === "decommissioning" ? "gave-way-to-decommissioning" : "gave-way-to-preemption",
      task: task.id,
      host: container.host,
    },
    remedy: undefined,
  };
}
