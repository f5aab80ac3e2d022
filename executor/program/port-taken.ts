import { saysAddressInUse } from "../../src/job/diagnosis/address-in-use.ts";

/** Four or five digits that may be a port. */
const NUMBERS = /(?<![\w.])\d{4,5}(?![\w])/g;

/** The ports of a task's program. */
export interface ProgramPorts {
  /** Those that were held for it until it started. */
  readonly held: readonly number[];
  /** Those of them that another process has when every process of the program has ended. */
  readonly lost: readonly number[];
}

/**
 * Whether a program failed because it could not open a port that was held for it: another program was quicker. With a traceback only its
 * exception counts. Words that name another port and none of these are of one that the program chose itself; of words that name none,
 * as Python's own, it is believed only where such a port is really another's.
 */
export function isPortTaken(
  exception: string | undefined,
  lastLines: readonly string[],
  { held, lost }: ProgramPorts,
): boolean {
  const said = (exception?.split("\n") ?? lastLines).filter(saysAddressInUse);
  const named = said.flatMap((line) => line.match(NUMBERS) ?? []).map(Number);
  return said.length > 0 && (named.length === 0 ? lost.length > 0 : named.some((port) => held.includes(port)));
}
