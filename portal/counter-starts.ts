import type { Sample } from "./metrics.ts";

/** Longer than between two scrapes, a minute by default. */
const NEW_MS = 90_000;

/** Where counters begin for one reader. */
export class CounterStarts {
  /** By the name of a counter and its labels: when it was told first. */
  readonly #firstMs = new Map<string, number>();
  #isFirst = true;

  /**
   * One scrape. A counter that was not there in the one before is told as 0 for a while: Prometheus counts from what it sees first, and would
   * miss what is in it already. What the first scrape tells was there before.
   */
  scrape(nowMs: number): (name: string, samples: readonly Sample[]) => Sample[] {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return (name, samples) =>
      samples.map((sample) => {
        const key = JSON.stringify([name, sample.labels]);
        const firstMs = this.#firstMs.get(key) ?? (isFirst ? Number.NEGATIVE_INFINITY : nowMs);
        this.#firstMs.set(key, firstMs);
        return nowMs - firstMs < NEW_MS ? { ...sample, value: 0 } : sample;
      });
  }
}
