import { createHmac } from "node:crypto";
import { type BackOff, backOffMs } from "../../src/hadoop/back-off.ts";
import type { MonotonicClock } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { callJson } from "./json-calls.ts";

/** One message. It may arrive twice: its receiver recognises it by its id. */
export interface WebhookMessage {
  readonly id: string;
  /** What it reports, in a word. */
  readonly event: string;
  readonly atMs: number;
  readonly body: object;
}

export interface WebhookOptions {
  readonly url: URL;
  /** Signs messages; undefined: they are not signed. */
  readonly key: Uint8Array | undefined;
  readonly clock: Pick<MonotonicClock, "sleep" | "random">;
  /** Called for each message that is given up. */
  readonly warn: (message: string) => void;
}

export const MOST_WAITING = 100;
export const TRIES = 5;
const pauses: BackOff = { firstMs: 1_000, mostMs: 30_000 };
/** These say that the same request may succeed later; other refusals are final. */
const passing = new Set([408, 425, 429]);

/**
 * Posts a job's notices, one after the other, with the headers of Standard Webhooks (github.com/standard-webhooks). The queue, each try
 * and the number of tries are bounded, and nobody waits for it.
 */
export class Webhook {
  readonly #options: WebhookOptions;
  readonly #waiting: WebhookMessage[] = [];
  /** The message that is being sent, and why it was not taken so far. */
  #present: { readonly message: WebhookMessage; why: string } | undefined;
  #isOver = false;
  #sending: Promise<void> = Promise.resolve();
  #isSending = false;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  send(message: WebhookMessage): void {
    this.#waiting.push(message);
    if (this.#waiting.length > MOST_WAITING) {
      const oldest = this.#waiting.shift();
      this.#options.warn(
        `The notice ${oldest?.event} is given up: ${this.#host} is too slow, and ${MOST_WAITING} others wait.`,
      );
    }
    if (!this.#isSending) this.#sending = this.#sendAll();
  }

  /** Resolves when all are sent or given up. */
  async settled(): Promise<void> {
    await this.#sending;
  }

  /** Gives up what is not taken yet, and logs each: nobody waits any longer. */
  giveUp(): void {
    this.#isOver = true;
    const lost = ({ event }: WebhookMessage, why: string) =>
      this.#options.warn(`The notice ${event} was not taken by the job's end: ${why}`);
    if (this.#present !== undefined) lost(this.#present.message, this.#present.why);
    for (const message of this.#waiting.splice(0)) lost(message, "it waited for the one before it.");
  }

  get #host(): string {
    return this.#options.url.host;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const present = { message: next, why: `${this.#host} has not answered.` };
      this.#present = present;
      await this.#deliver(present);
      this.#present = undefined;
    }
    this.#isSending = false;
  }

  async #deliver(present: { readonly message: WebhookMessage; why: string }): Promise<void> {
    const { message } = present;
    const { clock, warn } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const refusal = await this.#post(message).catch((error: unknown) => ({
        why: errorMessage(error),
        isFinal: false,
      }));
      if (refusal === undefined || this.#isOver) return;
      present.why = refusal.why;
      if (refusal.isFinal || tries === TRIES) {
        warn(
          `The notice ${message.event} was not taken, after ${tries === 1 ? "1 try" : `${tries} tries`}: ${refusal.why}`,
        );
        return;
      }
      await clock.sleep(backOffMs(pauses, tries, clock.random()));
    }
  }

  /** @returns why it was not taken, if it was not */
  async #post({ id, atMs, body }: WebhookMessage): Promise<{ why: string; isFinal: boolean } | undefined> {
    const { url, key } = this.#options;
    const bytes = Buffer.from(JSON.stringify(body));
    const timestamp = String(Math.floor(atMs / 1000));
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      ...(key === undefined ? {} : { "webhook-signature": signature(key, `${id}.${timestamp}.`, bytes) }),
    };
    const answer = await callJson(url, headers, bytes);
    answer.destroy();
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode < 300) return undefined;
    const isFinal = statusCode < 500 && !passing.has(statusCode);
    return { why: `${this.#host} answered HTTP ${statusCode}.`, isFinal };
  }
}

/** Covers the id, the time and the body. */
function signature(key: Uint8Array, head: string, body: Uint8Array): string {
  return `v1,${createHmac("sha256", key).update(head).update(body).digest("base64")}`;
}
