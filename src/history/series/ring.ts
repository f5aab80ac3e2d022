/**
 * How several values of one span are combined: their mean (a rate), their maximum (memory), or the last one (a count that only grows).
 */
export const seriesRules = ["mean", "most", "last"] as const;
export type SeriesRule = (typeof seriesRules)[number];

/** More values in a span do not improve its mean. */
const MOST_COUNTED = 0xffff;

/**
 * One quantity over time: a fixed number of spans of equal length, each with one value, or none (NaN). Its memory does not grow: when time
 * exceeds it, pairs of neighbours are merged, and every span becomes twice as long. Its owner keeps track of the span length.
 */
export class SeriesRing {
  readonly rule: SeriesRule;
  /** A count has to stay exact; for a measurement seven digits are plenty. */
  readonly #values: Float32Array | Float64Array;
  /** How many values each mean is made of. */
  readonly #counts: Uint16Array;

  constructor(rule: SeriesRule, spans: number) {
    this.rule = rule;
    this.#values = (rule === "last" ? new Float64Array(spans) : new Float32Array(spans)).fill(Number.NaN);
    this.#counts = new Uint16Array(rule === "mean" ? spans : 0);
  }

  get bytes(): number {
    return this.#values.byteLength + this.#counts.byteLength;
  }

  /** The value of a span; NaN if nothing was received in it. */
  at(span: number): number {
    return this.#values[span] ?? Number.NaN;
  }

  add(span: number, value: number): void {
    this.#put(span, this.at(span), this.#counts[span] ?? 0, value, 1);
  }

  /** Merges each pair of spans into one. */
  halve(): void {
    const spans = this.#values.length;
    for (let span = 0; span < spans; span += 2) {
      const [first, second] = [this.at(span), this.at(span + 1)];
      const [ofFirst, ofSecond] = [this.#counts[span] ?? 0, this.#counts[span + 1] ?? 0];
      this.#counts[span / 2] = ofFirst;
      this.#values[span / 2] = first;
      if (!Number.isNaN(second)) this.#put(span / 2, first, ofFirst, second, ofSecond);
    }
    this.#values.fill(Number.NaN, spans / 2);
    this.#counts.fill(0, spans / 2);
  }

  #put(span: number, before: number, ofBefore: number, value: number, ofValue: number): void {
    if (this.rule === "mean") {
      const all = ofBefore + ofValue;
      this.#values[span] = ofBefore === 0 ? value : before + ((value - before) * ofValue) / all;
      this.#counts[span] = Math.min(all, MOST_COUNTED);
    } else {
      this.#values[span] = this.rule === "most" && before > value ? before : value;
    }
  }
}
