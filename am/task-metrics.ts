import type { Metrics } from "../src/api/messages.ts";
import type { TaskUse } from "../src/history/tony/events.ts";
import type { JobStatus, TaskStatus } from "../src/job/status.ts";

/** What the programs use, as their executors last said. No decision depends on it, so it is not in the core's state. */
export class TaskMetrics {
  readonly #byContainer = new Map<string, { readonly task: string; readonly metrics: Metrics }>();
  readonly #useByTask = new Map<string, TaskUse>();

  set(containerId: string, task: string, metrics: Metrics): void {
    this.#byContainer.set(containerId, { task, metrics });
    const before = this.#useByTask.get(task)?.maxMemoryBytes ?? 0;
    const { maxMemoryBytes, averageMemoryBytes } = metrics;
    this.#useByTask.set(task, { maxMemoryBytes: Math.max(before, maxMemoryBytes), averageMemoryBytes });
  }

  delete(containerId: string): void {
    this.#byContainer.delete(containerId);
  }

  /** The most that the task ever used, and the average of its last life; also when its container is gone. */
  useOf(task: string): TaskUse | undefined {
    return this.#useByTask.get(task);
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
