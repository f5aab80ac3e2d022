import type { RoleSpec } from "../../../src/job/spec.ts";
import { EVALUATOR } from "../policies/completion.ts";
import { restartsWithGang } from "../policies/restart.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { gangOf, roleOf, rolesOf, type Step } from "../state/step.ts";
import { exitWords, linesOf, when, where } from "./ending-facts.ts";
import { Strength } from "./strength.ts";

/**
 * A program that ended well may have left others alone that still had work: what they fail of then follows from it. Of a generation the
 * first to end is kept; undefined where others cannot fail of it.
 */
export function noteEarlyExit(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  exit: ChildExit,
): Ending | undefined {
  const gang = gangOf(step, task);
  if (gang.firstExit?.generation === task.generation || !restartsWithGang(step, task) || !needsOthers(step, task)) {
    return undefined;
  }
  gang.firstExit = earlyExitEnding(step, task, container, exit);
  return gang.firstExit;
}

/** The early exit, if there was one, by which a task lost the connection to its peer. */
export function earlyExitBefore({ firstExit }: GangState, ending: Ending): Ending | undefined {
  const follows =
    firstExit !== undefined &&
    ending.strength === Strength.peerLost &&
    ending.generation === firstExit.generation &&
    ending.task !== firstExit.task &&
    ending.seenAtMs >= firstExit.seenAtMs;
  return follows ? firstExit : undefined;
}

/** Where there are parameter servers each worker ends when its own share is done, an evaluator works alone, and a chief's end is the job's. */
function needsOthers(step: Step, task: TaskRecord): boolean {
  const isOneOfMany = ({ tracking, name, chief }: RoleSpec) =>
    tracking === "tracked" && name !== EVALUATOR && chief !== "all";
  return (
    isOneOfMany(roleOf(step, task)) &&
    rolesOf(step, gangOf(step, task)).every(([role]) => roleOf(step, { role }).tracking !== "untracked")
  );
}

/** A program that ended well while others of its gang still needed it. */
function earlyExitEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  const ranForMs = Math.max(0, exit.atMs - task.startedAtMs);
  return {
    ...where(task, container),
    ...when(step, exit.atMs),
    source: "child",
    strength: Strength.earlyExit,
    class: "program",
    machine: false,
    reason: { code: "program-ended-early", task: task.id, host: container.host, ranForMs },
    exit: exitWords(exit),
    lines: linesOf(exit),
    remedy: { code: "end-together" },
  };
}
