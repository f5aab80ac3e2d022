import { backOffMs } from "../../src/hadoop/back-off.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";

const BACK_OFF = { firstMs: 1_000, mostMs: 15_000 };
const MOST_TRIES = 6;

export interface Persistence {
  readonly random: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly failed: (error: unknown, tries: number) => void;
  /** Whether another try cannot help, besides what the file system says. */
  readonly isFinal?: (error: unknown) => boolean;
}

/**
 * Retries failed work, with growing pauses, in addition to the retries of the file system's client: long enough for a file system that is
 * restarted. Throws the last failure; at once when the signal fires, or when another try would fail in the same way.
 */
export async function persistently<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
  { random, failed, isFinal = () => false, pause = sleep }: Persistence,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || isRefused(error) || isFinal(error) || tries === MOST_TRIES) throw error;
      failed(error, tries);
      await pause(backOffMs(BACK_OFF, tries, random()), signal);
      if (signal.aborted) throw error;
    }
  }
}

function isRefused(error: unknown): boolean {
  return hasCode(error, "ACCESS_DENIED", "AUTHENTICATION_FAILED", "INVALID_REQUEST", "FILE_NOT_FOUND");
}
