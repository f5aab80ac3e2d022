import type { Budget, FailureClass } from "./status.ts";

/** `program restarts: 1 of 3 used`, `program restarts: none allowed` */
export function budgetWords(failureClass: FailureClass, { used, limit }: Budget): string {
  return `${failureClass} restarts: ${limit === 0 ? "none allowed" : `${used} of ${limit} used`}`;
}
