import { parameterWords } from "../../../src/job/search/parse-parameter.ts";
import {
  bestTrial,
  countStates,
  type Search,
  type TrialLine,
  type TrialState,
} from "../../../src/job/search/trials.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import type { Core } from "../core.ts";
import { failureOf } from "../failures/trial-failures.ts";
import { begun, retriesOf, trialOf } from "../policies/trials.ts";
import type { TaskRecord } from "../state/records.ts";
import { checkpointOfTrial, earlierApplication, endedState } from "./status.ts";

/** What a search leaves when it has ended, by file name; undefined for any other job. */
export function searchFiles(
  core: Pick<Core, "spec" | "state">,
  job: JobStatus,
): Readonly<Record<"trials.jsonl" | "result.json", string>> | undefined {
  const { search, name } = core.spec;
  const { applicationId, startedAtMs, usage, search: shown, outcome } = job;
  if (search === undefined) {
    return undefined;
  }
  const trials = endedTrials(core, job);
  const { result, summary, endedAtMs } = outcome ?? {};
  return {
    "trials.jsonl": textOfTrials(saidOnce(search, trials)),
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

/** The content of `trials.jsonl`. */
export function textOfTrials(lines: readonly TrialLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** The lines of `trials.jsonl`; none for a job that is no search. */
export function trialLines(core: Pick<Core, "spec" | "state">, job: Ran): TrialLine[] {
  const { search } = core.spec;
  return search === undefined ? [] : saidOnce(search, endedTrials(core, job));
}

/** The first line records what all trials were tried for: a search for something else does not go on with them. */
function saidOnce({ metric, direction, space }: Search, trials: readonly { readonly line: TrialLine }[]): TrialLine[] {
  const search = { metric, direction, space: spaceWords(space) };
  return trials.map(({ line }, number) => (number === 0 ? { ...line, search } : line));
}

function spaceWords(space: Search["space"]): Record<string, string> {
  return Object.fromEntries(space.map((one) => [one.name, parameterWords(one)]));
}

type Ran = Pick<JobStatus, "applicationId" | "outcome">;

function endedTrials(core: Pick<Core, "spec" | "state">, { applicationId, outcome }: Ran) {
  return begun(core).map((task, number) => {
    const trial = trialOf(task);
    const state = endedState(outcome, trial);
    return { ...trial, state, line: lineOf(core, task, number, state, applicationId) };
  });
}

function described({ space, points, ...all }: Search) {
  const { before: _before, jobFile: _jobFile, givenKeys: _keys, outputDir: _outputDir, ...more } = all;
  const { optunaProgram: _program, ...search } = more;
  return { ...search, space: spaceWords(space), points };
}

/** A line as `readTrialLine` reads it, with some more fields. */
function lineOf(
  core: Pick<Core, "spec" | "state">,
  task: TaskRecord,
  number: number,
  state: TrialState,
  applicationId: string,
) {
  const { trialParameters: params = {}, trialValue: value, trialReports, trialStop } = task;
  const failure = failureOf(core, task);
  const checkpoint = checkpointOfTrial(core.state, task);
  const { step, startedAtMs, endedAtMs, restarts } = task;
  return {
    ...{ number, task: task.id, params, state },
    ...(value !== undefined && { value }),
    ...(step > 0 && { step }),
    ...(trialReports && { reports: trialReports.map((report) => [report.step, report.value]) }),
    ...(startedAtMs > 0 && { startedAtMs }),
    ...(endedAtMs > 0 && { endedAtMs, durationMs: endedAtMs - startedAtMs }),
    ...(restarts > 0 && { restarts, retries: retriesOf(core, task) }),
    ...(trialStop !== undefined && { why: trialStop }),
    ...(failure && { error: failure.words, lines: failure.lines }),
    ...(checkpoint && { checkpoint: checkpoint.path, checkpointStep: checkpoint.step }),
    application: earlierApplication(core.spec, task) ?? applicationId,
  };
}
