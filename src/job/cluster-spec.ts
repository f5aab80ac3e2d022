import type { TaskId } from "./task.ts";

/** Where one task listens, and on which machine. */
export interface TaskAddress {
  readonly task: TaskId;
  /** As the node calls itself (NM_HOST). */
  readonly host: string;
  readonly port: number;
}

/** Every task of one generation with its address, by role in the job's order and by index; no framework's own form. */
export interface ClusterSpec {
  readonly generation: number;
  readonly tasks: readonly TaskAddress[];
}
