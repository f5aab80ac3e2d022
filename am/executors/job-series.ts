import type { Metrics } from "../../src/api/messages.ts";
import { encodeSeries, type JobSeries as HeardSeries } from "../../src/history/series/file.ts";
import { type Quantity, SeriesTable, type TaskSeries } from "../../src/history/series/table.ts";
import type { GpuDevice, GpuMetrics } from "../../src/job/gpus.ts";
import { countTasks, type JobSpec } from "../../src/job/spec.ts";
import { parseTaskId } from "../../src/job/task.ts";

/** How far a program is. */
interface Progress {
  readonly step: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

/** How fast a program goes; measured anew every ten seconds. */
interface Pace {
  readonly sinceMs: number;
  readonly sinceStep: number;
  readonly rate?: number;
}

const PACE_MS = 10_000;
/** The most GPUs of a task, and the most tasks of a job, for which each GPU has a series: 30 KiB of a file, and 23 MB of memory. */
const MOST_GPUS = 8;
const MOST_TASKS_WITH_GPUS = 1_000;
/** More than the tasks of any role. */
const MOST_OF_A_ROLE = 2 ** 31;

/** What executors measure, and what all programs may report. */
const own = {
  cpu: { name: "cpu", rule: "mean" },
  memory: { name: "memory", rule: "most" },
  gpu: { name: "gpu", rule: "mean" },
  gpuMemory: { name: "gpu-memory", rule: "mean" },
  diskRead: { name: "disk-read", rule: "mean" },
  diskWritten: { name: "disk-written", rule: "mean" },
  step: { name: "step", rule: "last" },
} as const;

/**
 * What the job's tasks used and reported over time, taken from what executors send anyway. No decision depends on it, so it is not in the
 * core's state: a later attempt goes on from what the earlier one has kept (`KeptSeries`).
 */
export class JobSeries {
  readonly #spec: Pick<JobSpec, "roles" | "trials">;
  #table: SeriesTable;
  readonly #paces = new Map<string, Pace>();

  constructor(spec: Pick<JobSpec, "roles" | "trials">, fromMs: number) {
    this.#spec = spec;
    this.#table = new SeriesTable(fromMs, countTasks(spec));
  }

  /** Goes on from what an earlier attempt heard, on its time axis. */
  goOnFrom({ axis, rows }: HeardSeries): void {
    const own = this.#table;
    this.#table = new SeriesTable(axis.fromMs, countTasks(this.#spec), axis.spanMs);
    for (const { task, series } of rows) this.#table.addAll(task, series, axis);
    for (const task of own.tasks) this.#table.addAll(task, own.seriesOf(task), own);
  }

  /** The time that one value of a chart spans. */
  get spanMs(): number {
    return this.#table.spanMs;
  }

  used(task: string, { cpuCores, memoryBytes, gpus, disk }: Metrics, atMs: number): void {
    const add = (quantity: Quantity, value: number) => this.#table.add(task, quantity, atMs, value);
    add(own.cpu, cpuCores);
    add(own.memory, memoryBytes);
    if (gpus?.utilization !== undefined) add(own.gpu, gpus.utilization.current);
    if (gpus?.memory !== undefined) add(own.gpuMemory, gpus.memory.current);
    for (const [number, { utilization, memory }] of this.#eachOf(gpus).entries()) {
      if (utilization !== undefined) add({ name: `gpu:${number}`, rule: "mean" }, utilization);
      if (memory !== undefined) add({ name: `gpu-memory:${number}`, rule: "mean" }, memory);
    }
    if (disk === undefined) return;
    add(own.diskRead, disk.readBytesPerSecond);
    add(own.diskWritten, disk.writtenBytesPerSecond);
  }

  /** GPUs with series of their own: those of a task that has several, unless the job is too large for that. */
  #eachOf(gpus: GpuMetrics | undefined): readonly GpuDevice[] {
    const { devices = [] } = gpus ?? {};
    const isFew = devices.length <= MOST_GPUS && countTasks(this.#spec) <= MOST_TASKS_WITH_GPUS;
    return devices.length > 1 && isFew ? devices : [];
  }

  /** Prefixed, so that a program's own names cannot be mistaken for ours. */
  reached(task: string, { step, metrics = {} }: Progress, atMs: number): void {
    this.#paces.set(task, nextPace(this.#paces.get(task), step, atMs));
    this.#table.add(task, own.step, atMs, step);
    for (const [name, value] of Object.entries(metrics))
      this.#table.add(task, { name: `metric:${name}`, rule: "mean", isSpare: true }, atMs, value);
  }

  /** Steps per second over the last ten seconds; undefined where unknown. */
  rateOf(task: string): number | undefined {
    return this.#paces.get(task)?.rate;
  }

  /** Everything known of a task over time so far. */
  seriesOf(task: string): { readonly fromMs: number; readonly spanMs: number; readonly series: readonly TaskSeries[] } {
    const { fromMs, spanMs } = this.#table;
    return { fromMs, spanMs, series: this.#table.seriesOf(task) };
  }

  /** The file for the job's history. */
  async encode(applicationId: string, attempt: number): Promise<Buffer> {
    const tasks = this.#table.tasks.toSorted((one, other) => this.#positionOf(one) - this.#positionOf(other));
    return await encodeSeries({ applicationId, attempt }, this.#table, (task) => this.#memoryLimitBytes(task), tasks);
  }

  /** Sorts tasks in the order of the job, whichever was heard first. */
  #positionOf(task: string): number {
    const { role, index = 0 } = parseTaskId(task) ?? {};
    return this.#spec.roles.findIndex(({ name }) => name === role) * MOST_OF_A_ROLE + index;
  }

  #memoryLimitBytes(task: string): number {
    const name = parseTaskId(task)?.role;
    const role = this.#spec.roles.find((one) => one.name === name);
    return (role?.resource.memoryMiB ?? 0) * 1024 ** 2;
  }
}

/** A program that starts again is measured anew. */
function nextPace(before: Pace | undefined, step: number, atMs: number): Pace {
  if (before === undefined || step < before.sinceStep) return { sinceMs: atMs, sinceStep: step };
  const elapsedMs = atMs - before.sinceMs;
  if (elapsedMs < PACE_MS) return before;
  return { sinceMs: atMs, sinceStep: step, rate: ((step - before.sinceStep) / elapsedMs) * 1000 };
}
