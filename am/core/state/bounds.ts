import { STOP_MARGIN_MS } from "../../../src/job/silence.ts";

/** Bounds that no key sets: each is for work of our own code, which takes seconds where all is healthy. */
export const Bounds = {
  /** The executor of a broken stream comes back at once or not at all. */
  reconnectMs: 2_000,
  /** From `prepare` to the executor's registration, beyond the program's own grace. */
  prepareMs: 30_000,
  /** From the cluster spec to the program's start. */
  startMs: 60_000,
  stopMarginMs: STOP_MARGIN_MS,
  /** How long an executor gives a hanging program to write where it stands. */
  stackDumpMs: 2_000,
  /** An outcome that cannot be journaled is carried out all the same. */
  outcomeJournalMs: 5_000,
  /**
   * How long YARN's completion status may take, beyond two heartbeats of the node, for a program that was killed and whose
   * container may be ending too.
   */
  completionStatusMs: 2_000,
  /**
   * A program that ends badly within this time of YARN asking for its container ended because of it; sites grant 15 s by
   * default.
   */
  preemptionMs: 120_000,
  /** Kept executors come back to a later attempt: they look for it every 2 to 30 s. */
  rejoinMs: 45_000,
  journalSpacingMs: 200,
  journalRetryMs: 1_000,
  /** Addresses for people. Our own programs announce one. */
  servicesOfTask: 16,
} as const;
