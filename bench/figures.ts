export type Unit = "ms" | "MiB" | "%" | "calls" | "calls/s" | "calls/min" | "B" | "KiB" | "MiB/s" | "rows/s" | "×";

/**
 * The limit that architecture.md sets. It is shown beside a figure and never asserted, because a shared machine proves
 * nothing.
 */
export interface Budget {
  readonly limit: number;
  readonly kind: "at most" | "at least";
}

/** One quantity, measured once in each run. */
export interface Figure {
  readonly name: string;
  readonly unit: Unit;
  readonly values: readonly number[];
  readonly budget?: Budget;
}

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly runs: number;
  /** Whether the median is within the budget; absent where there is no budget. */
  readonly met?: boolean;
}

/** What one run of a measurement gave, by the figures' names. */
export type Sample = Readonly<Record<string, number>>;

/** How a figure is shown. */
export interface FigureDefinition {
  readonly name: string;
  readonly unit: Unit;
  readonly budget?: Budget;
}

export const atMost = (limit: number): Budget => ({ limit, kind: "at most" });
export const atLeast = (limit: number): Budget => ({ limit, kind: "at least" });

/** The figures of several runs. A run that does not name a figure is left out of that figure. */
export function collect(definitions: readonly FigureDefinition[], samples: readonly Sample[]): Figure[] {
  return definitions.map((definition) => ({
    ...definition,
    values: samples.map((sample) => sample[definition.name]).filter((value) => value !== undefined),
  }));
}

/** @returns undefined when no run gave the figure */
export function summarize({ values, budget }: Figure): Summary | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) return undefined;
  const median = medianOf(sorted);
  const summary = { median, min, max, runs: sorted.length };
  if (budget === undefined) return summary;
  return { ...summary, met: budget.kind === "at most" ? median <= budget.limit : median >= budget.limit };
}

/** @param sorted the values, the smallest first */
export function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper;
}
