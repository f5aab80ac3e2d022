import type { EndingFacts, EndingReason } from "../../../src/job/reasons/endings.ts";
import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import { memoryWords, settingOf } from "../../../src/job/reasons/words.ts";
import { nameWithinTrial } from "../../../src/job/search/trial-tasks.ts";
import { groupPlaces, placeWords } from "../../../src/job/stacks.ts";
import { isHeard } from "../containers/containers.ts";
import { isLeaving } from "../containers/kept-off.ts";
import { Bounds } from "../state/bounds.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { gangOf, roleOf, type Step, tasksOf } from "../state/step.ts";
import { commandRemedy, endedByException, memoryRemedy, missingScriptOf, programRemedy } from "./remedies.ts";

/**
 * How near an ending is to the root of a failure. When one task dies its peers lose their connections and exit too, often before YARN says
 * what happened to the first.
 */
export const Strength = {
  /** YARN's completion status, an infrastructure failure, out of memory, or a stream that broke without goodbye. */
  outside: 6,
  signal: 5,
  exit: 4,
  /** An exit with 0 that left others alone: nearer to the root than the connection they lost, but no failure of its own. */
  earlyExit: 3,
  /** Its node was cut off and came back: likewise no failure of its own. */
  cutOff: 2,
  peerLost: 1,
  /** Followed from an order of ours: not the root once anything else is known, and charged to no budget. */
  consequence: 0,
} as const;

/** What followed from our own order costs nothing: whoever gave the order has charged for its cause, or is still to learn it. */
export function isCounted({ strength }: Ending): boolean {
  return strength > Strength.consequence;
}

/** Whose ending it is. */
export function where(task: TaskRecord, container: ContainerRecord) {
  return {
    task: task.id,
    containerId: container.id,
    host: container.host,
    generation: container.generation,
  };
}

/**
 * An exit is reported at once, or as soon as its stream is back. If its machine's clock differs by more than that, the clock is wrong: the
 * time is shown, but must not decide which of two exits came first.
 */
export function when(step: Step, atMs: number): Pick<Ending, "atMs" | "seenAtMs"> {
  return { atMs, seenAtMs: Math.min(step.nowMs, Math.max(step.nowMs - Bounds.reconnectMs, atMs)) };
}

/** The AM saw it itself. */
export function seen(atMs: number): Pick<Ending, "atMs" | "seenAtMs"> {
  return { atMs, seenAtMs: atMs };
}

/** Its container or executor is gone: since its stream broke, if it did. */
export function whenGone(step: Step, { brokenAtMs }: ContainerRecord): Pick<Ending, "atMs" | "seenAtMs"> {
  return seen(brokenAtMs === 0 ? step.nowMs : brokenAtMs);
}

/** How many lines that a program wrote after its last traceback are shown at most. */
const MOST_LINES_AFTER = 3;

/** What its program wrote last, including the lines after its traceback, which may give the better reason. */
export function linesOf(exit: ChildExit): readonly string[] {
  return exit.traceback === "" ? exit.lastLines : [...exit.traceback.split("\n"), ...linesAfterTraceback(exit)];
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

/** An executor that can no longer be reached or does not obey an order. */
export function linkEnding(step: Step, task: TaskRecord, container: ContainerRecord, facts: EndingFacts): Ending {
  return {
    ...where(task, container),
    ...whenGone(step, container),
    source: "link",
    strength: Strength.outside,
    class: "infrastructure",
    machine: true,
    reason: { ...facts, task: task.id, host: container.host },
    exit: "",
    lines: [],
  };
}

/**
 * An executor that is no longer heard: ended for the reason in `facts`, or gone with its node where that is being taken out of the
 * cluster.
 */
export function unheardEnding(step: Step, task: TaskRecord, container: ContainerRecord, facts: EndingFacts): Ending {
  if (isLeaving(step, container.host)) {
    return { ...linkEnding(step, task, container, { code: "gone-with-node" }), machine: false };
  }
  return linkEnding(step, task, container, facts);
}

/** An executor that was told to end, or ended by itself: only YARN can say who or what ended it. */
export function terminationEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit?: ChildExit): Ending {
  const lines = exit === undefined ? [] : linesOf(exit);
  return { ...linkEnding(step, task, container, { code: "told-to-end" }), machine: false, lines };
}

/** A program that was stopped because it ran too long. */
export function timeLimitEnding(step: Step, task: TaskRecord, container: ContainerRecord): Ending {
  const limitMs = step.spec.timeouts.executionMs ?? 0;
  const setting = settingOf(step.spec, "tony.task.executor.execution-timeout-ms");
  const ending = linkEnding(step, task, container, { code: "ran-too-long", limitMs, setting });
  return { ...ending, strength: Strength.exit, class: "program", machine: false, source: "core" };
}

/**
 * A program that hung. `exit` has where it stood, if its executor could end it, and the step at which the order to stop was given: a step
 * reported afterwards changes nothing.
 */
export function hungEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit?: ChildExit): Ending {
  const atStep = exit?.stopReason?.code === "hung" ? exit.stopReason.step : task.step;
  const noProgressMs = step.spec.timeouts.progressMs ?? 0;
  const standing = standingOf(step, task);
  const { odd } = standing ?? {};
  const ending = linkEnding(step, task, container, {
    ...{ code: "program-hung", noProgressMs, step: atStep },
    ...(standing && { places: standing.places }),
    ...(odd && { holder: `${odd.id} on ${odd.host}` }),
  });
  const remedy: Remedy = {
    code: "raise-progress-timeout",
    stacks: standing === undefined ? exit !== undefined && exit.traceback !== "" : standing.lines.length > 0,
    setting: settingOf(step.spec, "tony.task.progress-timeout"),
  };
  const known = exit === undefined ? {} : { exit: exitWords(exit), lines: linesOf(exit) };
  const said = { ...ending, remedy, ...known, strength: Strength.exit, class: "program", machine: false } as const;
  if (standing === undefined) {
    return { ...said, source: "core" };
  }
  const named = odd === undefined ? {} : { task: odd.id, host: odd.host, containerId: odd.containerId };
  return { ...said, source: "core", lines: standing.lines, named };
}

/**
 * A task that was stopped by an order unknown to this attempt: the previous attempt gave it, and died before the journal said why. The
 * executor of whatever failed then still has to report it.
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

/** A program that did not stop for the teardown in time; when its executor is not heard either, that is what failed. */
export function overdueEnding(step: Step, task: TaskRecord, container: ContainerRecord): Ending {
  if (!isHeard(container)) {
    return unheardEnding(step, task, container, { code: "silent-and-not-stopped" });
  }
  const ending = linkEnding(step, task, container, { code: "not-stopped" });
  return { ...ending, strength: Strength.consequence, machine: false, source: "core" };
}

/** Where the tasks of a gang that makes no progress stood. */
export interface Standing {
  /** `2 of 3 in all_reduce train.py:27`, `worker:2 at train.py:26` */
  readonly places: readonly string[];
  /** The only task that does not wait for the others: they wait for it. Undefined: that is not certain. */
  readonly odd?: TaskRecord;
  /** The last calls of that task, else those of the task that was asked first. */
  readonly lines: readonly string[];
}

/** Undefined: nobody was asked, or nobody answered. */
export function standingOf(step: Step, hung: TaskRecord): Standing | undefined {
  const asked = tasksOf(step, gangOf(step, hung)).filter(({ place }) => place?.generation === hung.generation);
  const known = asked.flatMap((task) => (task.place?.where ? [{ task, place: task.place }] : []));
  if (known.length === 0) {
    return undefined;
  }
  const groups = groupPlaces(known.map(({ task, place }) => [nameWithinTrial(step.spec, task.id), place.where]));
  const silent = asked.length - known.length;
  const unknown = silent === 0 ? [] : [`not known of ${silent}`];
  const others = known.filter(({ place }) => !place.isExchange);
  const [first] = others;
  const isSure = others.length === 1 && silent === 0 && known.length > 1 && groups.length === 2;
  const odd = isSure ? first : undefined;
  return {
    places: [...groups.map((group) => placeWords(group, asked.length)), ...unknown],
    ...(odd && { odd: odd.task }),
    lines: odd?.place.lines ?? [],
  };
}

/** The time of its exception, which may be well before its process ended; the interval between them is taken from one clock. */
function whenFailed(step: Step, { atMs, failedAtMs = atMs }: ChildExit): Pick<Ending, "atMs" | "seenAtMs"> {
  return { atMs, seenAtMs: when(step, atMs).seenAtMs - Math.max(0, atMs - failedAtMs) };
}

const ORIGINS = { cause: "it followed from", context: "it came while handling", child: "its child said" } as const;

/** The exception that a program ended by, with the one it followed from. */
function errorWords({ errorSummary, errorOrigin }: ChildExit): string {
  return errorOrigin === undefined
    ? errorSummary
    : `${errorSummary} (${ORIGINS[errorOrigin.how]} ${errorOrigin.error})`;
}

/** Signals by which a machine shows itself faulty. */
const MACHINE_SIGNALS: ReadonlySet<string> = new Set(["SIGBUS", "SIGILL"]);

/** A program that ended badly by itself, as its executor saw it. */
export function childEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  const machine = MACHINE_SIGNALS.has(exit.signal);
  const startFailure = startFailureOf(task, exit);
  const base = {
    ...where(task, container),
    ...whenFailed(step, exit),
    source: "child",
    exit: exitWords(exit),
    ...(startFailure === undefined ? {} : { startFailure }),
  } as const;
  const lines = linesOf(exit);
  const at = { task: task.id, host: container.host };
  const error = exit.errorSummary === "" ? {} : { error: errorWords(exit) };
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
    reason: {
      ...{ code: "program-exited", ...at, exitCode: exit.exitCode, ...error },
      ...(exit.saidBefore === undefined ? {} : { before: exit.saidBefore }),
    },
    lines,
    remedy: programRemedy(step, task, exit),
  };
}

/**
 * A program that had failed before it was stopped, while its process was still running: in an exit handler, for instance. Undefined: it
 * had not, as far as is known.
 */
export function failedBeforeStop(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  exit: ChildExit,
): Ending | undefined {
  if (exit.stopReason?.code !== "generation-ended" || exit.errorSummary === "" || exit.peerConnectionLost) {
    return undefined;
  }
  const own = childEnding(step, task, container, exit);
  const { host } = container;
  return {
    ...own,
    source: "core",
    strength: Strength.exit,
    reason: { code: "program-failed-before-stop", task: task.id, host, error: errorWords(exit) },
    remedy: programRemedy(step, task, exit),
  };
}

/** Whether a program ended badly because its container is to be taken back: the notice's signal ends most programs. */
export function isYield(step: Step, { notice }: ContainerRecord): boolean {
  return (
    notice?.cause === "decommissioning" || (notice !== undefined && step.nowMs - notice.atMs <= Bounds.preemptionMs)
  );
}

/** A program that ended at such a notice, and thereby gave way, unless it lost a peer for a reason nearer to the root. */
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

/** A program that has run for longer is past its start: by then even large frameworks have been read from a slow disk. */
const LONGEST_START_MS = 60_000;
/** Errors in a program's own files and its Python installation: a restart changes none of them. */
const LASTING = /^(ModuleNotFoundError|ImportError|SyntaxError|IndentationError|TabError)\b/;

/** The failure of a program at its start, if the next start will meet it again; equal words mean the same failure. */
export function startFailureOf(task: TaskRecord, exit: ChildExit): string | undefined {
  if (exit.failedToStart) {
    return exit.refusedBySystem ? undefined : exit.errorSummary || exit.lastLines.at(-1);
  }
  if (task.step > 0 || exit.atMs - task.startedAtMs > LONGEST_START_MS) {
    return undefined;
  }
  if (LASTING.test(exit.errorSummary) && endedByException(exit)) {
    return exit.errorSummary;
  }
  const script = missingScriptOf(exit);
  return script === undefined ? undefined : `no ${script}`;
}
