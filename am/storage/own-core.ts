import type { WallClock } from "../../src/hadoop/clock.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { type JournalWrite, journalClosed, type SealedJournal } from "./sealed-journal.ts";

export interface OwnCoreOptions<Event> {
  readonly clock: WallClock;
  readonly journal: Pick<SealedJournal<never>, "write">;
  /** Passes it to the core, and carries out the resulting effects. */
  readonly post: (event: Event | Heard) => void;
  /** The journal could not be written; the core asks for it again. */
  readonly warn: (why: string) => void;
}

/** What every such core hears about its own effects. */
type Heard =
  | { readonly type: "journal-written" | "journal-failed"; readonly sequence: number }
  | { readonly type: "wake-up" };

/** What the key-value store's core and a feed's core have in common: answers to calls, a journal, wake-ups. */
export class OwnCore<Event, Answer> {
  readonly #options: OwnCoreOptions<Event>;
  readonly #answered = new Map<number, (answer: Answer) => void>();
  #lastId = 0;
  #wakeUp: { readonly atMs: number; readonly cancel: () => void } | undefined;

  constructor(options: OwnCoreOptions<Event>) {
    this.#options = options;
  }

  /** @param eventOf the call of that number @returns resolves with its answer */
  ask(eventOf: (id: number) => Event): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#answered.set(id, resolve);
      this.#options.post(eventOf(id));
    });
  }

  answer({ id, answer }: { readonly id: number; readonly answer: Answer }): void {
    this.#answered.get(id)?.(answer);
    this.#answered.delete(id);
  }

  /** The core hears the result, unless nothing is written any more. */
  async write(write: JournalWrite): Promise<void> {
    const { journal, post, warn } = this.#options;
    const { sequence } = write;
    try {
      await journal.write(write);
      post({ type: "journal-written", sequence });
    } catch (error) {
      if (errorCode(error) === journalClosed) return;
      warn(errorMessage(error));
      post({ type: "journal-failed", sequence });
    }
  }

  /** Replaces the wake-up that was asked for before. */
  wakeAt(atMs: number): void {
    if (this.#wakeUp?.atMs === atMs) return;
    this.#wakeUp?.cancel();
    const { clock, post } = this.#options;
    const cancel = clock.after(Math.max(0, atMs - clock.nowMs()), () => {
      this.#wakeUp = undefined;
      post({ type: "wake-up" });
    });
    this.#wakeUp = { atMs, cancel };
  }
}
