import type { RequestListener } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { ExecutorReport, Metrics } from "../../src/api/messages.ts";
import type { Hosts } from "../../src/frameworks/framework.ts";
import { frameworks } from "../../src/frameworks/frameworks.ts";
import type { ProgramStart } from "../../src/frameworks/task-program.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { ChildExit, ChildReport, Notice } from "../../src/job/execution.ts";
import { type StopReason, stopWords } from "../../src/job/reasons/stops.ts";
import type { ProcessStacks } from "../../src/job/stacks.ts";
import type { ExecutorJob } from "../../src/job/stored/executor-job.ts";
import { replaceFile } from "../../src/local-files.ts";
import type { Log } from "../../src/log.ts";
import { logLimitsOf } from "../../src/rotating-log.ts";
import { type Advice, adviceOf } from "../api/advice.ts";
import type { TaskApi } from "../api/task-api.ts";
import { gpuSamplerOf } from "../monitoring/gpus.ts";
import type { MemorySampler } from "../monitoring/memory-sampler.ts";
import { ProgressFile } from "../monitoring/progress-file.ts";
import type { OutputLogs } from "../output/output-files.ts";
import { OutputIndex } from "../output/output-index.ts";
import { reportNeverRan, type WhyNeverRan } from "../program/exit-report.ts";
import { misnamedBy } from "../program/misnamed.ts";
import {
  LEFTOVER_GRACE_MS,
  type ProcessEnvironment,
  Program,
  type ProgramStartOptions,
  type StopOrder,
} from "../program/program.ts";
import { ProgramRun } from "../program/program-run.ts";
import type { RemoteShell } from "../remote-shell/remote-shell.ts";
import type { ExecutorSettings } from "../settings.ts";
import { GenerationPorts, type PortNumbers } from "./generation-ports.ts";

export interface GenerationOptions {
  readonly number: number;
  readonly settings: ExecutorSettings;
  readonly logs: OutputLogs;
  readonly sampler: MemorySampler;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly report: (report: ExecutorReport, replaces?: string) => void;
  /** How long the program was suspended, as far as the ApplicationMaster has not been told. */
  readonly suspendedMs: () => number;
}

/** What one start of the program needs. */
export interface ProgramPlan {
  readonly job: ExecutorJob;
  readonly command: string;
  /** Why it must not be started. */
  readonly unusable?: string;
  /** The command is run once with each. */
  readonly environments: ProgramStartOptions["environments"];
  /** `NAME=value`, part of every environment. */
  readonly marker: string;
  readonly progressFile: string;
  readonly noticeFile: string;
  /** What is served at the task's port while the program runs. */
  readonly serve?: RequestListener;
  /** Tasks in which it may run commands, and the folder of the container for what that needs. */
  readonly hosts?: Hosts;
  readonly hostsFolder: string;
  /** Runs them until the program has ended. */
  readonly remoteShell?: Pick<RemoteShell, "close">;
  /** What it is told. */
  readonly start: ProgramStart;
  /** Answers its calls until it has ended. */
  readonly api?: Pick<TaskApi, "close">;
  /** Keeps, after a success, what the program tells the others; read from the end of its output. */
  readonly keepParameters?: (output: string) => Promise<void>;
}

/** How many names of processes that a command leaves behind are reported. */
const MOST_NAMED = 3;

/**
 * An executor's part in one generation: it holds ports, runs the program at most once, and remembers how it ended.
 *
 *     preparing → prepared → started → exited
 */
export class Generation {
  readonly number: number;
  readonly #options: GenerationOptions;
  #ports: GenerationPorts | undefined;
  #started = false;
  #stopBeforeStart: StopReason | undefined;
  #program: Program | undefined;
  #run: ProgramRun | undefined;
  #exit: ChildExit | undefined;
  #whenExited: Promise<void> = Promise.resolve();
  #environment: ProcessEnvironment | undefined;
  #noticeFile: string | undefined;
  #notice: Notice | undefined;
  #hasSaved = false;
  #leftovers = Promise.resolve("");
  #told: ProgramStart | undefined;
  /** The ApplicationMaster has recorded the exit. */
  exitAcknowledged = false;

  constructor(options: GenerationOptions) {
    this.number = options.number;
    this.#options = options;
  }

  /** Whether it can be registered. */
  get prepared(): boolean {
    return this.#ports !== undefined;
  }

  get ports(): PortNumbers {
    return this.#ports?.numbers ?? { task: 0, tensorBoard: 0, named: {} };
  }

  get started(): boolean {
    return this.#started;
  }

  /** An order to stop came before the program was started. */
  get isStopped(): boolean {
    return this.#stopBeforeStart !== undefined;
  }

  get exit(): ChildExit | undefined {
    return this.#exit;
  }

  /**
   * Resolves once the processes that the program left have ended, or cannot be ended, with a description of them for the report; empty:
   * none.
   */
  get leftovers(): Promise<string> {
    return this.#leftovers;
  }

  get metrics(): Metrics | undefined {
    return this.#run?.metrics;
  }

  /** The environment with which the running program was started; undefined: none runs. */
  get environment(): ProcessEnvironment | undefined {
    return this.#exit === undefined && this.#program !== undefined ? this.#environment : undefined;
  }

  /** What a registration says of the program. */
  get child(): ChildReport {
    const suspendedMs = this.#options.suspendedMs();
    if (this.#exit !== undefined) return { state: "exited", exit: this.#exit, suspendedMs };
    if (this.#program === undefined) return { state: "none" };
    const { pid, startedAtMs } = this.#program;
    return { state: "running", pid, startedAtMs, suspendedMs };
  }

  /** Opens the ports. Throws as holdPort and holdReusablePort. */
  async prepare(): Promise<void> {
    this.#ports = await GenerationPorts.hold(this.#options.settings, this.#options.random);
  }

  /** Starts the program: once. Resolves when its start is reported, or its failure to start. */
  async start(plan: ProgramPlan): Promise<void> {
    this.#started = true;
    this.#told = plan.start;
    if (plan.serve !== undefined) this.#ports?.serveTask(plan.serve);
    await this.#ports?.releaseToProgram();
    if (this.#stopBeforeStart !== undefined) this.#neverRan({ stopReason: this.#stopBeforeStart });
    else if (plan.unusable !== undefined) this.#neverRan({ startError: { message: plan.unusable, isSystems: false } });
    else this.#spawn(plan);
    void this.#whenExited.then(() => Promise.all([plan.remoteShell?.close(), plan.api?.close()]));
  }

  /**
   * Ends the program and every process it left. Resolves with true when its exit is reported and no process is left, with false when one
   * survives SIGKILL.
   */
  async stop(order: StopOrder): Promise<boolean> {
    if (this.#program === undefined) {
      this.#stopBeforeStart = order.reason;
      return true;
    }
    const cleared = this.#exit === undefined ? this.#program.stop(order) : this.#program.clearLeftovers(order.graceMs);
    const clear = await cleared;
    if (clear) await this.#whenExited;
    return clear;
  }

  /** Suspends the program until `resume`. */
  suspend(): void {
    this.#program?.suspend();
    this.#run?.suspend();
  }

  resume(): void {
    this.#program?.resume();
    this.#run?.resume();
  }

  /** Where the program's Python processes stand; the program goes on. Undefined: none runs. */
  async stacks(): Promise<readonly ProcessStacks[] | undefined> {
    return this.#exit === undefined ? this.#program?.stacks(process.cwd()) : undefined;
  }

  /** Has the program's Python processes write their stacks to stderr, before the program is stopped for that reason. */
  async dumpStacks(reason: StopReason): Promise<void> {
    if (this.#exit === undefined) await this.#program?.dumpStacks(reason);
  }

  /** Writes a notice to the program's file. @returns false when no program runs, or that notice is there already */
  notice(notice: Notice): boolean {
    if (this.#noticeFile === undefined || this.#exit !== undefined || this.#notice?.atMs === notice.atMs) return false;
    this.#notice = notice;
    this.#hasSaved = false;
    writeNotice(this.#noticeFile, notice);
    return true;
  }

  /** How the program was started; undefined: it has not been. */
  get told(): ProgramStart | undefined {
    return this.#told;
  }

  /** What the program is to do next. */
  get advice(): Advice {
    return adviceOf({ notice: this.#notice, hasSaved: this.#hasSaved, stop: this.#program?.stopping });
  }

  /** The program has reported a checkpoint by itself. */
  saved(): void {
    this.#hasSaved = true;
  }

  /** Sends a signal to every process of the program. */
  signal(signal: NodeJS.Signals): void {
    if (this.#exit === undefined) this.#program?.tree.signal(signal);
  }

  /** Reports that the program was killed, with what it said last, before it is seen to have ended. To be followed by `kill`. */
  reportKilled(): void {
    if (this.#exit === undefined && this.#run !== undefined) this.#exited(this.#run.killed());
  }

  /** Sends SIGKILL to whatever is left. */
  kill(): void {
    this.#program?.tree.signal("SIGKILL");
  }

  async releasePorts(): Promise<void> {
    await this.#ports?.release();
  }

  #spawn(plan: ProgramPlan): void {
    const { logs, log, nowMs, report } = this.#options;
    const index = new OutputIndex(logs, this.number);
    try {
      const { command, environments, marker } = plan;
      // Before the program writes: what the files contain now is an earlier generation's.
      index.mark(nowMs());
      this.#program = new Program({ command, environments, marker, logs, nowMs });
    } catch (error) {
      this.#neverRan({ startError: { message: errorMessage(error), isSystems: true } });
      return;
    }
    const { pid, startedAtMs } = this.#program;
    log.info("child-started", `The program runs as process ${pid}.`, { pid });
    this.#noticeFile = plan.noticeFile;
    this.#environment = plan.environments[0];
    this.#run = this.#observe(this.#program, plan, index);
    this.#whenExited = this.#awaitExit(this.#program, this.#run, plan);
    // Last, because it may be suspended at once.
    report({ type: "child-started", pid, atMs: startedAtMs });
  }

  #observe(program: Program, plan: ProgramPlan, index: OutputIndex): ProgramRun {
    const { settings, logs, log, sampler, nowMs, report } = this.#options;
    const { job, progressFile, environments } = plan;
    const { timeouts, failure } = job.spec;
    const gpuSampler = gpuSamplerOf(job.spec, { role: settings.task.role, environment: environments[0], log });
    const tensorBoard = this.ports.tensorBoard;
    const { elastic } = frameworks[job.spec.framework];
    return new ProgramRun({
      program,
      index,
      logs,
      logLimits: logLimitsOf(job.spec),
      sampler,
      ...(gpuSampler && { gpuSampler }),
      progress: new ProgressFile(progressFile, log),
      memoryLimitBytes: settings.memoryLimitBytes,
      metricsIntervalMs: timeouts.metricsIntervalMs,
      outputLines: failure.outputLines,
      ...(elastic && { missed: elastic.missed }),
      ...(timeouts.executionMs && { timeLimit: { limitMs: timeouts.executionMs, graceMs: timeouts.stopGraceMs } }),
      ports: this.#ports?.held ?? [],
      releasedPorts: this.#ports?.programs ?? [],
      ...(tensorBoard > 0 && { tensorBoard: { host: settings.host, port: tensorBoard } }),
      nowMs,
      report: (news) => report(news, news.type === "child-progress" ? "progress" : undefined),
    });
  }

  async #awaitExit(program: Program, run: ProgramRun, plan: ProgramPlan): Promise<void> {
    const { keepParameters } = plan;
    const exit = await run.ended();
    const isKept = exit.exitCode === 0 && keepParameters !== undefined;
    const told = isKept
      ? await this.#withParameters(exit, keepParameters(program.output.tail("stdout")))
      : { ...exit, ...(await misnamedBy(exit, process.cwd())) };
    // Searching a node's processes takes time: the end is sent first.
    this.#leftovers = setImmediate().then(() => this.#endLeftovers(program, exit));
    this.#exited(told);
    if (this.#ports?.outliveStart) await this.releasePorts();
  }

  async #endLeftovers(program: Program, { stopReason }: ChildExit): Promise<string> {
    const words = leftoverWords(stopReason === undefined ? program.processNames() : []);
    if (words !== "") this.#options.log.warn("leftovers", `The program left processes: ${words}.`);
    await program.clearLeftovers(LEFTOVER_GRACE_MS);
    return words;
  }

  /** The other containers are asked for when its end is reported: what their programs read must be stored by then. */
  async #withParameters(exit: ChildExit, kept: Promise<void>): Promise<ChildExit> {
    try {
      await kept;
      return exit;
    } catch (error) {
      return { ...exit, exitCode: 1, errorSummary: `its model parameters could not be kept: ${errorMessage(error)}` };
    }
  }

  #exited(exit: ChildExit): void {
    if (this.#exit !== undefined) return;
    this.#exit = exit;
    const how = exit.signal === "" ? `with ${exit.exitCode}` : `by ${exit.signal}`;
    const why = exit.stopReason === undefined ? "" : ` (stopped: ${stopWords(exit.stopReason)})`;
    this.#options.log.info("child-exited", `The program ended ${how}${why}.`, {
      exitCode: exit.exitCode,
      signal: exit.signal,
    });
    this.#options.report({ type: "child-exited", exit });
  }

  #neverRan(why: WhyNeverRan): void {
    this.#exited(reportNeverRan(why, this.#options.nowMs()));
  }
}

/** Their remaining output is missing, and nothing else says so. */
function leftoverWords(names: readonly string[]): string {
  if (names.length === 0) return "";
  const which = [...new Set(names)].slice(0, MOST_NAMED).join(", ");
  const them = names.length === 1 ? "1 process" : `${names.length} processes`;
  return `its command ended before ${them} of it (${which}), which ended with it: let it wait for them`;
}

/**
 * Writes the latest notice to the file named by TONY_NOTICE_FILE: `{"cause": "decommissioning", "deadlineMs": 1795305600000}`, without
 * `deadlineMs` where nobody says when the program is stopped. A reader always finds a complete one.
 */
function writeNotice(file: string, { cause, endsAtMs }: Notice): void {
  replaceFile(file, `${JSON.stringify({ cause, deadlineMs: endsAtMs })}\n`);
}
