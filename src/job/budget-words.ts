import type { FailureClass } from "./failure-class.ts";
import { durationWords } from "./reasons/words.ts";

/** `program restarts: 1 of 3 used`, `program restarts: none allowed`, `infrastructure restarts: 2 of 10 used within 1 h` */
export function budgetWords(
  failureClass: FailureClass,
  { used, limit, windowMs }: { readonly used: number; readonly limit: number; readonly windowMs?: number },
): string {
  const within = used > 0 && windowMs !== undefined ? ` within ${durationWords(windowMs)}` : "";
  return `${failureClass} restarts: ${limit === 0 ? "none allowed" : `${used} of ${limit} used${within}`}`;
}
