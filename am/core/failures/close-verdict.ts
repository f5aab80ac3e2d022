import { failedBy } from "../../../src/job/outcome.ts";
import { endingWords } from "../../../src/job/reasons/endings.ts";
import { outcomeWords } from "../../../src/job/reasons/outcomes.ts";
import { finish } from "../job/finish.ts";
import { isSidecar } from "../policies/tolerance.ts";
import { dueMsOf } from "../state/deadlines.ts";
import type { Verdict } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";
import { findTask, gangOf, log } from "../state/step.ts";
import { endsJob } from "../state/verdict-moves.ts";
import { causeOf } from "./causes.ts";
import { noteCause, rootOf } from "./evidence.ts";
import { endingRule } from "./rules.ts";

/** The end of what ran in this container is known. */
export function accountFor(step: Step, containerId: string): void {
  for (const { verdicts } of step.state.gangs) {
    for (const verdict of verdicts) {
      delete verdict.unaccounted[containerId];
    }
  }
}

/**
 * Its executor is well, so YARN has no completion status for the program that ended in it; what its task did in a later generation is
 * another matter.
 */
export function completionStatusOverdue(step: Step, container: ContainerRecord): void {
  for (const verdict of gangOf(step, container).verdicts) {
    if (verdict.endings[container.task]?.containerId === container.id) {
      delete verdict.unaccounted[container.id];
    }
  }
}

/** Closes the verdicts whose picture is complete or whose time is up; once the job's outcome is decided the others stay as they are. */
export function closeVerdicts(step: Step, gang: GangState): void {
  for (const verdict of [...gang.verdicts]) {
    if (step.state.outcome === undefined && (verdict.deadline === undefined || isEmpty(verdict.unaccounted))) {
      gang.verdicts.splice(gang.verdicts.indexOf(verdict), 1);
      close(step, gang, verdict);
    }
  }
}

/** When the time of the next verdict is up. */
export function verdictsDueMs({ state }: Step, { verdicts }: GangState): number | undefined {
  const dues = verdicts.flatMap(({ deadline }) => (deadline === undefined ? [] : [dueMsOf(state, deadline)]));
  return dues.length === 0 ? undefined : Math.min(...dues);
}

export function verdictsOverdue({ state, nowMs }: Step, { verdicts }: GangState): void {
  for (const verdict of verdicts) {
    if (verdict.deadline !== undefined && dueMsOf(state, verdict.deadline) <= nowMs) {
      verdict.deadline = undefined;
    }
  }
}

function close(step: Step, gang: GangState, verdict: Verdict): void {
  const root = rootOf(verdict);
  if (root === undefined) {
    return;
  }
  noteCause(step, gang, verdict, root);
  const rule = endingRule(step, gang, root, verdict.endings);
  const uncounted = endsJob(verdict) ? outcomeWords(rule) : "not counted";
  const counted = verdict.charged === undefined ? uncounted : `counted as ${verdict.charged}`;
  log(
    step,
    "info",
    "verdict",
    `Root cause of generation ${verdict.generation}'s end: ${endingWords(root.reason)} (${counted}).`,
    {
      task: root.task,
      generation: verdict.generation,
      class: root.class,
    },
  );
  const task = findTask(step, verdict.scope);
  const isIgnored = task !== undefined && isSidecar(step, task);
  if (endsJob(verdict) && !isIgnored) {
    step.state.judgedLives = judgedLives(verdict);
    finish(step, failedBy(causeOf(root, verdict.endings), rule));
  }
}

/** YARN's completion status of a life may have come after its task had begun another one. */
function judgedLives({ lives, endings }: Verdict): Record<string, TaskRecord> {
  const judged = Object.values(lives).map((life): [string, TaskRecord] => {
    const ending = endings[life.id];
    return [life.id, ending?.source === "yarn" ? { ...life, exit: ending.exit } : life];
  });
  return Object.fromEntries(judged);
}

function isEmpty(record: Readonly<Record<string, true>>): boolean {
  for (const _ in record) {
    return false;
  }
  return true;
}
