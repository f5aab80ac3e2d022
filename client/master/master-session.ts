import { errorMessage } from "../../src/hadoop/errors.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import type { MasterContact } from "../applications/applications.ts";
import type { AttemptConnection } from "./attempt-connection.ts";

/** An AM that keeps to its own limits says so every second. */
const endingSilentMs = 5_000;

export interface SessionEvents {
  readonly status: (status: JobStatus) => void;
  readonly outcome: (outcome: JobOutcome) => void;
  /** The stream ended: after the outcome, or because the AM or the connection is lost. @param wasOpen whether anything was ever received */
  readonly closed: (wasOpen: boolean) => void;
}

/** What one attempt's AM reports, from connecting until its stream ends. */
export class MasterSession {
  readonly contact: MasterContact;
  readonly link: AttemptConnection;
  readonly #abort = new AbortController();
  readonly #now: () => number;
  #lastHeardAtMs: number;
  #state: "connecting" | "open" | "closed" = "connecting";
  #problem = "";
  #heardOutcome = false;
  #toldOutcome = false;
  #stoppedAtMs = 0;

  constructor(contact: MasterContact, link: AttemptConnection, events: SessionEvents, now: () => number) {
    this.contact = contact;
    this.link = link;
    this.#now = now;
    this.#lastHeardAtMs = now();
    void this.#listen(events);
  }

  /** Whether it has ever answered, and still may. */
  get state(): "connecting" | "open" | "closed" {
    return this.#state;
  }

  /** Why it was closed; empty while it is open. */
  get problem(): string {
    return this.#problem;
  }

  /** Whether it reported how the job ended, which is an AM's last message. */
  get heardOutcome(): boolean {
    return this.#heardOutcome;
  }

  /** Whether it is ending the job and still reports that, or has sent its last message. */
  get isEnding(): boolean {
    return this.#heardOutcome || (this.#toldOutcome && this.#state === "open" && this.silentMs < endingSilentMs);
  }

  /** When the AM of a job that is ending will have stopped its programs, by our clock; 0 while it has not said. */
  get stoppedAtMs(): number {
    return this.#stoppedAtMs;
  }

  /** An AM sends its state every second to those who follow it. */
  get silentMs(): number {
    return this.#now() - this.#lastHeardAtMs;
  }

  close(): void {
    this.#abort.abort();
    this.link.close();
  }

  #hear({ outcome, waits: [wait], nowMs }: JobStatus): void {
    this.#toldOutcome = outcome !== undefined;
    if (outcome !== undefined && wait?.endsAtMs !== undefined) this.#stoppedAtMs = this.#now() + wait.endsAtMs - nowMs;
  }

  async #listen(events: SessionEvents): Promise<void> {
    try {
      for await (const update of this.link.follow(this.#abort.signal)) {
        this.#state = "open";
        this.#lastHeardAtMs = this.#now();
        if (update.type === "status") {
          this.#hear(update.status);
          events.status(update.status);
        } else {
          this.#heardOutcome = true;
          events.outcome(update.outcome);
        }
      }
    } catch (error) {
      this.#problem = errorMessage(error);
    }
    const wasOpen = this.#state === "open";
    this.#state = "closed";
    events.closed(wasOpen);
  }
}
