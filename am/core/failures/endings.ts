import { archiveOf } from "../../../src/job/archive-of.ts";
import type { ContainerDiagnostics } from "../../../src/job/container-diagnostics.ts";
import type { EndingFacts, EndingReason } from "../../../src/job/reasons/endings.ts";
import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import { memoryWords, settingOf } from "../../../src/job/reasons/words.ts";
import { isHeard } from "../containers/containers.ts";
import { isLeaving } from "../containers/kept-off.ts";
import { Bounds } from "../state/bounds.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending, Suspension } from "../state/failures.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { roleOf, type Step } from "../state/step.ts";
import { exitMeaning, isOrdered } from "./exit-status.ts";
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
    const reason: EndingReason = { code: "program-signalled", ...at, signal: exit.signal };
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

/** A program that ended well while others of its gang still needed it. */
export function earlyExitEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  const ranForMs = Math.max(0, exit.atMs - task.startedAtMs);
  return {
    ...where(task, container),
    ...when(step, exit.atMs),
    source: "child",
    strength: Strength.earlyExit,
    class: "program",
    machine: false,
    reason: { code: "program-ended-early", task: task.id, host: container.host, ranForMs },
    exit: exitWords(exit),
    lines: linesOf(exit),
    remedy: { code: "end-together" },
  };
}

/** A program that was suspended while its executor was cut off; `isolationMs`: after how long it is. Its node came back, and is not blamed. */
export function cutOffEnding(suspension: Suspension, isolationMs: number): Ending {
  const { task, containerId, host, generation, fromMs, toMs } = suspension;
  return {
    ...{ task, containerId, host, generation },
    ...seen(fromMs - isolationMs),
    source: "core",
    strength: Strength.cutOff,
    class: "infrastructure",
    machine: false,
    reason: { code: "node-cut-off", task, host, suspendedMs: toMs - fromMs },
    exit: "",
    lines: [],
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

/** A task whose node leaves the cluster starts again elsewhere. `checkpointStep`: see its reason. */
export function departureEnding(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  checkpointStep?: number,
): Ending {
  const saved = checkpointStep === undefined ? {} : { checkpointStep };
  return {
    ...where(task, container),
    ...seen(step.nowMs),
    source: "core",
    strength: Strength.outside,
    class: "infrastructure",
    machine: false,
    reason: { code: "left-node", task: task.id, host: container.host, ...saved },
    exit: "",
    lines: [],
  };
}

/** A container that YARN says is over, not by our doing. */
export function containerEnding(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  exitStatus: number,
  diagnostics: ContainerDiagnostics,
): Ending {
  const { memory, resource, stderr, words } = diagnostics;
  const unreadable = exitStatus === 1 && stderr.length === 0 ? diagnostics.unreadable : undefined;
  if (unreadable !== undefined) {
    return unreadableEnding(step, task, container, unreadable);
  }
  if (container.inherited && isOrdered(exitStatus, words)) {
    const why = `container exit ${exitStatus}`;
    return orderedEnding(step, task, container, { why, source: "yarn", exit: String(exitStatus) });
  }
  const meaning = exitMeaning(exitStatus, words, isLeaving(step, container.host));
  if (meaning.code === "files-not-fetched" && diagnostics.endedToken !== undefined) {
    return endedTokenEnding(step, task, container, words);
  }
  const ownWords = ownLastWord(stderr) ?? (meaning.machine ? healthReportOf(step, container) : undefined);
  const detail = resource === undefined ? ownWords : words[0];
  return {
    ...where(task, container),
    ...seen(container.brokenAtMs === 0 ? step.nowMs : container.brokenAtMs),
    source: "yarn",
    strength: Strength.outside,
    class: meaning.class,
    machine: meaning.machine,
    reason: {
      code: meaning.code,
      task: task.id,
      host: container.host,
      exitStatus,
      ...(detail === undefined ? {} : { detail }),
      ...(resource === undefined ? {} : { file: resource }),
      ...(memory === undefined ? {} : { used: memory.used, limit: memory.limit, usedMiB: memory.usedMiB }),
    },
    exit: String(exitStatus),
    lines: memory === undefined ? (stderr.length > 0 ? stderr : words).slice(-20) : [],
    remedy: meaning.memory === undefined ? undefined : memoryRemedy(step, task, meaning.memory, memory),
    ...(resource === undefined ? {} : { resource }),
  };
}

/** HDFS took the job's token no more, as it will not from the next node. */
function endedTokenEnding(step: Step, task: TaskRecord, container: ContainerRecord, words: readonly string[]): Ending {
  return {
    ...where(task, container),
    ...seen(container.brokenAtMs === 0 ? step.nowMs : container.brokenAtMs),
    source: "yarn",
    strength: Strength.outside,
    class: "program",
    machine: false,
    reason: { code: "files-not-fetched", task: task.id, host: container.host },
    exit: "-1000",
    lines: words.slice(-20),
    remedy: { code: "outlive-tokens" },
  };
}

/** The launch script met a file of the job that it may not read, as the next one on any node will. */
function unreadableEnding(step: Step, task: TaskRecord, container: ContainerRecord, file: string): Ending {
  const archive = archiveOf(file, [...step.spec.files, ...roleOf(step, task).files]);
  const origin = archive === undefined ? {} : { archive: archive.source };
  return {
    ...where(task, container),
    ...seen(container.brokenAtMs === 0 ? step.nowMs : container.brokenAtMs),
    source: "yarn",
    strength: Strength.outside,
    class: "program",
    machine: false,
    reason: { code: "file-unreadable", task: task.id, host: container.host, file, ...origin },
    exit: "1",
    lines: [],
    remedy: { code: "pack-copies" },
  };
}

/** What the container's node says is wrong with it: why YARN took all containers from it. */
function healthReportOf({ state }: Step, { host }: ContainerRecord): string | undefined {
  return Object.values(state.nodes).find((candidate) => candidate.host === host)?.healthReport;
}

/** What one of our programs said as it ended; its lines begin with the program's name. */
function ownLastWord(stderr: readonly string[]): string | undefined {
  const prefix = "tony-ts: ";
  const line = stderr.findLast((text) => text.startsWith(prefix));
  return line?.slice(prefix.length);
}

/** An executor that can no longer be reached or does not do what it was told. */
export function linkEnding(step: Step, task: TaskRecord, container: ContainerRecord, facts: EndingFacts): Ending {
  return {
    ...where(task, container),
    ...seen(container.brokenAtMs === 0 ? step.nowMs : container.brokenAtMs),
    source: "link",
    strength: Strength.outside,
    class: "infrastructure",
    machine: true,
    reason: { ...facts, task: task.id, host: container.host },
    exit: "",
    lines: [],
  };
}

/** An executor of which nothing is heard any more: `facts`, or it went with its node where that is being taken out of the cluster. */
export function unheardEnding(step: Step, task: TaskRecord, container: ContainerRecord, facts: EndingFacts): Ending {
  if (isLeaving(step, container.host)) {
    return { ...linkEnding(step, task, container, { code: "gone-with-node" }), machine: false };
  }
  return linkEnding(step, task, container, facts);
}

/** An executor that was told to end, or ended by itself: who or what did it only YARN can say. */
export function terminationEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit?: ChildExit): Ending {
  const lines = exit === undefined ? [] : linesOf(exit);
  return { ...linkEnding(step, task, container, { code: "told-to-end" }), machine: false, lines };
}

/** A program that was stopped for the time it took. */
export function timeLimitEnding(step: Step, task: TaskRecord, container: ContainerRecord): Ending {
  const limitMs = step.spec.timeouts.executionMs ?? 0;
  const ending = linkEnding(step, task, container, { code: "ran-too-long", limitMs });
  return { ...ending, strength: Strength.exit, class: "program", machine: false, source: "core" };
}

/**
 * A program that hung; `exit` has where it stood, when its executor could end it, and the step of the order to stop: one that was reported
 * afterwards changes nothing.
 */
export function hungEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit?: ChildExit): Ending {
  const atStep = exit?.stopReason?.code === "hung" ? exit.stopReason.step : task.step;
  const noProgressMs = step.spec.timeouts.progressMs ?? 0;
  const ending = linkEnding(step, task, container, { code: "program-hung", noProgressMs, step: atStep });
  const remedy: Remedy = {
    code: "raise-progress-timeout",
    setting: settingOf(step.spec, "tony.task.progress-timeout"),
  };
  const known = exit === undefined ? {} : { exit: exitWords(exit), lines: linesOf(exit) };
  return { ...ending, strength: Strength.exit, class: "program", machine: false, source: "core", remedy, ...known };
}

/**
 * What was stopped by an order that this attempt knows nothing of: the one before gave it, and died before the journal said why. Whatever
 * failed then its own executor still has to tell.
 */
export function orderedEnding(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  { why, ...said }: Pick<Ending, "source" | "exit"> & { readonly why: string },
): Ending {
  const ending = linkEnding(step, task, container, { code: "stopped-by-earlier-attempt", why });
  return { ...ending, ...said, strength: Strength.consequence, machine: false };
}

/** A program that did not stop for our teardown in time; when nothing is heard of its executor either, that is what failed. */
export function overdueEnding(step: Step, task: TaskRecord, container: ContainerRecord): Ending {
  if (!isHeard(container)) {
    return unheardEnding(step, task, container, { code: "silent-and-not-stopped" });
  }
  const ending = linkEnding(step, task, container, { code: "not-stopped" });
  return { ...ending, strength: Strength.consequence, machine: false, source: "core" };
}

/**
 * An exit is heard at once, or as soon as its stream is back. What its machine's clock says beyond that is the clock's error: it is
 * shown, but must not decide which of two exits came first.
 */
function when(step: Step, atMs: number): Pick<Ending, "atMs" | "seenAtMs"> {
  return { atMs, seenAtMs: Math.min(step.nowMs, Math.max(step.nowMs - Bounds.reconnectMs, atMs)) };
}

function seen(atMs: number): Pick<Ending, "atMs" | "seenAtMs"> {
  return { atMs, seenAtMs: atMs };
}

function where(task: TaskRecord, container: ContainerRecord) {
  return {
    task: task.id,
    containerId: container.id,
    host: container.host,
    generation: container.generation,
  };
}

function linesOf({ traceback, lastLines }: ChildExit): readonly string[] {
  return traceback === "" ? lastLines : traceback.split("\n");
}

/** What a table shows of an exit. */
export function exitWords(exit: ChildExit): string {
  return exit.signal === "" ? String(exit.exitCode) : exit.signal;
}
