import type { ExecutorReport, Metrics } from "../../src/api/messages.ts";
import type { Elastic } from "../../src/frameworks/framework.ts";
import { callAfter } from "../../src/hadoop/clock.ts";
import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import { saysAddressInUse } from "../../src/job/diagnosis/complaints.ts";
import type { ChildExit } from "../../src/job/execution.ts";
import type { StopReason } from "../../src/job/reasons/stops.ts";
import type { LogLimits } from "../../src/rotating-log.ts";
import { isOwnListener } from "../../src/tcp-sockets.ts";
import type { GpuSampler } from "../monitoring/gpus.ts";
import type { MemorySampler } from "../monitoring/memory-sampler.ts";
import type { ProgressFile, ProgressReport } from "../monitoring/progress-file.ts";
import type { OutputLogs } from "../output/output-files.ts";
import type { OutputIndex } from "../output/output-index.ts";
import { Ticker, Timer } from "../timers.ts";
import { type ProcessEnd, reportExit } from "./exit-report.ts";
import { kernelMemoryKills } from "./memory-evidence.ts";
import { takenPorts } from "./ports.ts";
import { LEFTOVER_GRACE_MS, type Program } from "./program.ts";

export interface ProgramRunOptions {
  readonly program: Program;
  readonly index: OutputIndex;
  readonly logs: OutputLogs;
  readonly logLimits: LogLimits;
  readonly sampler: MemorySampler;
  /** Absent where the task has no GPUs. */
  readonly gpuSampler?: Pick<GpuSampler, "current" | "look" | "stop">;
  readonly progress: ProgressFile;
  /** The container's memory limit; undefined where it is not enforced. */
  readonly memoryLimitBytes: number | undefined;
  readonly metricsIntervalMs: number;
  /** How many last lines are reported when it fails. */
  readonly outputLines: number;
  /** How long the program may run, and its grace period when it is stopped after that. */
  readonly timeLimit?: { readonly limitMs: number; readonly graceMs: number };
  /** Those that were held for it. */
  readonly ports: readonly number[];
  /** Those of them that any process could open once it ran. */
  readonly releasedPorts: readonly number[];
  readonly missed?: Elastic["missed"];
  /** Where it may serve TensorBoard. */
  readonly tensorBoard?: { readonly host: string; readonly port: number };
  readonly nowMs: () => number;
  readonly report: (report: ProgressReport | Extract<ExecutorReport, { type: "service-announced" }>) => void;
}

const LOOK_MS = 1_000;
/** The precision with which the lines of stdout and stderr can be merged afterwards. */
const MARK_MS = 250;
/** For this long after its start a program is sampled at every check, so that a quick rise of memory is seen. */
const YOUNG_MS = 10_000;

/** What accompanies a running program: samples of memory, progress, the announcement of its TensorBoard, its time limit. */
export class ProgramRun {
  readonly #options: ProgramRunOptions;
  readonly #killsBefore = kernelMemoryKills();
  readonly #looks = new Ticker();
  readonly #marks = new Timer();
  /** Cancels it. */
  #limit: (() => void) | undefined;
  #limitLeftMs: number;
  #limitSetAtMs = 0;
  #lastSampleMs = 0;
  #metrics: Metrics | undefined;
  #announced = false;
  #rotation: Promise<void> | undefined;

  constructor(options: ProgramRunOptions) {
    this.#options = options;
    options.sampler.reset();
    this.#looks.set(LOOK_MS, () => this.#look());
    this.#markOutput();
    this.#limitLeftMs = options.timeLimit?.limitMs ?? 0;
    this.#startTimeLimit();
  }

  /** The time limit is paused until `resume`. */
  suspend(): void {
    this.#limit?.();
    this.#limitLeftMs -= this.#options.nowMs() - this.#limitSetAtMs;
  }

  resume(): void {
    this.#startTimeLimit();
  }

  get metrics(): Metrics | undefined {
    return this.#metrics;
  }

  /** Waits for the end of the program's first process and resolves with how it ended. */
  async ended(): Promise<ChildExit> {
    const { program, index } = this.#options;
    const end = await program.ended;
    this.#looks.clear();
    this.#marks.clear();
    this.#options.gpuSampler?.stop();
    this.#limit?.();
    this.#lookForProgress(true);
    index.mark(end.atMs);
    return this.#reportOf(end, program.stopReason === undefined ? await this.#lostPorts() : []);
  }

  /** The end of a program that is being sent SIGKILL now, for an executor that cannot wait for it. */
  killed(): ChildExit {
    return this.#reportOf({ exitCode: null, signal: "SIGKILL", atMs: this.#options.nowMs() }, []);
  }

  #reportOf(end: ProcessEnd, lost: readonly number[]): ChildExit {
    const { program, index, logs, sampler, ports, outputLines, missed, memoryLimitBytes } = this.#options;
    const used = sampler.current;
    const { stopReason, stderrAtStop } = program;
    const stderr = program.lastWords();
    const ends = { stdout: logs.stdout.sizeBytes, stderr: logs.stderr.sizeBytes };
    return reportExit({
      end,
      startedAtMs: program.startedAtMs,
      ...(stopReason && { stopReason }),
      stacksAsked: program.stacksAsked,
      stdout: program.output.tail("stdout"),
      stderr: stderr.text,
      written: { marks: index.recent, ends },
      lastWords: stderrAtStop ?? stderr,
      lines: outputLines,
      ...(missed && { missed }),
      ports: { held: ports, lost },
      memory: {
        killsBefore: this.#killsBefore,
        killsAfter: kernelMemoryKills(),
        lastSampleBytes: (used?.memoryBytes ?? 0) + process.memoryUsage.rss(),
        limitBytes: memoryLimitBytes,
      },
      peakMemoryBytes: used?.maxMemoryBytes ?? 0,
    });
  }

  /** Checked only where the program complains; ports that its own processes still have are its own fault. */
  async #lostPorts(): Promise<readonly number[]> {
    const { program, releasedPorts } = this.#options;
    const complains =
      saysAddressInUse(program.output.tail("stderr")) || saysAddressInUse(program.output.tail("stdout"));
    if (!complains) return [];
    await program.clearLeftovers(LEFTOVER_GRACE_MS);
    return await takenPorts(releasedPorts);
  }

  #look(): void {
    if (this.#isSampleDue()) {
      this.#sample();
      void this.#lookForService();
    }
    this.#markOutput();
    this.#rotation ??= this.#rotateOutput().finally(() => (this.#rotation = undefined));
    this.#lookForProgress();
  }

  /** Often while the output grows, else together with the other checks: waking the process costs more than a check. */
  #markOutput(): void {
    const { index, nowMs } = this.#options;
    this.#marks.clear();
    index.look(nowMs());
    if (!index.isQuiet(nowMs())) this.#marks.set(MARK_MS, () => this.#markOutput());
  }

  /** A program that appends to a file loses nothing if the file is truncated while the program is stopped. */
  async #rotateOutput(): Promise<void> {
    const { program, logs, logLimits } = this.#options;
    const whileStill = (work: () => void) => program.tree.whileStopped(work);
    for (const log of [logs.stdout, logs.stderr]) await log.rotate(logLimits, whileStill);
  }

  /** A young program is sampled at each look. */
  #isSampleDue(): boolean {
    const { program, metricsIntervalMs, nowMs } = this.#options;
    const now = nowMs();
    return now - program.startedAtMs < YOUNG_MS || now - this.#lastSampleMs >= metricsIntervalMs;
  }

  #sample(): void {
    const { program, sampler, gpuSampler, nowMs } = this.#options;
    const now = nowMs();
    this.#lastSampleMs = now;
    const processes = program.tree.sample();
    const used = sampler.add(processes, now, program.tree.ioOf(processes));
    gpuSampler?.look(now);
    const gpus = gpuSampler?.current;
    this.#metrics = gpus === undefined ? used : { ...used, gpus };
  }

  #lookForProgress(isOver = false): void {
    const progress = this.#options.progress.look(this.#options.nowMs(), isOver);
    if (progress !== undefined) this.#options.report(progress);
  }

  /** An address is announced when a process of ours listens there: a program need not use its port. */
  async #lookForService(): Promise<void> {
    const { tensorBoard, report } = this.#options;
    if (tensorBoard === undefined || this.#announced) return;
    if (!(await isOwnListener(tensorBoard.port)) || this.#announced) return;
    this.#announced = true;
    report({ type: "service-announced", name: "tensorboard", url: `http://${formatHostPort(tensorBoard)}` });
  }

  #startTimeLimit(): void {
    const { timeLimit, program, nowMs } = this.#options;
    if (timeLimit === undefined) return;
    const { limitMs, graceMs } = timeLimit;
    const reason: StopReason = { code: "ran-too-long", limitMs };
    this.#limitSetAtMs = nowMs();
    this.#limit = callAfter(Math.max(0, this.#limitLeftMs), () => void program.stop({ graceMs, reason }));
  }
}
