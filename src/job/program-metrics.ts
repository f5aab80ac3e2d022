/** How many metrics a program may report: the ApplicationMaster keeps them in its journal. */
export const MOST_METRICS = 32;
/** Visible characters: a name is a word in a line, and a key in JSON. */
export const METRIC_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]{1,64}$/u;

/** The reported values that are kept. */
export function keptMetrics(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => METRIC_NAME.test(name))
      .slice(0, MOST_METRICS),
  );
}

/** Numbers that JSON cannot represent. */
export type NonFinite = "NaN" | "Infinity" | "-Infinity";

/** The number's form in JSON; `Number` reads it. */
export function writtenNumber(value: number): number | NonFinite {
  if (Number.isFinite(value)) return value;
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}
