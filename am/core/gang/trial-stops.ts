import type { ChildProgress } from "../../../src/job/execution.ts";
import { writtenNumber } from "../../../src/job/program-metrics.ts";
import { rungsOf } from "../../../src/job/search/asha.ts";
import { standingOf } from "../../../src/job/search/promotion.ts";
import { stopOf } from "../../../src/job/search/stop.ts";
import type { Budget } from "../../../src/job/search/trials.ts";
import { pauseWords, stopWords } from "../../../src/job/search/words.ts";
import { stopWithinMs } from "../../../src/job/silence.ts";
import { whenDurable } from "../journal/barrier.ts";
import { begun, haltOf, isOfTasks, leadOf, pausingIn, trialOf } from "../policies/trials.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { TaskRecord, WrittenReport } from "../state/records.ts";
import type { Held } from "../state/state.ts";
import { about, containerOf, findTask, gangOf, log, noteDurable, type Step } from "../state/step.ts";
import { stopChild } from "./restart.ts";
import { endStage } from "./stages.ts";

/** About how many reports are kept of each trial. Beyond that every second one is dropped, except those that reached a rung. */
const MOST_REPORTS = 128;

/**
 * A program has reported its metrics: its trial may be stopped, once the journal knows. Steps that it has reported before no longer count,
 * and a repeated value counts for the step at which it was first reported.
 */
export function trialReported(step: Step, task: TaskRecord, progress: ChildProgress): void {
  const { search } = step.spec;
  const { metrics = {}, metricSteps = {} } = progress;
  const reported = metrics[search?.metric ?? ""];
  if (search === undefined || reported === undefined || leadOf(step, task) !== task) {
    return;
  }
  if (task.trialStop !== undefined) {
    // What comes after the decision decides nothing, and is not the trial's value.
    return;
  }
  const value = writtenNumber(reported);
  task.trialValue = value;
  const { trialReports = [], generation, id } = task;
  const reportedAt = metricSteps[search.metric] ?? progress.step;
  const isNew = reportedAt > (trialReports.at(-1)?.step ?? Number.NEGATIVE_INFINITY);
  if (search.stop === "none" || !isNew || haltOf(task) !== undefined) {
    return;
  }
  task.trialReports = thinned([...trialReports, { step: reportedAt, value }], search.budget);
  const tasks = begun(step);
  const trials = tasks.map(trialOf);
  const trial = trials[tasks.indexOf(task)];
  const stop = trial && stopOf(search, trial, trials);
  if (stop !== undefined) {
    task.trialStop = stopWords(stop);
  }
  const pausing = pausingIn(step);
  if (pausing !== undefined) {
    const { rung, pause } = standingOf(pausing, tasks.indexOf(task), trials);
    task.trialRung = rung;
    if (pause !== undefined) {
      task.trialPause = pauseWords(pause);
    }
    noteDurable(step);
  }
  if (haltOf(task) !== undefined) {
    whenDurable(step, { what: "stop-trial", task: id, generation });
  }
}

/** The journal knows. A trial whose program ended by itself meanwhile may already go on: in another generation, and without a pause. */
export function stopTrial(step: Step, held: Extract<Held, { task: string; generation: number }>): void {
  const task = findTask(step, held.task);
  const why = task && haltOf(task);
  if (task === undefined || why === undefined || step.state.outcome !== undefined) {
    return;
  }
  if (!isOfTasks(step)) {
    const gang = gangOf(step, task);
    if (gang.phase !== "done") {
      logHalt(step, task, why);
      endStage(step, gang);
    }
    return;
  }
  const container = containerOf(step, task);
  if (task.generation !== held.generation || container === undefined) {
    return;
  }
  logHalt(step, task, why);
  stopChild(step, task, { code: "generation-ended", why });
  awaitOf(step, container, "trial-stop", stopWithinMs(step.spec.timeouts));
}

function logHalt(step: Step, task: TaskRecord, why: string): void {
  if (task.trialStop === undefined) {
    log(step, "info", "trial-paused", `${task.id} pauses: ${why}.`, about(task));
  } else {
    log(step, "info", "trial-stopped", `${task.id} is stopped early: ${why}.`, about(task));
  }
}

function thinned(reports: readonly WrittenReport[], budget: Budget | undefined): readonly WrittenReport[] {
  if (reports.length <= MOST_REPORTS) {
    return reports;
  }
  const atRungs = new Set(
    (budget === undefined ? [] : rungsOf(budget)).map((rung) => reports.find(({ step }) => step >= rung)),
  );
  const odd = (reports.length - 1) % 2;
  return reports.filter((report, index) => index % 2 === odd || atRungs.has(report));
}
