import type { Metrics } from "../src/api/messages.ts";
import type { JobStatus, TaskStatus } from "../src/job/status.ts";

/** What the programs use, as their executors last said. No decision depends on it, so it is not in the core's state. */
export class TaskMetrics {
  readonly #byContainer = new Map<string, { readonly task: string; readonly metrics: Metrics }>();

  set(containerId: string, task: string, metrics: Metrics): void {
    this.#byContainer.set(containerId, { task, metrics });
  }

  delete(containerId: string): void {
    this.#byContainer.delete(containerId);
  }

  /** The status with each task's memory and processor use. */
  addTo(status: JobStatus): JobStatus {
    return { ...status, tasks: status.tasks.map((task) => this.#withMetrics(task)) };
  }

  #withMetrics(task: TaskStatus): TaskStatus {
    const said = task.containerId === undefined ? undefined : this.#byContainer.get(task.containerId);
    // The container may be another task's by now.
    if (said?.task !== task.task) return task;
    const { memoryBytes, maxMemoryBytes, cpuCores } = said.metrics;
    return { ...task, memoryBytes, maxMemoryBytes, cpuCores };
  }
}
