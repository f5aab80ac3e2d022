import type { WallClock } from "../../../src/hadoop/clock.ts";
import { errorMessage } from "../../../src/hadoop/errors.ts";
import { isRemoteError, RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import { placementRefusal, type ResourceRefusal, resourceRefusal } from "../../../src/hadoop/yarn/refusals.ts";
import type { SchedulerEvent } from "../scheduler.ts";

/**
 * - `too-large`: one of the asks that it told was
 * - `refused`: what it told will be refused again
 * - `hopeless`: all were refused for so long that another attempt should try
 * - `away`: the ResourceManager is, which passes
 */
export type HeartbeatFailure =
  | { readonly kind: "too-large"; readonly message: string; readonly refusal: ResourceRefusal }
  | { readonly kind: "refused"; readonly event: SchedulerEvent }
  | { readonly kind: "hopeless"; readonly reason: string }
  | { readonly kind: "away" };

/** The ResourceManager receives our heartbeats all this time, or it would end the attempt itself. */
const refusedForMs = 300_000;

/** What a heartbeat that failed means. */
export class HeartbeatFailures {
  readonly #clock: Pick<WallClock, "nowMs">;
  /** When the ResourceManager began to refuse every heartbeat, for an unknown reason. */
  #refusedSinceMs: number | undefined;

  constructor(clock: Pick<WallClock, "nowMs">) {
    this.#clock = clock;
  }

  /** A heartbeat was taken. */
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

  /** Whether an unknown exception does. */
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
