/** How many values a program may report, by name: the ApplicationMaster keeps them in its journal. */
export const MOST_METRICS = 32;
/** Visible signs: a name is a word of a line, and a key of JSON. */
export const METRIC_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]{1,64}$/u;

/** Of values that somebody reports, those that are kept. */
export function keptMetrics(values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => METRIC_NAME.test(name))
      .slice(0, MOST_METRICS),
  );
}

/** What JSON has no number for. */
export type NonFinite = "NaN" | "Infinity" | "-Infinity";

/** As it stands in JSON; `Number` reads it. */
export function writtenNumber(value: number): number | NonFinite {
  if (Number.isFinite(value)) return value;
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}
