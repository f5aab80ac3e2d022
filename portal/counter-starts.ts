import type { Sample } from "./metrics.ts";

/** More than the interval of scrapes, which is a minute by default. */
const NEW_MS = 90_000;

/** Where counters begin for one reader. */
export class CounterStarts {
  /** When a counter was first reported, by its name and labels. */
  readonly #firstMs = new Map<string, number>();
  #isFirst = true;

  /**
   * Begins a scrape. A counter that was missing in the previous scrape is reported as 0 for a while: Prometheus counts from the first value
   * that it sees, and would miss what the counter already contains. Counters in the first scrape are older than the reader.
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
