import type { ContainerId } from "../hadoop/yarn/records.ts";

/** One file of a container's log folder. */
export interface StoredLog {
  readonly containerId: ContainerId;
  readonly name: string;
  readonly lengthBytes: number;
  /** Once, before the next one is asked for. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** What is stored of an application's logs. */
export interface StoredLogs {
  /** Container by container; empty while nothing has arrived. */
  logs(wanted: (containerId: ContainerId) => boolean): AsyncIterable<StoredLog>;
}

/** Where logs are when nobody can be asked for them any more. */
export interface LogStore extends StoredLogs {
  /** What is waited for while there is nothing; undefined where nothing more will come. */
  readonly pending: string | undefined;
  /** All logs are there as soon as the job has ended. */
  readonly isAtHand: boolean;
}
