import { constants } from "node:os";
import type { OutputStream } from "../../src/api/messages.ts";
import type { Elastic } from "../../src/frameworks/framework.ts";
import { missingModuleOf, saysAddressInUse } from "../../src/job/diagnosis/complaints.ts";
import { mainThread } from "../../src/job/diagnosis/python-stacks.ts";
import { type ChildExit, MOST_SUMMARY_BYTES, MOST_TRACEBACK_BYTES } from "../../src/job/execution.ts";
import type { OutputMark } from "../../src/job/output-index.ts";
import type { StopReason } from "../../src/job/reasons/stops.ts";
import { type MemoryEvidence, ranOutOfMemory } from "./memory-evidence.ts";
import { isPeerConnectionLost } from "./peer-loss.ts";
import { lastTraceback, type Traceback } from "./traceback.ts";

/** How a process ended, as the operating system reports it. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly atMs: number;
  /** Why it could not be started. */
  readonly startError?: StartError;
}

export interface StartError {
  readonly message: string;
  /** The operating system refused to start it; false: the program itself cannot be run. */
  readonly isSystems: boolean;
}

/** The ports of a task's program. */
interface ProgramPorts {
  /** Those that were held for it until it started. */
  readonly held: readonly number[];
  /** Those of them that another process has when every process of the program has ended. */
  readonly lost: readonly number[];
}

/** How much of a program's output had been written at what time. */
export interface WrittenOutput {
  /** The last marks. */
  readonly marks: readonly OutputMark[];
  /** Where each stream ends. */
  readonly ends: Readonly<Record<OutputStream, number>>;
}

export interface ExitEvidence {
  readonly end: ProcessEnd;
  /** When it was started. */
  readonly startedAtMs: number;
  /** Why the executor stopped it; absent when it did not. */
  readonly stopReason?: StopReason;
  /** The end of stderr before it was told to stop, and when that was written. */
  readonly lastWords?: { readonly text: string; readonly writtenAtMs: number | undefined };
  /** Its stacks were requested before it was stopped. */
  readonly stacksAsked?: boolean;
  /** The last part of what this run wrote. */
  readonly stdout: string;
  readonly stderr: string;
  /** How both grew; absent: not observed. */
  readonly written?: WrittenOutput;
  /** How many last lines are reported. */
  readonly lines: number;
  readonly ports: ProgramPorts;
  /** The last lines by which its framework says that it missed the others; absent: it has none. */
  readonly missed?: Elastic["missed"];
  readonly memory: MemoryEvidence;
  readonly peakMemoryBytes: number;
}

/** The shell that runs a program's command. */
export const SHELL = "/bin/bash";
/** Exit codes of bash for a command that is not executable, or does not exist (bash(1), EXIT STATUS). */
const UNSTARTABLE: readonly number[] = [126, 127];
/** A shell that ran for longer than this had started something. */
const LONGEST_START_MS = 5_000;
/** A shell reports a child that died by signal n as 128 + n. */
const signalBase = 128;
const deadlySignals = Object.entries(constants.signals).filter(([name]) =>
  /^SIG(HUP|INT|QUIT|ILL|ABRT|BUS|FPE|KILL|SEGV|PIPE|TERM|XCPU)$/.test(name),
);
const LONGEST_LINE = 2000;
/** Four or five digits that may be a port. */
const NUMBERS = /(?<![\w.])\d{4,5}(?![\w])/g;
/** Limits that together fit into a message (MOST_REQUEST_BYTES): a larger report would never arrive. */
const MOST_LINES_BYTES = 98_304;

/** How a program ended, from its exit, its output and the samples of its memory. */
export function reportExit(evidence: ExitEvidence): ChildExit {
  const { end, stopReason, memory } = evidence;
  const signal = end.signal ?? signalOf(end.exitCode ?? 0);
  const exitCode = end.exitCode ?? (signal === "" ? 1 : signalBase + constants.signals[signal]);
  const failed = stopReason === undefined && exitCode !== 0;
  const traceback = failed ? uncaughtTraceback(exitCode, signal, evidence.stderr) : failedBeforeStop(evidence);
  const isCause = traceback !== undefined && (!failed || (exitCode === 1 && signal === "" && traceback.isLast));
  const lastLines = end.startError === undefined ? endOfOutput(evidence) : [];
  const complaint = failed && exitCode === 1 ? missingModuleOf(lastLines) : undefined;
  const exception = traceback?.text.slice(traceback.text.indexOf(traceback.summary));
  const errorSummary = startOf(
    end.startError?.message ?? (isCause ? traceback.summary : (complaint?.summary ?? "")),
    MOST_SUMMARY_BYTES,
  );
  return {
    exitCode,
    signal,
    signalOfChild: end.signal === null && signal !== "",
    atMs: end.atMs,
    ...(stopReason && { stopReason }),
    refusedBySystem: failed && end.startError?.isSystems === true,
    failedToStart: failed && (end.startError !== undefined || isShellsRefusal(exitCode, evidence)),
    lastLines: lastOf(lastLines, MOST_LINES_BYTES),
    traceback: endOf(
      (evidence.stacksAsked ? mainThread(evidence.stderr)?.join("\n") : traceback?.text) ?? "",
      MOST_TRACEBACK_BYTES,
    ),
    errorSummary,
    ...(isCause ? causeFacts(traceback, evidence.lastWords?.writtenAtMs) : {}),
    ...(traceback !== undefined && !isCause && signal === ""
      ? { saidBefore: startOf(traceback.summary, MOST_SUMMARY_BYTES) }
      : {}),
    ...(failed && evidence.missed && missedMeeting(evidence.missed, traceback?.summary ?? errorSummary, lastLines)),
    portTaken: failed && isPortTaken(exception, lastLines, evidence.ports),
    peerConnectionLost: (failed || exception !== undefined) && isPeerConnectionLost(exception, lastLines),
    outOfMemory: failed && ranOutOfMemory(signal === "SIGKILL", memory),
    peakMemoryBytes: evidence.peakMemoryBytes,
  };
}

/** What is known of the exception that a program ended by. */
function causeFacts({ origin }: Traceback, failedAtMs: number | undefined): Partial<ChildExit> {
  return {
    ...(origin && { errorOrigin: { ...origin, error: startOf(origin.error, MOST_SUMMARY_BYTES) } }),
    ...(failedAtMs === undefined ? {} : { failedAtMs }),
  };
}

/**
 * A program that is stopped because of another's failure may have failed before it, and still be ending: in an exit handler, or while a
 * writer flushes.
 */
function failedBeforeStop({ stopReason, lastWords }: ExitEvidence): Traceback | undefined {
  const last = stopReason?.code === "generation-ended" ? lastTraceback(lastWords?.text ?? "") : undefined;
  return last?.isLast ? last : undefined;
}

/** By its exception, or by its last line. */
function missedMeeting(
  missed: Elastic["missed"],
  errorSummary: string,
  lastLines: readonly string[],
): Pick<ChildExit, "missedMeeting"> {
  const said = `${errorSummary}\n${lastLines.at(-1) ?? ""}`;
  if (missed.closed.test(said)) return { missedMeeting: "closed" };
  return missed.empty.test(said) ? { missedMeeting: "empty" } : {};
}

/** For a program that could not be started, or was stopped before. */
export interface WhyNeverRan {
  readonly startError?: StartError;
  readonly stopReason?: StopReason;
}

/** The report for a program that never ran. */
export function reportNeverRan({ startError, stopReason }: WhyNeverRan, atMs: number): ChildExit {
  const how = startError === undefined ? ({ signal: "SIGTERM" } as const) : { signal: null, startError };
  return reportExit({
    end: { exitCode: null, atMs, ...how },
    startedAtMs: atMs,
    ...(stopReason && { stopReason }),
    stdout: "",
    stderr: "",
    lines: 0,
    ports: { held: [], lost: [] },
    memory: { killsBefore: undefined, killsAfter: undefined, lastSampleBytes: 0, limitBytes: undefined },
    peakMemoryBytes: 0,
  });
}

/**
 * The traceback that a program ended by. Python exits with 1 on an uncaught exception (Py_RunMain); a program that exits otherwise, and
 * wrote on after its last traceback, may have caught that exception and failed for another reason.
 */
function uncaughtTraceback(exitCode: number, signal: string, stderr: string): Traceback | undefined {
  const last = lastTraceback(stderr);
  const isEnd = last !== undefined && stderr.trimEnd().endsWith(last.summary);
  return exitCode === 1 || signal !== "" || isEnd ? last : undefined;
}

/**
 * Whether the shell could not run its command. A program may exit with the same codes, and a later command of a script may be missing: so
 * the output must be nothing but the shell's own error, and the exit must come at once.
 */
function isShellsRefusal(exitCode: number, { end, startedAtMs, stdout, stderr }: ExitEvidence): boolean {
  if (!UNSTARTABLE.includes(exitCode) || end.atMs - startedAtMs > LONGEST_START_MS) return false;
  const said = lastLinesOf(stderr);
  return stdout.trim() === "" && said.length > 0 && said.every((line) => line.startsWith(`${SHELL}: `));
}

function signalOf(exitCode: number): NodeJS.Signals | "" {
  const found = deadlySignals.find(([, number]) => exitCode === signalBase + number)?.[0];
  return isSignal(found) ? found : "";
}

function isSignal(name: string | undefined): name is NodeJS.Signals {
  return name !== undefined && name in constants.signals;
}

/** As many of the last lines as fit. */
function lastOf(lines: readonly string[], mostBytes: number): string[] {
  let bytes = 0;
  const fitting = lines.findLastIndex((line) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes > mostBytes;
  });
  return lines.slice(fitting + 1);
}

/** A UTF-16 code unit takes at most three bytes in UTF-8. */
function startOf(text: string, mostBytes: number): string {
  return Buffer.byteLength(text) <= mostBytes ? text : text.slice(0, Math.floor(mostBytes / 3));
}

function endOf(text: string, mostBytes: number): string {
  return Buffer.byteLength(text) <= mostBytes ? text : text.slice(-Math.floor(mostBytes / 3));
}

/**
 * The last lines of stderr, and as many of stdout's as there is room for, in the order in which they were written: between two marks stdout
 * comes first, as in `tony-ts logs`.
 */
function endOfOutput({ stdout, stderr, lines, written = UNMARKED }: ExitEvidence): string[] {
  const errors = lastOfThem(placedLines(stderr, written.ends.stderr), lines);
  const others = lastOfThem(placedLines(stdout, written.ends.stdout), lines - errors.length);
  const markOf = (stream: "stdoutBytes" | "stderrBytes", { end }: PlacedLine) => {
    const index = written.marks.findIndex((mark) => mark[stream] >= end);
    return index < 0 ? written.marks.length : index;
  };
  return [
    ...others.map((line) => ({ line, mark: markOf("stdoutBytes", line) })),
    ...errors.map((line) => ({ line, mark: markOf("stderrBytes", line) })),
  ]
    .sort((a, b) => a.mark - b.mark)
    .map(({ line }) => line.text);
}

function lastOfThem<T>(items: readonly T[], count: number): readonly T[] {
  return count <= 0 ? [] : items.slice(-count);
}

const UNMARKED: WrittenOutput = { marks: [], ends: { stdout: 0, stderr: 0 } };

interface PlacedLine {
  readonly text: string;
  /** Offset in its stream. */
  readonly end: number;
}

/** Lines that are not blank. @param streamEnd where the text ends */
function placedLines(text: string, streamEnd: number): PlacedLine[] {
  let end = streamEnd - Buffer.byteLength(text) - 1;
  return text.split("\n").flatMap((line) => {
    end += Buffer.byteLength(line) + 1;
    const shown = afterCarriageReturns(line);
    return shown.trim() === "" ? [] : [{ text: shown.slice(0, LONGEST_LINE), end: Math.min(end + 1, streamEnd) }];
  });
}

function lastLinesOf(text: string): string[] {
  return placedLines(text, 0).map((line) => line.text);
}

/** A progress bar rewrites its line after each carriage return: the last version is what people saw. */
function afterCarriageReturns(line: string): string {
  return line.split("\r").findLast((part) => part !== "") ?? "";
}

/**
 * Whether a program failed because it could not open a port that was held for it: another program was quicker. With a traceback only its
 * exception counts. An error that names only other ports is about one that the program chose itself; an error that names none, as Python's
 * own, counts only if another process really has such a port.
 */
function isPortTaken(
  exception: string | undefined,
  lastLines: readonly string[],
  { held, lost }: ProgramPorts,
): boolean {
  const said = (exception?.split("\n") ?? lastLines).filter(saysAddressInUse);
  const named = said.flatMap((line) => line.match(NUMBERS) ?? []).map(Number);
  return said.length > 0 && (named.length === 0 ? lost.length > 0 : named.some((port) => held.includes(port)));
}
