import type { Clock } from "./clock.ts";

/** Sends one message; calls back when the transport has taken its bytes. */
export type Send = (sent: () => void) => void;

/** A receiver that does not read holds its place for no longer. */
const longestSendMs = 1_000;

/**
 * Large messages to many receivers, a few at a time: what is under way exists once for each of them, and a thousand copies of a cluster
 * spec would be most of an ApplicationMaster's memory. Messages to one receiver keep their order.
 */
export class PacedSends {
  readonly #clock: Clock;
  readonly #atOnce: number;
  readonly #waiting: { readonly receiver: string; readonly send: Send }[] = [];
  readonly #waitingFor = new Map<string, number>();
  #underWay = 0;

  constructor(clock: Clock, atOnce: number) {
    this.#clock = clock;
    this.#atOnce = atOnce;
  }

  /** Whether something for it has not been sent yet: what follows must queue up behind. */
  isWaiting(receiver: string): boolean {
    return this.#waitingFor.has(receiver);
  }

  add(receiver: string, send: Send): void {
    this.#waiting.push({ receiver, send });
    this.#waitingFor.set(receiver, (this.#waitingFor.get(receiver) ?? 0) + 1);
    this.#sendNext();
  }

  #sendNext(): void {
    while (this.#underWay < this.#atOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#leave(next.receiver);
      this.#send(next.send);
    }
  }

  #leave(receiver: string): void {
    const left = (this.#waitingFor.get(receiver) ?? 0) - 1;
    if (left > 0) this.#waitingFor.set(receiver, left);
    else this.#waitingFor.delete(receiver);
  }

  #send(send: Send): void {
    this.#underWay += 1;
    let over = false;
    const end = (): void => {
      if (over) return;
      over = true;
      cancel();
      this.#underWay -= 1;
      this.#sendNext();
    };
    const cancel = this.#clock.after(longestSendMs, end);
    send(end);
  }
}
