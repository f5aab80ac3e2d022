import { usageError } from "../../src/errors.ts";

/** How many trials an option asks for. */
export function trialCount(option: string, text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw usageError(`--${option} takes a number of trials from 1 to 99999, not ${text}`);
  return count;
}
