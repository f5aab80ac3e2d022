import type { Metrics } from "../src/api/messages.ts";
import type { JobStatus, TaskStatus } from "../src/job/status.ts";

/** What the programs use, as their executors last said. No decision depends on it, so it is not in the core's state. */
export class TaskMetrics {
  readonly #byContainer = new Map<string, Metrics>();

  set(containerId: string, metrics: Metrics): void {
    this.#byContainer.set(containerId, metrics);
  }

  delete(containerId: string): void {
    this.#byContainer.delete(containerId);
  }

  /** The status with each task's memory and processor use. */
  addTo(status: JobStatus): JobStatus {
    return { ...status, tasks: status.tasks.map((task) => this.#withMetrics(task)) };
  }

  #withMetrics(task: TaskStatus): TaskStatus {
    const metrics = task.containerId === undefined ? undefined : this.#byContainer.get(task.containerId);
    if (metrics === undefined) return task;
    const { memoryBytes, maxMemoryBytes, cpuCores } = metrics;
    return { ...task, memoryBytes, maxMemoryBytes, cpuCores };
  }
}
