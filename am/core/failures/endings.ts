import { archiveOf } from "../../../src/job/archive-of.ts";
import type { ContainerDiagnostics } from "../../../src/job/container-diagnostics.ts";
import type { ContainerToldToEnd, HungReason, TimeLimitReason } from "../../../src/job/execution.ts";
import type { ChildExit } from "../state/events.ts";
import type { ContainerRecord, Ending, TaskRecord } from "../state/state.ts";
import { roleOf, type Step } from "../state/step.ts";
import { Bounds } from "../state/timers.ts";
import { durationWords, keyWords, memoryWords } from "../words/words.ts";
import { exitMeaning } from "./exit-status.ts";
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
  const why = exit.errorSummary === "" ? "" : `: ${exit.errorSummary}`;
  if (exit.outOfMemory) {
    const used = memoryWords(Math.round(exit.peakMemoryBytes / 2 ** 20));
    const limit = memoryWords(container.resource.memoryMiB);
    const summary = `${task.id} ran out of memory on ${container.host}: used ${used} of ${limit}`;
    const remedy = memoryRemedy(step, task, "physical", exit.peakMemoryBytes / 2 ** 20);
    return { ...base, strength: Strength.outside, class: "program", machine: false, summary, lines, remedy };
  }
  if (exit.failedToStart) {
    const summary = `${task.id} could not start its program on ${container.host}${why}`;
    // What its executor found wrong says itself how to mend it; a shell only complains.
    const remedy = why === "" ? commandRemedy(step, task, exit) : "";
    return { ...base, strength: Strength.exit, class: "program", machine: false, summary, lines, remedy };
  }
  if (exit.signal !== "") {
    const summary = `${task.id} was ended by ${exit.signal} on ${container.host}`;
    const failureClass = machine ? "infrastructure" : "program";
    const remedy = programRemedy(step, task, exit);
    return { ...base, strength: Strength.signal, class: failureClass, machine, summary, lines, remedy };
  }
  return {
    ...base,
    strength: exit.peerConnectionLost ? Strength.peerLost : Strength.exit,
    class: "program",
    machine: false,
    summary: `${task.id} exited ${exit.exitCode} on ${container.host}${why}`,
    lines,
    remedy: programRemedy(step, task, exit),
  };
}

/** A program that ended well while others of its gang still needed it. */
export function earlyExitEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  const ranFor = durationWords(Math.max(0, exit.atMs - task.startedAtMs));
  return {
    ...where(task, container),
    ...when(step, exit.atMs),
    source: "child",
    strength: Strength.earlyExit,
    class: "program",
    machine: false,
    summary: `${task.id} ended with 0 after ${ranFor} on ${container.host}, before the others`,
    exit: exitWords(exit),
    lines: linesOf(exit),
    remedy: "give every task the same number of steps, or let none end before all are done (a barrier)",
  };
}

/** Whether a program's bad end is that of its container, which YARN wanted back: the notice's signal ends most programs. */
export function isYield(step: Step, container: ContainerRecord): boolean {
  return container.wantedBackAtMs > 0 && step.nowMs - container.wantedBackAtMs <= Bounds.preemptionMs;
}

/** A program that ended at the notice of a preemption, and thereby gave way to it. */
export function yieldEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  return {
    ...childEnding(step, task, container, exit),
    source: "core",
    strength: Strength.outside,
    class: "infrastructure",
    machine: false,
    summary: `${task.id} ended at YARN's notice that it takes the container back (preemption) on ${container.host}`,
    remedy: "",
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
  const meaning = exitMeaning(exitStatus, words);
  const used = memory === undefined ? "" : `: used ${memory.used} of ${memory.limit}`;
  const why =
    resource === undefined
      ? (ownLastWord(stderr) ?? (meaning.machine ? ailment(step, container) : used))
      : `: ${words[0]}`;
  return {
    ...where(task, container),
    ...seen(container.brokenAtMs === 0 ? step.nowMs : container.brokenAtMs),
    source: "yarn",
    strength: Strength.outside,
    class: meaning.class,
    machine: meaning.machine,
    summary: `${task.id} ${meaning.words} on ${container.host}${why}`,
    exit: String(exitStatus),
    lines: memory === undefined ? (stderr.length > 0 ? stderr : words).slice(-20) : [],
    remedy: meaning.memory === undefined ? "" : memoryRemedy(step, task, meaning.memory, memory?.usedMiB ?? 0),
    ...(resource === undefined ? {} : { resource }),
  };
}

/** The launch script met a file of the job that it may not read, as the next one on any node will. */
function unreadableEnding(step: Step, task: TaskRecord, container: ContainerRecord, file: string): Ending {
  const archive = archiveOf(file, [...step.spec.resources, ...roleOf(step, task).resources]);
  const origin = archive === undefined ? "" : ` of ${archive.source}`;
  return {
    ...where(task, container),
    ...seen(container.brokenAtMs === 0 ? step.nowMs : container.brokenAtMs),
    source: "yarn",
    strength: Strength.outside,
    class: "program",
    machine: false,
    summary: `${task.id} could not be launched on ${container.host}: the node's user may not read ${file}${origin}, or what it links to`,
    exit: "1",
    lines: [],
    remedy:
      "pack the file itself, not a link into somebody's home: a virtual environment by python3 -m venv --copies or " +
      "conda-pack, from a Python that is installed where everybody may read it",
  };
}

/** What the container's node says is wrong with it: why YARN took all containers from it. */
function ailment({ state }: Step, { host }: ContainerRecord): string {
  const node = Object.values(state.nodes).find((candidate) => candidate.host === host);
  return node?.ailment === undefined ? "" : `: ${node.ailment}`;
}

/** What one of our programs said as it ended; its lines begin with the program's name. */
function ownLastWord(stderr: readonly string[]): string | undefined {
  const prefix = "tony-ts: ";
  const line = stderr.findLast((text) => text.startsWith(prefix));
  return line === undefined ? undefined : `: ${line.slice(prefix.length)}`;
}

/** An executor that can no longer be reached or does not do what it was told. */
export function linkEnding(step: Step, task: TaskRecord, container: ContainerRecord, words: string): Ending {
  return {
    ...where(task, container),
    ...seen(container.brokenAtMs === 0 ? step.nowMs : container.brokenAtMs),
    source: "link",
    strength: Strength.outside,
    class: "infrastructure",
    machine: true,
    summary: `${task.id} on ${container.host} ${words}`,
    exit: "",
    lines: [],
    remedy: "",
  };
}

/** An executor that was told to end, or ended by itself: who or what did it only YARN can say. */
export function leavingEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit?: ChildExit): Ending {
  const lines = exit === undefined ? [] : linesOf(exit);
  return { ...linkEnding(step, task, container, "was told to end by its node"), machine: false, lines };
}

/** What an executor says of a program that it stopped because its node told it to end. */
export const CONTAINER_TOLD_TO_END: ContainerToldToEnd = "the container was told to end (SIGTERM)";

/** What an executor says of a program that it stopped for the time it took. */
export function timeLimitReason({ spec }: Pick<Step, "spec">): TimeLimitReason {
  const limitMs = spec.timeouts.executionMs ?? 0;
  return `ran longer than ${limitMs / 1000} s (tony.task.executor.execution-timeout-ms)`;
}

/** A program that was stopped for the time it took. */
export function timeLimitEnding(step: Step, task: TaskRecord, container: ContainerRecord): Ending {
  const ending = linkEnding(step, task, container, timeLimitReason(step));
  return { ...ending, strength: Strength.exit, class: "program", machine: false, source: "core" };
}

const HUNG = "hung: no progress for ";

/** What a program that reports steps is stopped with when it reports none any more. */
export function hungReason({ spec }: Step, task: TaskRecord): HungReason {
  return `${HUNG}${durationWords(spec.timeouts.progressMs ?? 0)} at step ${task.step}`;
}

/** A step that was reported after the order to stop leaves the reason as it was. */
export function isHung({ stopReason }: ChildExit): boolean {
  return stopReason.startsWith(HUNG);
}

/** A program that hung; `exit` has where it stood, when its executor could end it. */
export function hungEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit?: ChildExit): Ending {
  const ending = linkEnding(step, task, container, exit?.stopReason ?? hungReason(step, task));
  const remedy = `if a step may take longer, raise ${keyWords(step, "tony.task.progress-timeout")}`;
  const known = exit === undefined ? {} : { exit: exitWords(exit), lines: linesOf(exit) };
  return { ...ending, strength: Strength.exit, class: "program", machine: false, source: "core", remedy, ...known };
}

/**
 * A program that its executor stopped by an order this attempt knows nothing of: the one before gave it, and died before the journal said
 * why. Whatever failed then its own executor still has to tell.
 */
export function orderedEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  const words = `was stopped by an earlier attempt of the ApplicationMaster: ${exit.stopReason}`;
  const ending = linkEnding(step, task, container, words);
  return { ...ending, strength: Strength.consequence, machine: false, source: "core", exit: exitWords(exit) };
}

/** A program that did not stop for our teardown in time; when nothing is heard of its executor either, that is what failed. */
export function overdueEnding(step: Step, task: TaskRecord, container: ContainerRecord): Ending {
  if (container.silent || container.link !== "up") {
    return linkEnding(step, task, container, "was not heard any more and did not stop in time");
  }
  const ending = linkEnding(step, task, container, "did not stop in time");
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
