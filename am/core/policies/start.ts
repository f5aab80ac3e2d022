import { isSpecOut, wasSpecOut } from "../state/gang-moves.ts";
import { gangOf, type Step } from "../state/step.ts";
import { isElastic } from "./elastic.ts";
import { restartsWithGang } from "./restart.ts";

/**
 * Whether the task starts together with others, by one cluster spec: with all of its gang before the first start, later with those that
 * restart together. Any other starts as soon as it is ready, and so does one of an elastic role that was not there when its gang started.
 */
export function startsWithGang(step: Pick<Step, "spec" | "state">, task: { readonly role: number }): boolean {
  const isFirst = step.spec.distributedMode === "gang" && !wasSpecOut(gangOf(step, task));
  return isFirst || (restartsWithGang(step, task) && !isLate(step, task));
}

function isLate(step: Pick<Step, "spec" | "state">, task: { readonly role: number }): boolean {
  return isSpecOut(gangOf(step, task)) && isElastic(step, task);
}
