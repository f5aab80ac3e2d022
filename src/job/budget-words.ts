import type { FailureClass } from "./reasons/facts.ts";
import { durationWords } from "./reasons/words.ts";

interface Counted {
  readonly used: number;
  readonly limit: number;
  readonly windowMs?: number;
  /** Whose it is, where not the job's. */
  readonly role?: string;
}

/**
 * `program restarts: 1 of 3 used`, `program restarts of ps: none allowed`, `infrastructure restarts: 2 of 10 used within 1 h`
 */
export function budgetWords(failureClass: FailureClass, { used, limit, windowMs, role }: Counted): string {
  const within = used > 0 && windowMs !== undefined ? ` within ${durationWords(windowMs)}` : "";
  const whose = role === undefined ? "" : ` of ${role}`;
  return `${failureClass} restarts${whose}: ${limit === 0 ? "none allowed" : `${used} of ${limit} used${within}`}`;
}
