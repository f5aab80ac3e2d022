import type { FailureClass } from "./failure-class.ts";

/** `program restarts: 1 of 3 used`, `program restarts: none allowed` */
export function budgetWords(
  failureClass: FailureClass,
  { used, limit }: { readonly used: number; readonly limit: number },
): string {
  return `${failureClass} restarts: ${limit === 0 ? "none allowed" : `${used} of ${limit} used`}`;
}
