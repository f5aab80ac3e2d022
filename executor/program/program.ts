import { type ChildProcess, spawn } from "node:child_process";
import { within } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { StopReason } from "../../src/job/reasons/stops.ts";
import type { ProcessStacks } from "../../src/job/stacks.ts";
import { takeStacks } from "../monitoring/python-stacks.ts";
import { requestStacks } from "../monitoring/stack-dump.ts";
import { type OutputFiles, type OutputLogs, openOutputFiles } from "../output/output-files.ts";
import { readProcFs } from "../processes/proc-fs.ts";
import { ProcessTree } from "../processes/process-tree.ts";
import { type ProcessEnd, SHELL } from "./exit-report.ts";

export interface ProgramStartOptions {
  /** Run by `bash -c` in the working directory. */
  readonly command: string;
  /** One for each process that runs the command. */
  readonly environments: readonly [ProcessEnvironment, ...ProcessEnvironment[]];
  /** `NAME=value`, part of every environment. */
  readonly marker: string;
  readonly logs: OutputLogs;
  readonly nowMs: () => number;
}

export type ProcessEnvironment = Readonly<Record<string, string>>;

/** How long Python processes have to write their stacks. */
const STACKS_MS = 1_000;
/** How long all tasks have to say where they stand before one of them is stopped. */
const PLACES_MS = 500;

/** How a program is to be stopped. */
export interface StopOrder {
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly reason: StopReason;
  /** The NodeManager has sent SIGTERM to the container's process group. */
  readonly groupTold?: boolean;
}

/** A stop under way; a later order may shorten it. */
interface Stop {
  /** Absent: the program has ended, and only the processes that it left are stopped. */
  readonly reason?: StopReason;
  readonly startedAtMs: number;
  graceMs: number;
  /** What the program had written, and when, before it knew of the stop. */
  readonly stderr?: LastWords;
}

/** The end of what a program wrote to stderr. */
export interface LastWords {
  readonly text: string;
  /** Undefined: that is not known. */
  readonly writtenAtMs: number | undefined;
}

/** The longest grace period of processes that a program left behind. */
export const LEFTOVER_GRACE_MS = 2_000;

/**
 * One run of a task's program. It stays in the container's process group, so that the NodeManager's kill reaches it, and writes its output
 * directly to files, so that it can go on without the executor.
 */
export class Program {
  readonly startedAtMs: number;
  readonly output: OutputFiles;
  /** The end of the first of its processes that failed, else of the last one. */
  readonly ended: Promise<ProcessEnd>;
  readonly tree: ProcessTree;
  readonly #child: ChildProcess;
  readonly #nowMs: () => number;
  #stop: Stop | undefined;
  #isSuspended = false;
  #cleared: Promise<boolean> | undefined;
  #stacksAsked = false;
  #taken: Promise<unknown> = Promise.resolve();
  readonly #procFs = readProcFs();

  constructor({ command, environments, marker, logs, nowMs }: ProgramStartOptions) {
    this.#nowMs = nowMs;
    this.output = openOutputFiles(logs);
    const { stdout, stderr } = this.output;
    const earlier = this.#procFs.pids();
    const start = (env: ProcessEnvironment) =>
      spawn(SHELL, ["-c", command], { env, stdio: ["ignore", stdout, stderr] });
    const [first, ...others] = environments;
    this.#child = start(first);
    const children = [this.#child, ...others.map(start)];
    this.startedAtMs = nowMs();
    this.output.close();
    this.ended = firstFailure(children.map((child) => this.#awaitEnd(child)));
    this.tree = new ProcessTree({
      root: this.pid,
      earlier,
      marker,
      procFs: this.#procFs,
      kill: (pid, signal) => process.kill(pid, signal),
    });
  }

  /** 0 when it could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Why it was stopped; undefined while it was not. */
  get stopReason(): StopReason | undefined {
    return this.#stop?.reason;
  }

  /** Why it is being stopped, and when it gets SIGKILL; undefined: it is not. */
  get stopping(): { readonly reason: StopReason; readonly killedAtMs: number } | undefined {
    if (this.#stop?.reason === undefined) return undefined;
    const { reason, startedAtMs, graceMs } = this.#stop;
    return { reason, killedAtMs: startedAtMs + graceMs };
  }

  /** Suspends it until `resume`. A program that is being stopped, or that is stopped meanwhile, gets no grace period. */
  suspend(): void {
    this.#isSuspended = true;
    if (this.#stop !== undefined) this.#shorten(this.#stop, this.#nowMs());
    if (this.#cleared === undefined) this.tree.suspend();
  }

  resume(): void {
    this.#isSuspended = false;
    this.tree.resume();
  }

  /**
   * Ends every process: SIGTERM, the grace period, SIGKILL. Resolves with true when none is left, with false when one survives. A second
   * order may shorten the grace period, but never lengthens it.
   */
  stop({ reason, groupTold = false, ...order }: StopOrder): Promise<boolean> {
    const startedAtMs = this.#nowMs();
    const graceMs = this.#isSuspended ? 0 : order.graceMs;
    if (this.#stop === undefined) this.#stop = { reason, startedAtMs, graceMs, stderr: this.lastWords() };
    else this.#shorten(this.#stop, startedAtMs + graceMs);
    return this.#clear(groupTold ? this.#procFs.stat(process.pid)?.group : undefined);
  }

  /** Has each Python process write where it stands; the program goes on. One request at a time. */
  stacks(workFolder: string): Promise<readonly ProcessStacks[]> {
    const kill = (pid: number, signal: number) => process.kill(pid, signal);
    const take = () => takeStacks({ members: this.tree.members(), procFs: this.#procFs, workFolder, kill });
    const taken = this.#taken.then(take, take);
    this.#taken = taken;
    return taken;
  }

  /** Has each Python process write its stacks to stderr. That ends some of them, so the reason of the stop that follows is kept now. */
  async dumpStacks(reason: StopReason): Promise<void> {
    this.#stop ??= { reason, startedAtMs: this.#nowMs(), graceMs: Number.POSITIVE_INFINITY };
    // This process's report of where it stands, and the others', come first: once it has ended, the others leave the place where they waited
    // for it.
    await within(PLACES_MS, this.ended);
    this.#stacksAsked = requestStacks(this.tree.members(), this.#procFs, (pid, signal) => process.kill(pid, signal));
    if (this.#stacksAsked) await within(STACKS_MS, this.ended);
  }

  /** Its state before it was told to stop, if it was. */
  get stderrAtStop(): LastWords | undefined {
    return this.#stop?.stderr;
  }

  lastWords(): LastWords {
    return { text: this.output.tail("stderr"), writtenAtMs: this.output.writtenAtMs("stderr") };
  }

  /** Whether any process was asked for its stacks. */
  get stacksAsked(): boolean {
    return this.#stacksAsked;
  }

  /** The names of what its remaining processes run. */
  processNames(): readonly string[] {
    return this.tree.members().map(({ pid }) => this.#procFs.executable(pid));
  }

  /** Ends the processes that its first one left in the same way. */
  clearLeftovers(graceMs: number): Promise<boolean> {
    const startedAtMs = this.#nowMs();
    const leftMs = this.#isSuspended ? 0 : graceMs;
    this.#stop ??= { startedAtMs, graceMs: leftMs };
    // It ended when it was asked for its stacks, before the order that has a grace period.
    if (this.#stop.graceMs === Number.POSITIVE_INFINITY) this.#shorten(this.#stop, startedAtMs + leftMs);
    return this.#clear();
  }

  #shorten(stop: Stop, atMs: number): void {
    stop.graceMs = Math.min(stop.graceMs, Math.max(0, atMs - stop.startedAtMs));
  }

  #clear(toldGroup?: number): Promise<boolean> {
    this.#cleared ??= this.tree.end(() => this.#stop?.graceMs ?? 0, this.#nowMs, toldGroup);
    return this.#cleared;
  }

  #awaitEnd(child: ChildProcess): Promise<ProcessEnd> {
    return new Promise((resolve) => {
      child.once("error", (error) => {
        const atMs = this.#nowMs();
        if (child.pid === undefined) {
          resolve({
            exitCode: null,
            signal: null,
            atMs,
            startError: { message: errorMessage(error), isSystems: true },
          });
        }
      });
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal, atMs: this.#nowMs() }));
    });
  }
}

/** Processes that train together cannot do without one of them: what the others do after its failure is only a consequence. */
function firstFailure(ends: readonly Promise<ProcessEnd>[]): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    let running = ends.length;
    for (const one of ends) {
      void one.then((end) => {
        running -= 1;
        if (end.exitCode !== 0 || running === 0) resolve(end);
      });
    }
  });
}
