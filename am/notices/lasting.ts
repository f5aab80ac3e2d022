/** Tells of what has been so for long enough, once: what is so no more may be told again. */
export class Lasting {
  readonly #afterMs: number;
  #known = new Map<string, { readonly sinceMs: number; readonly isTold: boolean }>();

  /** @param afterMs undefined: never */
  constructor(afterMs: number | undefined) {
    this.#afterMs = afterMs ?? Number.POSITIVE_INFINITY;
  }

  /**
   * To be called regularly.
   * @param now all that is so now, and since when as far as the status says
   * @returns what is to be told now
   */
  due(now: ReadonlyMap<string, number>, nowMs: number): string[] {
    const before = this.#known;
    const due: string[] = [];
    this.#known = new Map();
    for (const [name, seenMs] of now) {
      const { sinceMs, isTold } = before.get(name) ?? { sinceMs: seenMs, isTold: false };
      const isDue = !isTold && nowMs - sinceMs >= this.#afterMs;
      if (isDue) due.push(name);
      this.#known.set(name, { sinceMs, isTold: isTold || isDue });
    }
    return due;
  }
}
