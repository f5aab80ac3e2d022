/** An attempt of the ApplicationMaster, and its `host:port`. */
export interface MasterAddress {
  readonly attempt: number;
  readonly address: string;
}

/** What an executor reads from the staging folder. */
export interface StagingNews {
  /** The address of the newest attempt of the ApplicationMaster; absent when none has written one. */
  readonly master?: MasterAddress;
  /** The task has a later generation in another container. */
  readonly isReplaced: boolean;
}

/** How long an executor waits for an ApplicationMaster, as the job sets it. */
export interface AbsenceLimits {
  /** `tony.task.orphan-timeout` */
  readonly orphanMs: number;
  /**
   * `tony.task.isolation-timeout`, longer in a job of many tasks: it determines how far apart looks into the staging folder are.
   */
  readonly isolationMs: number;
}
