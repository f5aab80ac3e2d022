import { hostname } from "node:os";

/**
 * What those who look at a job later read of its end: who ended it, from where, and how or why.
 * @param how `SIGINT`, `tony-ts kill`
 * @param reason of the one who did
 */
export function killedBy(user: string, how: string, reason?: string): string {
  const who = `killed by ${user} from ${hostname()}`;
  return reason === undefined ? `${who} (${how})` : `${who}: ${reason}`;
}
