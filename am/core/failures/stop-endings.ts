import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { isHeard } from "../containers/containers.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";
import { exitWords, linesOf } from "./ending-facts.ts";
import { linkEnding, unheardEnding } from "./link-endings.ts";
import { standingOf } from "./places.ts";
import { Strength } from "./strength.ts";

/** A program that was stopped for the time it took. */
export function timeLimitEnding(step: Step, task: TaskRecord, container: ContainerRecord): Ending {
  const limitMs = step.spec.timeouts.executionMs ?? 0;
  const setting = settingOf(step.spec, "tony.task.executor.execution-timeout-ms");
  const ending = linkEnding(step, task, container, { code: "ran-too-long", limitMs, setting });
  return { ...ending, strength: Strength.exit, class: "program", machine: false, source: "core" };
}

/**
 * A program that hung; `exit` has where it stood, when its executor could end it, and the step of the order to stop: one that was reported
 * afterwards changes nothing.
 */
export function hungEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit?: ChildExit): Ending {
  const atStep = exit?.stopReason?.code === "hung" ? exit.stopReason.step : task.step;
  const noProgressMs = step.spec.timeouts.progressMs ?? 0;
  const standing = standingOf(step, task);
  const { odd } = standing ?? {};
  const ending = linkEnding(step, task, container, {
    ...{ code: "program-hung", noProgressMs, step: atStep },
    ...(standing && { places: standing.places }),
    ...(odd && { holder: `${odd.id} on ${odd.host}` }),
  });
  const remedy: Remedy = {
    code: "raise-progress-timeout",
    stacks: standing !== undefined || (exit !== undefined && exit.traceback !== ""),
    setting: settingOf(step.spec, "tony.task.progress-timeout"),
  };
  const known = exit === undefined ? {} : { exit: exitWords(exit), lines: linesOf(exit) };
  const said = { ...ending, remedy, ...known, strength: Strength.exit, class: "program", machine: false } as const;
  if (standing === undefined) {
    return { ...said, source: "core" };
  }
  const named = odd === undefined ? {} : { task: odd.id, host: odd.host, containerId: odd.containerId };
  return { ...said, source: "core", lines: standing.lines, named };
}

/**
 * What was stopped by an order that this attempt knows nothing of: the one before gave it, and died before the journal said why. Whatever
 * failed then its own executor still has to tell.
 */
export function orderedEnding(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  { why, ...said }: Pick<Ending, "source" | "exit"> & { readonly why: string },
): Ending {
  const ending = linkEnding(step, task, container, { code: "stopped-by-earlier-attempt", why });
  return { ...ending, ...said, strength: Strength.consequence, machine: false };
}

/** A program that did not stop for our teardown in time; when nothing is heard of its executor either, that is what failed. */
export function overdueEnding(step: Step, task: TaskRecord, container: ContainerRecord): Ending {
  if (!isHeard(container)) {
    return unheardEnding(step, task, container, { code: "silent-and-not-stopped" });
  }
  const ending = linkEnding(step, task, container, { code: "not-stopped" });
  return { ...ending, strength: Strength.consequence, machine: false, source: "core" };
}
