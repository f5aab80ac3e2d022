import { usageError } from "../../src/errors.ts";

/** Of the commands that forward a local port to a job. */
export const localPortOption = {
  "local-port": {
    type: "string",
    describe: "The local port; default: the same number, or any free port if it is taken",
  },
} as const;

/** @throws UserError: it is none */
export function parsePort(what: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw usageError(`${what} is a number from 1 to 65535, not ${text}`);
  return port;
}
