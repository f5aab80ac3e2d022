import type { Ask } from "../../am/core/state/effects.ts";
import type { AllocatedContainer } from "../../am/core/state/events.ts";
import type { Completion, Yarn } from "./yarn.ts";

export interface AllocateRequest {
  readonly responseId: number;
  readonly asks: readonly Ask[];
  readonly releases: readonly string[];
  /** The whole set, where it changed. */
  readonly avoided?: readonly string[];
}

export interface AllocateResponse {
  readonly responseId: number;
  readonly allocated: readonly AllocatedContainer[];
  readonly completed: readonly Completion[];
}

/** `resync`: it has restarted and knows this attempt no more · `over`: another attempt has begun, or the application has ended */
export type Refusal = "resync" | "over";

/** What the ResourceManager does for one application's attempts (org.apache.hadoop.yarn.server.resourcemanager.ApplicationMasterService). */
export class ApplicationService {
  /** The attempt that it has, or is about to start. */
  attempt = 1;
  /** It was told how the job ended. */
  hasEnd = false;
  #outages = 0;
  readonly #yarn: Yarn;
  #isRegistered = false;
  #last: AllocateResponse | undefined;
  #isSaving = false;

  constructor(yarn: Yarn) {
    this.#yarn = yarn;
  }

  get isUp(): boolean {
    return this.#outages === 0;
  }

  /** @returns the containers that were kept from an earlier attempt; a second registration is refused, for the first one counts */
  register(attempt: number): readonly AllocatedContainer[] | "already registered" | "over" {
    if (!this.#isCurrent(attempt)) {
      return "over";
    }
    if (this.#isRegistered) {
      return "already registered";
    }
    this.#isRegistered = true;
    this.#last = undefined;
    return this.#yarn.running();
  }

  /** A request that comes again is answered as before, and not looked at. */
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
      this.#yarn.avoid(request.avoided);
    }
    this.#yarn.ask(request.asks);
    for (const id of request.releases) {
      this.#yarn.release(id);
    }
    this.#last = {
      responseId: request.responseId + 1,
      allocated: this.#yarn.pullAllocated(),
      completed: this.#yarn.pullCompleted(),
    };
    return this.#last;
  }

  /** @returns whether the end is put down; it is not at the first call */
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
    this.#yarn.finishApplication();
    return true;
  }

  /** The attempt has ended without a word: another is to be started. */
  nextAttempt(): void {
    this.attempt++;
    this.#forget();
    this.#yarn.newAttempt();
  }

  goDown(): void {
    this.#outages++;
    this.#yarn.isUp = false;
  }

  /** With what its store says: the application and its attempt, and nothing of what that had asked for. */
  comeBack(): void {
    this.#outages--;
    this.#yarn.isUp = this.isUp;
    this.#forget();
    this.#yarn.restarted();
  }

  #isCurrent(attempt: number): boolean {
    return attempt === this.attempt && !this.#yarn.finished;
  }

  #forget(): void {
    this.#isRegistered = false;
    this.#isSaving = false;
    this.#last = undefined;
  }
}
