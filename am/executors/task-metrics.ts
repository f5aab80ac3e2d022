import type { Metrics } from "../../src/api/messages.ts";
import type { TaskUse } from "../../src/history/tony/events.ts";
import type { GpuMetrics } from "../../src/job/gpus.ts";
import type { DiskUse, JobStatus, TaskStatus } from "../../src/job/status.ts";

interface Said {
  readonly task: string;
  memoryBytes: number;
  cpuCores: number;
  disk: DiskUse | undefined;
}

interface Use {
  maxMemoryBytes: number;
  averageMemoryBytes: number;
  gpus?: GpuMetrics;
}

/**
 * What the programs use, as their executors last reported. No decision depends on it, so it is not in the core's state. Records are
 * overwritten in place: what a thousand executors report each second, kept until the next report, would outlive V8's young generation.
 */
export class TaskMetrics {
  readonly #byContainer = new Map<string, Said>();
  readonly #useByTask = new Map<string, Use>();

  set(containerId: string, task: string, metrics: Metrics): void {
    const { memoryBytes, cpuCores, maxMemoryBytes, averageMemoryBytes, disk } = metrics;
    const said = this.#byContainer.get(containerId);
    if (said?.task === task) {
      said.memoryBytes = memoryBytes;
      said.cpuCores = cpuCores;
      said.disk = disk;
    } else this.#byContainer.set(containerId, { task, memoryBytes, cpuCores, disk });
    const use = this.#useByTask.get(task) ?? { maxMemoryBytes: 0, averageMemoryBytes: 0 };
    this.#useByTask.set(task, use);
    use.maxMemoryBytes = Math.max(use.maxMemoryBytes, maxMemoryBytes);
    use.averageMemoryBytes = averageMemoryBytes;
    const gpus = mostOf(use.gpus, metrics.gpus);
    if (gpus !== undefined) use.gpus = gpus;
  }

  delete(containerId: string): void {
    this.#byContainer.delete(containerId);
  }

  /** The most that the task ever used, and the average of its last life; also when its container is gone. */
  useOf(task: string): TaskUse | undefined {
    return this.#useByTask.get(task);
  }

  /**
   * The status with the memory and processors that each running program uses, the most memory that a task ever used, and its GPUs as last
   * measured; the last two also when its program has ended.
   */
  addTo(status: JobStatus): JobStatus {
    return { ...status, tasks: status.tasks.map((task) => this.#withMetrics(task)) };
  }

  #withMetrics(task: TaskStatus): TaskStatus {
    const said = task.containerId === undefined ? undefined : this.#byContainer.get(task.containerId);
    const { gpus, maxMemoryBytes } = this.#useByTask.get(task.task) ?? {};
    const known = { ...task, ...(gpus && { gpus }), ...(maxMemoryBytes !== undefined && { maxMemoryBytes }) };
    // The container may be another task's by now, or kept after its program has ended.
    if (said?.task !== task.task || task.state !== "running") return known;
    const { memoryBytes, cpuCores, disk } = said;
    return { ...known, memoryBytes, cpuCores, ...(disk && { disk }) };
  }
}

/** The newer gauges, each with the higher maximum of the two: a GPU that an earlier life used counts as used. */
function mostOf(before: GpuMetrics | undefined, now: GpuMetrics | undefined): GpuMetrics | undefined {
  if (before === undefined || now === undefined) return now ?? before;
  const most = (kind: "utilization" | "memory" | "bar1Memory") => {
    const gauge = now[kind];
    return gauge && { [kind]: { ...gauge, max: Math.max(gauge.max, before[kind]?.max ?? 0) } };
  };
  const unused = now.unused !== undefined && { unused: Math.min(now.unused, before.unused ?? now.unused) };
  return { ...now, ...unused, ...most("utilization"), ...most("memory"), ...most("bar1Memory") };
}
