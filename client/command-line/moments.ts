import { usageError } from "../../src/errors.ts";
import { parseDurationMs } from "../../src/hadoop/conf/values.ts";

/** The moment that an option names, milliseconds since the epoch: a duration before now, or a date and time; without a zone it is local. */
export function parseMoment(option: string, text: string, nowMs: number): number {
  const agoMs = parseDurationMs(text, "s");
  // A date alone is UTC's to Date.parse.
  const atMs =
    agoMs === undefined ? Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text) : nowMs - agoMs;
  if (Number.isNaN(atMs))
    throw usageError(`${option} takes a duration such as 10m or a time such as 2026-11-22T14:00, not "${text}"`);
  return atMs;
}
