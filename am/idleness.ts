import type { Metrics } from "../src/api/messages.ts";
import type { Idle } from "../src/job/idle.ts";
import type { JobStatus, TaskStatus } from "../src/job/status.ts";

/** Cores that a program may use while it only waits, such as one that checks every tenth of a second whether something has come. */
const IDLE_CORES = 0.02;
/** Between two samples even a sleeping program may use a tick or two of the kernel. */
const IDLE_MS = 20;
const LONGEST_LOOK_MS = 10_000;
/** Older measurements say nothing about now. */
const FRESH_MS = 60_000;

export interface IdlenessOptions {
  /** Undefined: idleness is not reported. */
  readonly afterMs: number | undefined;
  readonly metricsIntervalMs: number;
  /** How many GPUs a task was granted. */
  readonly gpusOf: (task: string) => number;
  /** Whether processes that nobody measures run beside the programs: those started by people or by MPI's launcher. */
  readonly othersRun: () => boolean;
}

/** What a program has used since it last used more than a waiting one does. Overwritten in place, as in TaskMetrics. */
interface Still {
  readonly task: string;
  sinceMs: number;
  sinceCpuMs: number;
  atMs: number;
  cpuMs: number;
}

/**
 * Notices that no program of the job uses its processor or its GPUs, from what executors measure anyway. If one is not measured, nothing
 * is reported. It decides nothing, so it is not in the core's state.
 */
export class Idleness {
  readonly #options: IdlenessOptions;
  readonly #byContainer = new Map<string, Still>();
  readonly #lookEveryMs: number;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #idle: Idle | undefined;

  constructor(options: IdlenessOptions) {
    this.#options = options;
    this.#lookEveryMs = Math.min(LONGEST_LOOK_MS, (options.afterMs ?? 0) / 4);
  }

  /** An executor reports a sample. */
  heard(containerId: string, task: string, metrics: Metrics, nowMs: number): void {
    if (this.#options.afterMs === undefined) return;
    const before = this.#byContainer.get(containerId);
    const { cpuMs } = metrics;
    const areGpusIdle = this.#areGpusIdle(task, metrics);
    if (before?.task === task && areGpusIdle) {
      if (!isStill(before, cpuMs, nowMs)) {
        this.#idle = undefined;
        before.sinceMs = nowMs;
        before.sinceCpuMs = cpuMs;
      }
      before.atMs = nowMs;
      before.cpuMs = cpuMs;
      return;
    }
    this.#idle = undefined;
    if (areGpusIdle) {
      this.#byContainer.set(containerId, { task, sinceMs: nowMs, sinceCpuMs: cpuMs, atMs: nowMs, cpuMs });
    } else {
      this.#byContainer.delete(containerId);
    }
  }

  /** Nothing is heard of what it does from now on. */
  forget(containerId: string): void {
    this.#byContainer.delete(containerId);
    this.#idle = undefined;
  }

  /** Processes beside the programs have run until now. */
  othersRan(): void {
    this.#byContainer.clear();
    this.#idle = undefined;
  }

  /** To be called regularly. @returns idleness that has just begun, once each time */
  look(nowMs: number, statusOf: () => JobStatus): Idle | undefined {
    const { afterMs, othersRun } = this.#options;
    if (afterMs === undefined || nowMs - this.#lookedAtMs < this.#lookEveryMs) return undefined;
    this.#lookedAtMs = nowMs;
    if (othersRun()) this.othersRan();
    const before = this.#idle;
    const now = this.#idleNow(nowMs, statusOf());
    this.#idle = now !== undefined && now.untilMs - now.sinceMs >= afterMs ? now : undefined;
    return before === undefined ? this.#idle : undefined;
  }

  /** The status with the present idleness. */
  addTo(status: JobStatus): JobStatus {
    return this.#idle === undefined || status.state !== "running" ? status : { ...status, idle: this.#idle };
  }

  /** All running programs, if all of them are still; undefined: one is not, or nothing is known of it. */
  #idleNow(nowMs: number, { state, tasks }: JobStatus): Idle | undefined {
    const running = tasks.filter((task) => task.state === "running");
    const still = running.flatMap((task) => this.#stillOf(task, nowMs) ?? []);
    if (state !== "running" || running.length === 0 || still.length < running.length) return undefined;
    return {
      tasks: running.map(({ task }) => task),
      sinceMs: Math.max(...still.map(({ sinceMs }) => sinceMs)),
      untilMs: Math.min(...still.map(({ atMs }) => atMs)),
      cpuMs: still.reduce((sum, { cpuMs, sinceCpuMs }) => sum + cpuMs - sinceCpuMs, 0),
      gpus: running.reduce((sum, { task }) => sum + this.#options.gpusOf(task), 0),
    };
  }

  /** Its program may have been restarted in its container since. */
  #stillOf({ task, containerId = "", startedAtMs = 0 }: TaskStatus, nowMs: number): Still | undefined {
    const still = this.#byContainer.get(containerId);
    const freshMs = Math.max(FRESH_MS, 4 * this.#options.metricsIntervalMs);
    if (still?.task !== task || nowMs - still.atMs > freshMs) return undefined;
    return { ...still, sinceMs: Math.max(still.sinceMs, startedAtMs) };
  }

  /** Whether the last sample of its GPUs, where it has any, found them idle. */
  #areGpusIdle(task: string, { gpus }: Metrics): boolean {
    return this.#options.gpusOf(task) === 0 || gpus?.utilization?.current === 0;
  }
}

function isStill(before: Still, cpuMs: number, nowMs: number): boolean {
  const usedMs = cpuMs - before.cpuMs;
  return usedMs >= 0 && usedMs <= Math.max(IDLE_MS, (nowMs - before.atMs) * IDLE_CORES);
}
