import { STOP_MARGIN_MS } from "../../../src/job/silence.ts";

/** Bounds that no key sets: each is honest work of ours, seconds where it is healthy. */
export const Bounds = {
  /** A broken stream's executor comes back at once or not at all. */
  reconnectMs: 2_000,
  /** From `prepare` to its registration, beyond the program's own grace. */
  prepareMs: 30_000,
  /** From the cluster spec to the program's start. */
  startMs: 60_000,
  stopMarginMs: STOP_MARGIN_MS,
  /** What an executor gives a hanging program to write where it stands. */
  stackDumpMs: 2_000,
  /** An outcome that cannot be written down is carried out all the same. */
  outcomeJournalMs: 5_000,
  /** The completion status of a program that was killed, when its container is ending too: beyond two heartbeats of its node. */
  completionStatusMs: 2_000,
  /** A program that ends badly so soon after YARN's wish for its container ended because of it; sites grant 15 s by default. */
  preemptionMs: 120_000,
  /** Kept executors come back to a later attempt: they look for it every 2 to 30 s. */
  rejoinMs: 45_000,
  journalSpacingMs: 200,
  journalRetryMs: 1_000,
  /** Addresses for people. Ours announce one. */
  servicesOfTask: 16,
} as const;
