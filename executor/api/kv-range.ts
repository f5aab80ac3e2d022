import { type Range, withPrefix } from "../../src/job/store/transaction.ts";

export interface RangeBounds {
  readonly prefix: string;
  /** The first key of it. */
  readonly from?: string | undefined;
  /** The first key behind it. */
  readonly to?: string | undefined;
}

/** The keys that begin so, within the bounds. */
export function rangeIn({ prefix, from = "", to }: RangeBounds): Range {
  const range = withPrefix(prefix);
  const ends = [range.to, to].filter((end) => end !== undefined).sort();
  return { from: from > range.from ? from : range.from, ...(ends[0] !== undefined && { to: ends[0] }) };
}
