import type { TaskId } from "./task.ts";

/** Ports of one task, by the names that its role gives them. */
export type NamedPorts = Readonly<Record<string, number>>;

/** Where one task listens, and on which machine. */
export interface TaskAddress {
  readonly task: TaskId;
  /** The node's own name for itself (NM_HOST). */
  readonly host: string;
  readonly port: number;
  /** Those of `tony.{role}.ports`, by name; absent where it has none. */
  readonly ports?: NamedPorts;
}

/** Every task of one generation with its address, by role in the job's order and by index; in no framework's format. */
export interface ClusterSpec {
  readonly generation: number;
  /** Where the task starts by itself and joins others of its gang that already run: their generation. */
  readonly gangGeneration?: number;
  readonly tasks: readonly TaskAddress[];
}
