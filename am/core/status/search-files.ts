import { parameterWords } from "../../../src/job/search/parse-parameter.ts";
import { bestTrial, countStates, type Search, type TrialState } from "../../../src/job/search/trials.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import type { Core } from "../core.ts";
import { begun, retriesOf, trialOf } from "../policies/trials.ts";
import type { TaskRecord } from "../state/records.ts";
import { checkpointOfTrial, endedState } from "./status.ts";

/** What a search leaves when it has ended, by the names of the files; undefined of another job. */
export function searchFiles(
  core: Pick<Core, "spec" | "state">,
  { applicationId, startedAtMs, usage, search: shown, outcome }: JobStatus,
): Readonly<Record<"trials.jsonl" | "result.json", string>> | undefined {
  const { search, name } = core.spec;
  if (search === undefined) {
    return undefined;
  }
  const tasks = begun(core);
  const trials = tasks.map((task, number) => {
    const trial = trialOf(task);
    const ended = endedState(outcome, trial);
    return { ...trial, state: ended, line: lineOf(core, task, number, ended) };
  });
  const { result, summary, endedAtMs } = outcome ?? {};
  return {
    "trials.jsonl": trials.map(({ line }) => `${JSON.stringify(line)}\n`).join(""),
    "result.json": `${JSON.stringify(
      {
        ...{ resultVersion: 1, applicationId, name, result, summary, startedAtMs, endedAtMs },
        ...{ search: described(search), best: bestTrial(search.direction, trials)?.line },
        ...{ counts: countStates(trials), usage, containerTime: shown?.containerTime },
      },
      undefined,
      2,
    )}\n`,
  };
}

function described({ space, points, before: _before, jobFile: _jobFile, outputDir: _outputDir, ...search }: Search) {
  return { ...search, space: Object.fromEntries(space.map((one) => [one.name, parameterWords(one)])), points };
}

/** In the words of `readTrialLine`, and some more. */
function lineOf(core: Pick<Core, "spec" | "state">, task: TaskRecord, number: number, state: TrialState) {
  const { trialParameters: params, trialValue: value, trialReports, trialStop, trialFailure } = task;
  const checkpoint = checkpointOfTrial(core.state, task);
  const { step, startedAtMs, endedAtMs, restarts } = task;
  return {
    ...{ number, task: task.id, params, state, value },
    ...(step > 0 && { step }),
    ...(trialReports && { reports: trialReports.map((report) => [report.step, report.value]) }),
    ...(startedAtMs > 0 && { startedAtMs }),
    ...(endedAtMs > 0 && { endedAtMs, durationMs: endedAtMs - startedAtMs }),
    ...(restarts > 0 && { restarts, retries: retriesOf(core, task) }),
    ...(trialStop !== undefined && { why: trialStop }),
    ...(trialFailure && { error: trialFailure.words, lines: trialFailure.lines }),
    ...(checkpoint && { checkpoint: checkpoint.path, checkpointStep: checkpoint.step }),
  };
}
