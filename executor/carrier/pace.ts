import { type Readable, Transform } from "node:stream";
import { sleep } from "../../src/hadoop/clock.ts";

/** A limit on the bytes per second of all streams through it together. */
export class Pace {
  readonly #bytesPerSecond: number | undefined;
  readonly #nowMs: () => number;
  readonly #sleep: (ms: number) => Promise<unknown>;
  #freeAtMs = 0;

  /** @param bytesPerSecond undefined: no limit */
  constructor(bytesPerSecond: number | undefined, nowMs: () => number, pause = unheldSleep) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#nowMs = nowMs;
    this.#sleep = pause;
  }

  /** The same bytes, no faster than allowed. */
  through(source: Readable): Readable {
    if (this.#bytesPerSecond === undefined) return source;
    const paced = new Transform({
      transform: (chunk: Uint8Array, _encoding, done) => {
        this.#take(chunk.byteLength).then(
          () => done(null, chunk),
          (error: Error) => done(error),
        );
      },
    });
    source.on("error", (error) => paced.destroy(error));
    paced.on("close", () => source.destroy());
    return source.pipe(paced);
  }

  async #take(bytes: number): Promise<void> {
    const now = this.#nowMs();
    const fromMs = Math.max(now, this.#freeAtMs);
    this.#freeAtMs = fromMs + (bytes / (this.#bytesPerSecond ?? Number.POSITIVE_INFINITY)) * 1000;
    if (fromMs > now) await this.#sleep(fromMs - now);
  }
}

/** Does not keep the process alive for a stream that was given up. */
function unheldSleep(ms: number): Promise<unknown> {
  return sleep(ms, undefined, { ref: false });
}
