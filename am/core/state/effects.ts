import type { MasterCommand } from "../../../src/api/messages.ts";
import type { ClusterSpec } from "../../../src/job/cluster-spec.ts";
import type { HistoryEvent } from "../../../src/job/history-event.ts";
import type { Constrained, Resource } from "../../../src/job/spec.ts";
import type { JobOutcome } from "../../../src/job/status.ts";

/** What the shell is to do, as data; results come back as events. Effects of one step are carried out in their order. */
export type Effect =
  | { readonly type: "ask"; readonly asks: readonly Ask[] }
  | { readonly type: "release"; readonly containerIds: readonly string[]; readonly reason: string }
  /** The whole set of hosts to avoid, not a difference. */
  | { readonly type: "blacklist"; readonly hosts: readonly string[] }
  | { readonly type: "launch"; readonly launches: readonly Launch[] }
  /**
   * Gives containers whose tasks have ended to these tasks, of roles with the same files: the executor there makes room for the task's
   * own, which registers. Answers `launch-succeeded`. Reports of the executor before it become no events. Repeating the order does
   * nothing more.
   */
  | { readonly type: "relaunch"; readonly launches: readonly Launch[] }
  | { readonly type: "stop-container"; readonly containerId: string; readonly reason: string }
  | { readonly type: "send"; readonly to: SendTarget; readonly message: ExecutorCommand }
  /** Answers `wake-up` at that time; replaces the time that was asked for before. */
  | { readonly type: "wake-at"; readonly atMs: number }
  /**
   * Writes a snapshot of what must outlive this AM, and beside it a part that later ones leave out; answers `journal-written` or
   * `journal-failed`.
   */
  | { readonly type: "journal"; readonly sequence: number; readonly snapshot: string; readonly part?: string }
  /** A later attempt looks for the executors of the earlier one: dials each rejoin port; answers `executor-registered`. */
  | { readonly type: "rejoin"; readonly executors: readonly Rejoin[] }
  | { readonly type: "record"; readonly event: HistoryEvent }
  | {
      readonly type: "log";
      readonly level: "info" | "warn" | "error";
      readonly event: string;
      readonly message: string;
      readonly fields?: LogFields;
    }
  /** Removes the checkpoints of these tasks that executors stored. */
  | { readonly type: "remove-checkpoints"; readonly tasks: readonly string[] }
  | { readonly type: "publish-status" }
  /** Closes the history, tells clients and the ResourceManager; answers `unregistered`. */
  | { readonly type: "unregister"; readonly outcome: JobOutcome }
  /** The last effect: with `cleanStaging` the staging folder is removed first. */
  | { readonly type: "exit"; readonly exitCode: number; readonly cleanStaging: boolean };

/**
 * The absolute number of containers wanted for one role now, and where; count 0 withdraws it.
 * Maps to ResourceRequests of one priority (org.apache.hadoop.yarn.api.records.ResourceRequest): `*` always carries `count` with relaxed
 * locality; `hosts` and `racks` are hints of how many go where, and empty when any place will do. An ask replaces the role's earlier one
 * as a whole: a host or rack that was named before and is not named now is set to 0.
 */
export interface Ask {
  readonly role: string;
  readonly priority: number;
  readonly resource: Resource;
  readonly count: number;
  readonly nodeLabel?: string;
  /** Where YARN may place them; no hosts are named then. */
  readonly constrained?: Constrained;
  readonly hosts: readonly { readonly host: string; readonly count: number }[];
  readonly racks: readonly { readonly rack: string; readonly count: number }[];
  /** Present: no host other than those named will do while this ask stands. */
  readonly relaxLocality?: false;
}

export interface Launch {
  readonly containerId: string;
  readonly task: string;
  readonly generation: number;
}

export interface Rejoin {
  readonly task: string;
  readonly containerId: string;
  /** host:port of the executor's rejoin service. */
  readonly address: string;
}

/** One executor. Messages are addressed to the container, so that a message can never reach a task's next life. */
export interface SendTarget {
  readonly task: string;
  readonly containerId: string;
}

type Order<T extends MasterCommand["type"]> = Extract<MasterCommand, { readonly type: T }> & {
  readonly generation: number;
};

/** A message of proto/tony, and the generation that it is about. */
export type ExecutorCommand =
  | Order<"prepare" | "stop-child" | "signal-child" | "tell-place" | "acknowledge-exit" | "resume-child">
  /** `clusterSpec` is the same object for every task of a generation, so that the shell encodes it once. */
  | (Omit<Order<"start-child">, "clusterSpec"> & { readonly clusterSpec: ClusterSpec })
  | Extract<MasterCommand, { readonly type: "exit" }>;

export type LogFields = Readonly<Record<string, string | number | boolean>>;
