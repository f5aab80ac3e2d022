import type { Comparison, Condition, Entry } from "../../../src/job/store/transaction.ts";

export function holds(condition: Condition, entry: Entry | undefined): boolean {
  switch (condition.of) {
    case "exists":
      return entry !== undefined;
    case "missing":
      return entry === undefined;
    case "value":
      return entry === undefined ? condition.is === "≠" : compares(entry.value, condition.is, condition.to);
    case "owner":
      return entry?.owner === undefined ? condition.is === "≠" : compares(entry.owner.task, condition.is, condition.to);
    default:
      return compares(entry?.[condition.of] ?? 0, condition.is, condition.to);
  }
}

function compares<T extends string | number>(left: T, comparison: Comparison, right: T): boolean {
  switch (comparison) {
    case "=":
      return left === right;
    case "≠":
      return left !== right;
    case "<":
      return left < right;
    case "≤":
      return left <= right;
    case ">":
      return left > right;
    case "≥":
      return left >= right;
  }
}
