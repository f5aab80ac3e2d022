import { backOffMs } from "../back-off.ts";
import { sleep } from "../clock.ts";
import { FileSystemError, hasCode } from "./errors.ts";
import type { WebHdfsRequest } from "./webhdfs-connection.ts";

/** How long a failing operation is retried. */
export interface RetryPolicy {
  /** One round tries every server once. */
  readonly rounds: number;
  /** The pause after the first round; each further pause is twice as long. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/**
 * About 4 s in all when servers refuse. A silent server is waited for only once more, because each try takes the whole idle timeout. Longer
 * outages are left to the caller, who can report them.
 */
export const defaultRetryPolicy: RetryPolicy = { rounds: 5, firstPauseMs: 250, longestPauseMs: 2000 };

export interface FailoverOptions {
  readonly policy?: RetryPolicy;
  readonly sleep?: (ms: number) => Promise<unknown>;
  /** 0 to 1, for jitter. */
  readonly random?: () => number;
}

/** Whether an operation may be sent again although the server may already have carried it out. */
export type Repeatable = "idempotent" | "look-first";

/**
 * Chooses among the servers of one file system and decides about retries. The server that answered last is asked first; one that is
 * standby, starting or unreachable is skipped; a request whose answer was lost is repeated only where that is harmless.
 */
export class Failover {
  readonly #endpoints: readonly string[];
  readonly #policy: RetryPolicy;
  readonly #sleep: (ms: number) => Promise<unknown>;
  readonly #random: () => number;
  #current = 0;

  /** @param endpoints base addresses, at least one */
  constructor(endpoints: readonly string[], options: FailoverOptions = {}) {
    this.#endpoints = endpoints;
    this.#policy = options.policy ?? defaultRetryPolicy;
    this.#sleep = options.sleep ?? sleep;
    this.#random = options.random ?? Math.random;
  }

  /**
   * Runs an attempt until it succeeds, fails permanently, or exhausts the policy.
   * @throws the last failure; for `look-first` also at once when an answer was lost (CONNECTION_LOST or TIMEOUT)
   */
  async run<T>(repeatable: Repeatable, attempt: (endpoint: string) => Promise<T>): Promise<T> {
    const attempts = this.#policy.rounds * this.#endpoints.length;
    let silences = 0;
    for (let count = 1; ; count += 1) {
      const index = this.#current % this.#endpoints.length;
      try {
        return await attempt(this.#endpoints[index] ?? "");
      } catch (error) {
        // Another operation may have switched servers in the meantime; a DataNode's failure says nothing about the NameNode.
        if (isServerFailure(error) && this.#current === index && !hasCode(error, "DATANODE_UNREACHABLE")) {
          this.#current = (index + 1) % this.#endpoints.length;
        }
        if (hasCode(error, "TIMEOUT")) silences += 1;
        if (count >= attempts || silences > this.#endpoints.length || !isServerFailure(error)) throw error;
        if (repeatable === "look-first" && isLostAnswer(error)) throw error;
        if (count % this.#endpoints.length === 0) await this.#sleep(this.#pauseMs(count / this.#endpoints.length));
      }
    }
  }

  #pauseMs(round: number): number {
    const { firstPauseMs, longestPauseMs } = this.#policy;
    return backOffMs({ firstMs: firstPauseMs, mostMs: longestPauseMs }, round, this.#random());
  }
}

/** Whether the server may have carried the operation out although its answer did not arrive. */
export function isLostAnswer(error: unknown): boolean {
  return error instanceof FileSystemError && hasCode(error, "CONNECTION_LOST", "TIMEOUT");
}

function isServerFailure(error: unknown): boolean {
  if (!(error instanceof FileSystemError)) return false;
  return isLostAnswer(error) || hasCode(error, "UNREACHABLE", "DATANODE_UNREACHABLE", "STANDBY", "NOT_READY");
}

/** How often an operation is sent again after its answer was lost and checking showed that it had not taken place. */
const lostAnswerRepeats = 3;

/** Runs an operation that must not take place twice: when its answer is lost, `look` finds the result, or undefined to repeat it. */
export async function lookFirst<T>(attempt: () => Promise<T>, look: () => Promise<T | undefined>): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLostAnswer(error)) throw error;
      const result = await look();
      if (result !== undefined) return result;
      if (repeats === lostAnswerRepeats) throw error;
    }
  }
}

/** The error for an operation of which checking did not show whether it took place. */
export function outcomeUnknown({ operation, path }: WebHdfsRequest, seen: string): FileSystemError {
  return new FileSystemError(
    `${operation} ${path}: the answer was lost, and ${seen}: look at the file before trying again`,
    { code: "OUTCOME_UNKNOWN", operation, path },
  );
}
