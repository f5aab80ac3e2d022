import { usageError } from "../../src/errors.ts";
import { parseDurationMs } from "../../src/hadoop/conf/values.ts";

/** For the commands that forward a local port to a job. */
export const localPortOption = {
  "local-port": {
    type: "string",
    describe: "The local port; default: the same number, or any free port if it is taken",
  },
} as const;

/** @throws UserError when the text is no port */
export function parsePort(what: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw usageError(`${what} is a number from 1 to 65535, not ${text}`);
  return port;
}

/**
 * The moment that an option names, milliseconds since the epoch: a duration before now (`10m`, `10m ago`), or a date and time, which is
 * local without a zone.
 */
export function parseMoment(option: string, text: string, nowMs: number): number {
  const agoMs = parseDurationMs(text.replace(/\s+ago$/, ""), "s");
  // Date.parse takes a date alone as UTC.
  const atMs =
    agoMs === undefined ? Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text) : nowMs - agoMs;
  if (Number.isNaN(atMs))
    throw usageError(`${option} takes a duration such as 10m or a time such as 2026-11-22T14:00, not "${text}"`);
  return atMs;
}

/** The number of trials that an option asks for. */
export function trialCount(option: string, text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw usageError(`--${option} takes a number of trials from 1 to 99999, not ${text}`);
  return count;
}
