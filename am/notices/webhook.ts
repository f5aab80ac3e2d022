import { createHmac } from "node:crypto";
import { type BackOff, backOffMs } from "../../src/hadoop/back-off.ts";
import type { MonotonicClock } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { callJson } from "./json-calls.ts";

/** One message, which may arrive twice: its receiver knows it by its id. */
export interface WebhookMessage {
  readonly id: string;
  readonly atMs: number;
  readonly body: object;
}

export interface WebhookOptions {
  readonly url: URL;
  /** Signs what is sent; undefined: nothing does. */
  readonly key: Uint8Array | undefined;
  readonly clock: Pick<MonotonicClock, "sleep" | "random">;
  /** Told of each message that is given up. */
  readonly warn: (message: string) => void;
}

export const MOST_WAITING = 100;
export const TRIES = 5;
const pauses: BackOff = { firstMs: 1_000, mostMs: 30_000 };
/** They say that the same may succeed later; other refusals are final. */
const passing = new Set([408, 425, 429]);

/**
 * Posts a job's notices, one after the other, by the headers of Standard Webhooks (github.com/standard-webhooks). What waits, each try and
 * the number of tries are bounded, and nobody waits for it.
 */
export class Webhook {
  readonly #options: WebhookOptions;
  readonly #waiting: WebhookMessage[] = [];
  #sending: Promise<void> = Promise.resolve();
  #isSending = false;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  send(message: WebhookMessage): void {
    this.#waiting.push(message);
    if (this.#waiting.length > MOST_WAITING) {
      this.#waiting.shift();
      this.#options.warn(`${this.#host} is too slow: the oldest of ${MOST_WAITING} notices is given up.`);
    }
    if (!this.#isSending) this.#sending = this.#sendAll();
  }

  /** Resolves when all are sent or given up. */
  async settled(): Promise<void> {
    await this.#sending;
  }

  get #host(): string {
    return this.#options.url.host;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await this.#deliver(next);
    this.#isSending = false;
  }

  async #deliver(message: WebhookMessage): Promise<void> {
    const { clock, warn } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const refusal = await this.#post(message).catch((error: unknown) => ({
        why: errorMessage(error),
        isFinal: false,
      }));
      if (refusal === undefined) return;
      if (refusal.isFinal || tries === TRIES) {
        warn(`A notice was not taken, after ${tries === 1 ? "1 try" : `${tries} tries`}: ${refusal.why}`);
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

/** Of the id, the time and the body. */
function signature(key: Uint8Array, head: string, body: Uint8Array): string {
  return `v1,${createHmac("sha256", key).update(head).update(body).digest("base64")}`;
}
