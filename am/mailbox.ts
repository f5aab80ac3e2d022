import type { WallClock } from "../src/hadoop/clock.ts";

export interface MailboxOptions<Event> {
  readonly clock: WallClock;
  /** Called for one event at a time; events that it posts itself wait for their turn. */
  readonly handle: (event: Event) => void;
  /** `handle` threw. The mailbox is closed by then, because the state after it is undefined. */
  readonly failed: (error: unknown) => void;
  readonly fence: Fence<Event>;
  /**
   * Called when this process stood still for `gapMs`: hearing nothing meanwhile says nothing about others.
   * @returns the event to handle before everything that waits
   */
  readonly stoodStill: (gapMs: number) => Event;
}

/** A longer gap between two ticks means that this process stood still, as under SIGSTOP or on a frozen machine. */
const STOOD_STILL_MS = 2_000;

/**
 * A process that was paused (SIGSTOP, a frozen machine) may have been replaced meanwhile without knowing it. So after a gap between two
 * ticks nothing is handled before it is confirmed that this process is still in charge.
 */
export interface Fence<Event> {
  readonly longestGapMs: number;
  /** Resolves with false when another has taken over. Waits as long as nobody can say. */
  confirm(): Promise<boolean>;
  /** Whether the event is handled even before that is confirmed. */
  passes(event: Event): boolean;
  /** Another has taken over; the mailbox is closed. */
  superseded(): void;
}

/** The one place where everything that happens to a job waits its turn. */
export class Mailbox<Event> {
  readonly #options: MailboxOptions<Event>;
  /** - `open`: idle · `handling`: an event is being handled · `held`: waiting for the fence's confirmation · `closed`: for good */
  #state: "open" | "handling" | "held" | "closed" = "open";
  #queue: Event[] = [];
  #lastTickMs: number;

  constructor(options: MailboxOptions<Event>) {
    this.#options = options;
    this.#lastTickMs = options.clock.nowMs();
  }

  /** Handles the event, at once unless another one is being handled. Ignored when the mailbox is closed. */
  post(event: Event): void {
    if (this.#state === "closed") return;
    this.tick();
    if (this.#state === "held" && this.#options.fence.passes(event)) {
      this.#handle(event);
      return;
    }
    this.#queue.push(event);
    this.#drain();
  }

  /** Shows that this process runs. To be called at least once a second, and before anybody is judged for not being heard. */
  tick(): void {
    const nowMs = this.#options.clock.nowMs();
    const gapMs = nowMs - this.#lastTickMs;
    this.#lastTickMs = nowMs;
    if (gapMs <= STOOD_STILL_MS || this.#state === "closed") return;
    this.#queue.unshift(this.#options.stoodStill(gapMs));
    if (gapMs > this.#options.fence.longestGapMs && this.#state === "open") void this.#hold();
    this.#drain();
  }

  /** From now on no event is handled. */
  close(): void {
    this.#state = "closed";
    this.#queue = [];
  }

  async #hold(): Promise<void> {
    this.#state = "held";
    const current = await this.#options.fence.confirm().catch((error: unknown) => {
      this.#fail(error);
      return true;
    });
    if (this.#state !== "held") return;
    if (current) {
      this.#state = "open";
      this.#drain();
    } else {
      this.close();
      this.#options.fence.superseded();
    }
  }

  #drain(): void {
    if (this.#state !== "open") return;
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
      this.#handle(event);
      if (this.#state !== "open") return;
    }
  }

  #handle(event: Event): void {
    const before = this.#state;
    this.#state = "handling";
    try {
      this.#options.handle(event);
      if (this.#state === "handling") this.#state = before;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.close();
    this.#options.failed(error);
  }
}
