import type { Ask } from "../../am/core/state/effects.ts";
import type { AllocatedContainer } from "../../am/core/state/events.ts";
import type { Application, Completion } from "./application.ts";

export interface AllocateRequest {
  readonly responseId: number;
  readonly asks: readonly Ask[];
  readonly releases: readonly string[];
  /** The whole set of hosts to avoid, where it changed. */
  readonly avoided?: readonly string[];
}

export interface AllocateResponse {
  readonly responseId: number;
  readonly allocated: readonly AllocatedContainer[];
  readonly completed: readonly Completion[];
  /** Containers of earlier attempts that the answer to the registration could not name. */
  readonly late: readonly AllocatedContainer[];
}

/**
 * `resync`: the ResourceManager has restarted and no longer knows this attempt · `over`: another attempt has begun, or the application has
 * ended
 */
export type Refusal = "resync" | "over";

/** What the ResourceManager does for one application's attempts (org.apache.hadoop.yarn.server.resourcemanager.ApplicationMasterService). */
export class ApplicationService {
  /** The attempt that runs, or that it is about to start. */
  attempt = 1;
  /** Whether it was told how the job ended. */
  hasEnd = false;
  readonly #application: Application;
  #isRegistered = false;
  #last: AllocateResponse | undefined;
  #isSaving = false;

  constructor(application: Application) {
    this.#application = application;
    application.onRestart = () => this.#forget();
  }

  get isUp(): boolean {
    return this.#application.cluster.isUp;
  }

  /** @returns the containers that were kept from an earlier attempt. A second registration is refused, because the first one counts */
  register(attempt: number): readonly AllocatedContainer[] | "already registered" | "over" {
    if (!this.#isCurrent(attempt)) {
      return "over";
    }
    if (this.#isRegistered) {
      return "already registered";
    }
    this.#isRegistered = true;
    this.#last = undefined;
    return this.#application.running();
  }

  /** A repeated request gets the same answer again and has no further effect. */
  allocate(attempt: number, request: AllocateRequest): AllocateResponse | Refusal {
    if (!this.#isCurrent(attempt)) {
      return "over";
    }
    if (!this.#isRegistered) {
      return "resync";
    }
    if (this.#last !== undefined && request.responseId === this.#last.responseId - 1) {
      return this.#last;
    }
    if (request.avoided !== undefined) {
      this.#application.avoid(request.avoided);
    }
    this.#application.ask(request.asks);
    for (const id of request.releases) {
      this.#application.release(id);
    }
    this.#last = {
      responseId: request.responseId + 1,
      allocated: this.#application.pullAllocated(),
      completed: this.#application.pullCompleted(),
      late: this.#application.pullLate(),
    };
    return this.#last;
  }

  /** @returns whether the end is recorded; the first call only begins to record it */
  finish(attempt: number): boolean | Refusal {
    if (!this.#isCurrent(attempt)) {
      return "over";
    }
    if (!this.#isRegistered) {
      return "resync";
    }
    if (!this.#isSaving) {
      this.#isSaving = true;
      return false;
    }
    this.hasEnd = true;
    this.#application.finish();
    return true;
  }

  /** The attempt has ended without unregistering: another one is to be started. */
  nextAttempt(): void {
    this.attempt++;
    this.#forget();
    this.#application.newAttempt();
  }

  #isCurrent(attempt: number): boolean {
    return attempt === this.attempt && !this.#application.finished;
  }

  #forget(): void {
    this.#isRegistered = false;
    this.#isSaving = false;
    this.#last = undefined;
  }
}
