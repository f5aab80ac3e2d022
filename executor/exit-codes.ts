/** What the executor's own exit code says, beside signals; YARN shows it as the container's. */
export const ExecutorExit = {
  /** Told to end by the ApplicationMaster. */
  ordered: 0,
  /** Could not begin, or met a fault of its own: the message is in `stderr`. */
  failed: 1,
  /** No ApplicationMaster for longer than `tony.task.orphan-timeout`. */
  orphaned: 75,
  /** A process of the program survived KILL: the container must go for its machine to be rid of it. */
  stuck: 76,
  /** Its task lives on in another container: nothing was stopped in order, nothing brought up. */
  replaced: 77,
  /** SIGTERM, as a shell reports it. */
  terminated: 143,
} as const;
export type ExecutorExit = (typeof ExecutorExit)[keyof typeof ExecutorExit];
