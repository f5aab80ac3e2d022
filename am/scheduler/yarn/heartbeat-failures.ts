import type { WallClock } from "../../../src/hadoop/clock.ts";
import { errorMessage } from "../../../src/hadoop/errors.ts";
import { isRemoteError, RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import { placementRefusal, type ResourceRefusal, resourceRefusal } from "../../../src/hadoop/yarn/refusals.ts";
import type { SchedulerEvent } from "../scheduler.ts";

/**
 * - `too-large`: one of the asks in it was too large
 * - `refused`: what it said will be refused again
 * - `hopeless`: all were refused for so long that another attempt should try
 * - `away`: the ResourceManager is away, which passes
 */
export type HeartbeatFailure =
  | { readonly kind: "too-large"; readonly message: string; readonly refusal: ResourceRefusal }
  | { readonly kind: "refused"; readonly event: SchedulerEvent }
  | { readonly kind: "hopeless"; readonly reason: string }
  | { readonly kind: "away" };

/** The ResourceManager receives these heartbeats all this time; otherwise it would end the attempt itself. */
const refusedForMs = 300_000;

/** What a failed heartbeat means. */
export class HeartbeatFailures {
  readonly #clock: Pick<WallClock, "nowMs">;
  /** When the ResourceManager began to refuse every heartbeat, for an unknown reason. */
  #refusedSinceMs: number | undefined;

  constructor(clock: Pick<WallClock, "nowMs">) {
    this.#clock = clock;
  }

  /** A heartbeat was accepted. */
  end(): void {
    this.#refusedSinceMs = undefined;
  }

  meaningOf(error: unknown): HeartbeatFailure {
    const message = errorMessage(error);
    const refusal = resourceRefusal(error);
    if (refusal !== undefined) return { kind: "too-large", message, refusal };
    if (placementRefusal(error)) return { kind: "refused", event: { type: "constraints-refused", message } };
    if (isRemoteError(error, "INVALID_LABEL", "RESOURCE_TYPE_UNKNOWN")) {
      return { kind: "refused", event: { type: "ask-refused", message } };
    }
    if (!this.#lastsTooLong(error)) return { kind: "away" };
    const minutes = refusedForMs / 60_000;
    return {
      kind: "hopeless",
      reason: `the ResourceManager has refused every heartbeat for ${minutes} min: ${message}`,
    };
  }

  /** Whether an unknown exception has lasted too long. */
  #lastsTooLong(error: unknown): boolean {
    if (!(error instanceof RemoteError) || error.retryable) {
      this.#refusedSinceMs = undefined;
      return false;
    }
    const nowMs = this.#clock.nowMs();
    this.#refusedSinceMs ??= nowMs;
    return nowMs - this.#refusedSinceMs >= refusedForMs;
  }
}
