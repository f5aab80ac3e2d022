import type { Metrics } from "../../src/api/messages.ts";
import { encodeSeries } from "../../src/history/series/file.ts";
import { type Quantity, SeriesTable } from "../../src/history/series/table.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { parseTaskId } from "../../src/job/task.ts";

/** How far a program is. */
interface Progress {
  readonly step: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

/** What executors measure, and what all programs may report. */
const own = {
  cpu: { name: "cpu", rule: "mean" },
  memory: { name: "memory", rule: "most" },
  gpu: { name: "gpu", rule: "mean" },
  gpuMemory: { name: "gpu-memory", rule: "mean" },
  step: { name: "step", rule: "last" },
} as const;

/**
 * What the job's tasks used and reported over time, from what executors tell anyway. No decision depends on it, so it is not in the core's
 * state, and a later attempt begins its own.
 */
export class JobSeries {
  readonly #spec: Pick<JobSpec, "roles">;
  readonly #table: SeriesTable;

  constructor(spec: Pick<JobSpec, "roles">, fromMs: number) {
    this.#spec = spec;
    this.#table = new SeriesTable(
      fromMs,
      spec.roles.reduce((sum, { instances }) => sum + instances, 0),
    );
  }

  used(task: string, { cpuCores, memoryBytes, gpus }: Metrics, atMs: number): void {
    const add = (quantity: Quantity, value: number) => this.#table.add(task, quantity, atMs, value);
    add(own.cpu, cpuCores);
    add(own.memory, memoryBytes);
    if (gpus?.utilization !== undefined) add(own.gpu, gpus.utilization.current);
    if (gpus?.memory !== undefined) add(own.gpuMemory, gpus.memory.current);
  }

  /** The program's own names cannot be taken for ours: theirs are marked. */
  reached(task: string, { step, metrics = {} }: Progress, atMs: number): void {
    this.#table.add(task, own.step, atMs, step);
    for (const [name, value] of Object.entries(metrics))
      this.#table.add(task, { name: `metric:${name}`, rule: "mean", isSpare: true }, atMs, value);
  }

  /** The file for the job's history. */
  async encode(applicationId: string, attempt: number): Promise<Buffer> {
    return await encodeSeries({ applicationId, attempt }, this.#table, (task) => this.#memoryLimitBytes(task));
  }

  #memoryLimitBytes(task: string): number {
    const name = parseTaskId(task)?.role;
    const role = this.#spec.roles.find((one) => one.name === name);
    return (role?.resource.memoryMiB ?? 0) * 1024 ** 2;
  }
}
