import type { ContainerId } from "../hadoop/yarn/records.ts";

/** One file of a container's log folder. */
export interface StoredLog {
  readonly containerId: ContainerId;
  readonly name: string;
  readonly lengthBytes: number;
  /** Readable once, before the next log is requested. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** The stored logs of an application. */
export interface StoredLogs {
  /** Container by container; empty while nothing has arrived. */
  logs(wanted: (containerId: ContainerId) => boolean): AsyncIterable<StoredLog>;
}

/** Where logs are when there is no process left to ask for them. */
export interface LogStore extends StoredLogs {
  /** What a reader waits for while there is nothing; undefined if nothing more will arrive. */
  readonly pending: string | undefined;
  /** All logs are available as soon as the job has ended. */
  readonly isAtHand: boolean;
}
