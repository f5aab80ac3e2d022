import type { EndingFacts } from "../../../src/job/reasons/endings.ts";
import { isLeaving } from "../containers/kept-off.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";
import { linesOf, whenGone, where } from "./ending-facts.ts";
import { Strength } from "./strength.ts";

/** An executor that can no longer be reached or does not do what it was told. */
export function linkEnding(step: Step, task: TaskRecord, container: ContainerRecord, facts: EndingFacts): Ending {
  return {
    ...where(task, container),
    ...whenGone(step, container),
    source: "link",
    strength: Strength.outside,
    class: "infrastructure",
    machine: true,
    reason: { ...facts, task: task.id, host: container.host },
    exit: "",
    lines: [],
  };
}

/** An executor of which nothing is heard any more: `facts`, or it went with its node where that is being taken out of the cluster. */
export function unheardEnding(step: Step, task: TaskRecord, container: ContainerRecord, facts: EndingFacts): Ending {
  if (isLeaving(step, container.host)) {
    return { ...linkEnding(step, task, container, { code: "gone-with-node" }), machine: false };
  }
  return linkEnding(step, task, container, facts);
}

/** An executor that was told to end, or ended by itself: who or what did it only YARN can say. */
export function terminationEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit?: ChildExit): Ending {
  const lines = exit === undefined ? [] : linesOf(exit);
  return { ...linkEnding(step, task, container, { code: "told-to-end" }), machine: false, lines };
}
