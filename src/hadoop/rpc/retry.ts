import { backOffMs } from "../back-off.ts";
import { CodedError } from "../errors.ts";

/** How long and how often a call is retried. */
export interface RetryPolicy {
  /** Counted from the first try; it does not cut short a try that is under way. */
  readonly giveUpAfterMs: number;
  /** Before the second round over all endpoints; each later round waits twice as long. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

/** For a person waiting at a terminal. */
export const interactiveRetry: RetryPolicy = { giveUpAfterMs: 10_000, firstDelayMs: 200, longestDelayMs: 2_000 };

/** For a program that must outlive a server's restart or failover. */
export const patientRetry: RetryPolicy = { giveUpAfterMs: 15 * 60_000, firstDelayMs: 200, longestDelayMs: 5_000 };

/** Each call is made once. */
export const noRetry: RetryPolicy = { giveUpAfterMs: 0, firstDelayMs: 0, longestDelayMs: 0 };

/** The facts when a try has failed. */
export interface FailedTry {
  readonly error: unknown;
  /** The number of tries so far, including this one. */
  readonly tries: number;
  readonly elapsedMs: number;
  readonly endpointCount: number;
  /** Whether carrying the call out twice is harmless; if not, only a try that never reached the server is repeated. */
  readonly repeatable: boolean;
}

export type RetryDecision =
  | { readonly kind: "fail" }
  | {
      readonly kind: "retry";
      readonly delayMs: number;
      readonly moveOn: boolean;
      /** Every endpoint has been tried. */
      readonly roundIsOver: boolean;
    };

/** Errors after which another endpoint may be the active one. */
const elsewhereCodes: ReadonlySet<string> = new Set([
  "RPC_CONNECT_FAILED",
  "RPC_CONNECTION_LOST",
  "RPC_TIMEOUT",
  "STANDBY",
]);
/** Errors that guarantee that the server did not carry the call out. */
const untouchedCodes: ReadonlySet<string> = new Set(["RPC_CONNECT_FAILED", "STANDBY", "NOT_READY", "NODE_NOT_READY"]);

/**
 * Decides what follows a failed try. The endpoints of one round are tried without delay; each further round waits longer, by a random half
 * to full delay so that many clients do not come back together. `random` is in [0, 1).
 */
export function decideRetry(failed: FailedTry, policy: RetryPolicy, random: number): RetryDecision {
  const { error, tries, endpointCount } = failed;
  if (!(error instanceof CodedError) || !error.retryable) return { kind: "fail" };
  if (!failed.repeatable && !untouchedCodes.has(error.code)) return { kind: "fail" };
  if (failed.elapsedMs >= policy.giveUpAfterMs) return { kind: "fail" };
  const moveOn = endpointCount > 1 && elsewhereCodes.has(error.code);
  const round = moveOn ? Math.floor(tries / endpointCount) : tries;
  if (moveOn && tries % endpointCount !== 0) {
    return { kind: "retry", delayMs: 0, moveOn, roundIsOver: false };
  }
  const backOff = { firstMs: policy.firstDelayMs, mostMs: policy.longestDelayMs };
  return { kind: "retry", delayMs: backOffMs(backOff, round, random), moveOn, roundIsOver: true };
}
