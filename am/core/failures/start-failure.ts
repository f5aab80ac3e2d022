import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";
import { endedByException } from "./ending-facts.ts";
import { Strength } from "./strength.ts";

/** A program that has run for longer is past its start: whole frameworks are read from a slow disk by then. */
const LONGEST_START_MS = 60_000;
/** Errors of a program's own files and of its Python: nothing that a restart changes. */
const LASTING = /^(ModuleNotFoundError|ImportError|SyntaxError|IndentationError|TabError)\b/;
/** As Python says that there is no script. */
const NO_SCRIPT = /can't open file '([^']+)'/;
/** A container's working directory, before what lies in it. */
const WORKING_DIRECTORY = /^.*\/container_[^/]+\//;

/** What a program failed of at its start, if it is of the kind that the next start meets again; the same words mean the same failure. */
export function startFailureOf(task: TaskRecord, exit: ChildExit): string | undefined {
  if (exit.failedToStart) {
    return exit.refusedBySystem ? undefined : exit.errorSummary || exit.lastLines.at(-1);
  }
  if (task.step > 0 || exit.atMs - task.startedAtMs > LONGEST_START_MS) {
    return undefined;
  }
  if (LASTING.test(exit.errorSummary) && endedByException(exit)) {
    return exit.errorSummary;
  }
  const script = missingScriptOf(exit);
  return script === undefined ? undefined : `no ${script}`;
}

/** The script that Python did not find: its path in the working directory, or of one elsewhere the name. */
export function missingScriptOf({ lastLines }: ChildExit): string | undefined {
  const [script] = lastLines.flatMap((line) => NO_SCRIPT.exec(line)?.[1] ?? []);
  const inside = script?.replace(WORKING_DIRECTORY, "");
  return inside?.startsWith("/") === true ? inside.slice(inside.lastIndexOf("/") + 1) : inside;
}

/**
 * What a whole generation failed of at its start: its root cause's failure, where every program that ended by itself ended of the same
 * and none had done a step. Those that lost a connection, or were stopped, had no time to meet it.
 */
export function sharedStartFailure(
  { state }: Step,
  root: Ending,
  endings: Readonly<Record<string, Ending>>,
): string | undefined {
  if (root.startFailure === undefined) {
    return undefined;
  }
  const alike = Object.values(endings).every(
    ({ strength, startFailure }) => strength < Strength.exit || startFailure === root.startFailure,
  );
  const stepless = state.tasks.every(({ generation, step }) => generation !== root.generation || step === 0);
  return alike && stepless ? root.startFailure : undefined;
}

/** Why no third start follows when two generations in a row failed alike at theirs; undefined where that is not so. */
export function repeatedStartFailure({ generations }: GangState, root: Ending): RuleReason | undefined {
  const position = generations.findIndex(({ generation }) => generation === root.generation);
  const [before, present] = [generations[position - 1], generations[position]];
  if (root.startFailure === undefined || present?.startFailure !== root.startFailure) {
    return undefined;
  }
  if (before?.startFailure !== root.startFailure) {
    return undefined;
  }
  return { code: "same-failure-at-start", generation: present.generation, before: before.generation };
}
