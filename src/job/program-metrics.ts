/** How many values a program may report, by name: the ApplicationMaster keeps them in its journal. */
export const MOST_METRICS = 32;
/** Visible signs: a name is a word of a line, and a key of JSON. */
export const METRIC_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]{1,64}$/u;

/** Of values that somebody reports, those that are kept. */
export function keptMetrics(values: Readonly<Record<string, number>>): Record<string, number> {
  const fitting = Object.entries(values).filter(([name, value]) => METRIC_NAME.test(name) && Number.isFinite(value));
  return Object.fromEntries(fitting.slice(0, MOST_METRICS));
}
