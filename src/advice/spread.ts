/** The median, the 95th percentile and the maximum of measurements. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly most: number;
}

/** Undefined where there are no values. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  const [p50, p95, most] = [at(0.5), at(0.95), at(1)];
  return p50 === undefined || p95 === undefined || most === undefined ? undefined : { p50, p95, most };
}

export function medianOf(values: readonly number[]): number | undefined {
  return spreadOf(values)?.p50;
}

export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
