import { failedBy } from "../../../src/job/outcome.ts";
import { endingWords } from "../../../src/job/reasons/endings.ts";
import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { Search } from "../../../src/job/search/trials.ts";
import { discard } from "../containers/containers.ts";
import { refund } from "../gang/charges.ts";
import { renewAlone } from "../gang/restart.ts";
import { doneForGood, endStage } from "../gang/stages.ts";
import { finish } from "../job/finish.ts";
import { begun, haltOf, isTrialOver, leadOfGang, retriesOf, trialOf } from "../policies/trials.ts";
import type { Ending } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { TaskRecord, TrialFailure } from "../state/records.ts";
import { containerOf, findTask, gangOf, log, noteDurable, type Step } from "../state/step.ts";
import { AFTER_END, ALIVE, moveTask } from "../state/task-moves.ts";
import { causeOf, mayBeExplained } from "./cause.ts";
import { Strength, seen } from "./endings.ts";

/** When this many trials have ended and all failed in the same way, the others would, too. */
const ALIKE = 5;

/** How much of the last output of a failed trial's program is kept; its log has the rest. */
const KEPT_LINES = 8;
const KEPT_CHARACTERS = 200;

/**
 * A trial's program has failed: it starts again in another container, and in the end on another node. After its last retry the next trial gets
 * its container, unless the search ends with that.
 * @param life the life that ended in this way, if that turned out only after another one had begun
 */
export function trialFailed(step: Step, search: Search, task: TaskRecord, ending: Ending, life?: TaskRecord): void {
  const { trialRetries = 0 } = task;
  if (ending.class === "program" && trialRetries < search.retries) {
    task.trialRetries = trialRetries + 1;
    if (trialRetries > 0) {
      task.trialAvoids = ending.host;
    }
    noteDurable(step);
    if (life !== undefined) {
      return;
    }
    const container = containerOf(step, task);
    if (container !== undefined) {
      discard(step, container, "its trial failed in it");
    }
    renewAlone(step, task.id, endingWords(ending.reason));
    return;
  }
  if (life !== undefined) {
    endLife(step, task, ending, life);
  }
  note(step, search, task, ending);
  doneForGood(step, task);
}

/** A failed trial had begun again: it takes the end of its earlier life, and verdicts that are still open decide nothing about it any more. */
function endLife(step: Step, task: TaskRecord, { host, exit, atMs }: Ending, life: TaskRecord): void {
  const { startedAtMs, restarts } = life;
  const container = containerOf(step, task);
  if (!AFTER_END.includes(task.phase)) {
    moveTask(step, task, ALIVE.includes(task.phase) ? "container-lost" : "given-up");
  }
  if (container !== undefined) {
    discard(step, container, "its trial has failed");
  }
  Object.assign(task, { host, exit, startedAtMs, endedAtMs: atMs });
  // The new beginning was counted, and is taken back.
  task.restarts = restarts - 1;
  const gang = gangOf(step, task);
  const others = gang.verdicts.filter(({ scope }) => scope === task.id);
  for (const verdict of others) {
    if (verdict.charged !== undefined) {
      refund(gang, verdict.charged);
    }
    gang.verdicts.splice(gang.verdicts.indexOf(verdict), 1);
  }
  noteDurable(step);
}

/** A trial that is a gang cannot go on. */
export function trialEnded(step: Step, search: Search, gang: GangState, ending: Ending): void {
  const lead = leadOfGang(step, gang);
  if (lead !== undefined && gang.phase !== "done") {
    endStage(step, gang);
    note(step, search, lead, ending);
  }
}

/** A trial that is a gang starts again: the task that failed by itself does so in another container, and in the end on another node. */
export function renewTrial(step: Step, gang: GangState, root: Ending): void {
  const lead = leadOfGang(step, gang);
  const task = findTask(step, root.task);
  if (lead === undefined || task === undefined) {
    return;
  }
  lead.restarts++;
  lead.restartReason = endingWords(root.reason);
  if (root.class !== "program") {
    return;
  }
  if (retriesOf(step, lead) > 0) {
    task.trialAvoids = root.host;
  }
  const container = containerOf(step, task);
  if (container?.id === root.containerId && AFTER_END.includes(task.phase) && !mayBeExplained(root)) {
    discard(step, container, "its trial failed in it");
  }
}

/**
 * A trial's task has ended well. Without a value of the metric its trial has failed, which is known only when its last report has had time to
 * arrive.
 */
export function noteValue(step: Step, task: TaskRecord | undefined): void {
  const { search } = step.spec;
  if (search === undefined || task === undefined) {
    return;
  }
  const ending = endingWithoutValue(search, task);
  if (ending !== undefined) {
    log(step, "warn", "trial-without-value", `${endingWords(ending.reason)}.`, { task: task.id });
    note(step, search, task, ending);
  }
}

/**
 * How a trial failed, as far as people are told; undefined: it has not. One that ended without a value while its job was ending no longer
 * counts, but has failed all the same.
 */
export function failureOf({ spec: { search } }: Pick<Step, "spec">, task: TaskRecord): TrialFailure | undefined {
  if (search === undefined || task.trialFailure !== undefined || trialOf(task).state !== "failed") {
    return task.trialFailure;
  }
  const ending = endingWithoutValue(search, task);
  return ending && failureBy(ending);
}

function endingWithoutValue({ metric }: Search, task: TaskRecord): Ending | undefined {
  const { id, containerId, host, generation, exit, endedAtMs, phase, trialStop, trialValue, metrics } = task;
  if (phase !== "succeeded" || trialStop !== undefined || (trialValue !== undefined && trialValue !== "NaN")) {
    return undefined;
  }
  return {
    ...{ task: id, containerId, host, generation, exit, lines: [] },
    ...{ ...seen(endedAtMs), source: "core", strength: Strength.exit, class: "program", machine: false },
    reason: {
      ...{ code: "no-metric", task: id, host, metric },
      ...(trialValue === undefined ? reportedBy(metrics) : { value: trialValue }),
    },
  };
}

/** What it reported in place of the metric; names of values that were not numbers are not kept. */
function reportedBy(metrics: TaskRecord["metrics"]): { readonly reported?: string[] } {
  const reported = Object.keys(metrics ?? {});
  return metrics === undefined || reported.length > 0 ? { reported } : {};
}

function note(step: Step, search: Search, task: TaskRecord, ending: Ending): void {
  task.trialFailure = failureBy(ending);
  const rule = failureRule(step, search);
  if (rule !== undefined) {
    finish(step, failedBy(causeOf(ending), rule));
  }
}

function failureBy(ending: Ending): TrialFailure {
  const kind = ending.class === "program" ? { kind: kindOf(ending) } : {};
  const lines = ending.lines.slice(-KEPT_LINES).map((line) => line.slice(0, KEPT_CHARACTERS));
  return { words: endingWords(ending.reason), ...kind, ...(lines.length > 0 && { lines }) };
}

/** How it ended, without what differs from trial to trial: numbers, and the text after an exception's name. */
function kindOf({ reason, exit, lines }: Ending): string {
  const line = lines.at(-1) ?? "";
  return `${reason.code} ${exit} ${line.replace(/:.*/s, "").replace(/\d+/g, "0")}`;
}

function failureRule(step: Step, { failures }: Search): RuleReason | undefined {
  const { onFailed, most, mostInARow } = failures;
  const ended = begun(step)
    .filter((task) => isOver(task) && !awaitsReports(step, task))
    .sort((a, b) => a.endedAtMs - b.endedAtMs);
  const failed = ended.filter(({ trialFailure }) => trialFailure !== undefined).length;
  const inARow = ended.length - 1 - ended.findLastIndex(({ trialFailure }) => trialFailure === undefined);
  const limits = [
    { key: "tony.search.on-failed-trial", trials: failed, limit: onFailed === "end" ? 1 : undefined },
    { key: "tony.search.max-failed-trials", trials: failed, limit: most },
    { key: "tony.search.max-failed-trials-in-a-row", trials: inARow, limit: mostInARow, inARow: true },
  ];
  const met = limits.find(({ trials, limit }) => limit !== undefined && trials >= limit);
  if (met !== undefined) {
    const { key, trials, inARow: isInARow = false } = met;
    return { code: "trials-failed", trials, inARow: isInARow, setting: settingOf(step.spec, key) };
  }
  const isAlike = ended.length === ALIKE && new Set(ended.map(({ trialFailure }) => trialFailure?.kind)).size === 1;
  return isAlike && failed === ALIKE ? { code: "trials-failed-alike", trials: ALIKE } : undefined;
}

/** It has ended well, so far without a value: its last report may be on its way. */
function awaitsReports({ spec: { search } }: Pick<Step, "spec">, task: TaskRecord): boolean {
  return task.trialFailure === undefined && search !== undefined && endingWithoutValue(search, task) !== undefined;
}

/** Trials lost with their machines say nothing about the search. */
function isOver(task: TaskRecord): boolean {
  const { trialFailure, phase } = task;
  if (trialFailure !== undefined) {
    return trialFailure.kind !== undefined;
  }
  return isTrialOver(task) && (phase === "succeeded" || haltOf(task) !== undefined);
}
