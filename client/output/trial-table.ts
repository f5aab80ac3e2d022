import { parseParameter } from "../../src/job/search/parse-parameter.ts";
import { typedParameters } from "../../src/job/search/random-search.ts";
import {
  bestOf,
  metricOf,
  parametersOf,
  reported,
  type TrialJson,
  type Trials,
  trialsOf,
} from "../../src/job/search/trial-list.ts";
import { fillCommand, trialVariables } from "../../src/job/search/trial-program.ts";
import { saidWithinTrial } from "../../src/job/search/trial-tasks.ts";
import { countStates } from "../../src/job/search/trials.ts";
import { lastLineBeside, trialCountWords, valueWords } from "../../src/job/search/words.ts";
import { shellWords } from "../../src/job/shell-words.ts";
import type { JobOutcome, JobStatus, SearchStatus } from "../../src/job/status.ts";
import { formatTable } from "./format.ts";

/** The best trial that has ended or pauses, in words; undefined: no such trial has a value. */
export function bestTrialWords(status: Trials, search: SearchStatus): string | undefined {
  const best = bestOf(trialsOf(status, search));
  return best && bestWords(best, search);
}

export function bestWords(best: TrialJson, search: SearchStatus): string {
  const state = best.state === "interrupted" ? ", which was interrupted" : "";
  return `best so far: ${metricOf(best, search)} of trial ${best.number} (${parametersOf(best, search)})${state}`;
}

/** `12 completed, 3 stopped, 1 failed, 4 running` */
export function trialCounts(trials: readonly TrialJson[]): string {
  return trialCountWords(countStates(trials));
}

/** The first of these trials, each with its value and parameters. */
export function trialTable(trials: readonly TrialJson[], { metric, parameters }: SearchStatus, top: number): string[] {
  const shown = trials.slice(0, top);
  if (shown.length === 0) return [];
  const rows = shown.map((trial) => [
    String(trial.number),
    trial.state,
    valueWords(reported(trial)),
    ...parameters.map((name) => valueWords(trial.params[name])),
  ]);
  const more = trials.length > shown.length ? [`and ${trials.length - shown.length} more`] : [];
  return [...formatTable([["trial", "state", metric, ...parameters], ...rows]), ...more];
}

/** All trials as CSV, with all digits (RFC 4180). */
export function trialCsv(trials: readonly TrialJson[], { metric, parameters }: SearchStatus): string[] {
  const rows = trials.map((trial) => [
    ...[trial.number, trial.task, trial.state, reported(trial), trial.step],
    ...parameters.map((name) => trial.params[name]),
    ...[trial.checkpoint, trial.why, trial.startedAtMs, trial.endedAtMs],
  ]);
  const head = [
    "number",
    "task",
    "state",
    metric,
    "step",
    ...parameters,
    "checkpoint",
    "why",
    "startedAtMs",
    "endedAtMs",
  ];
  return [head, ...rows].map((row) => row.map((cell) => csvCell(String(cell ?? ""))).join(","));
}

function csvCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** At most so many failed trials are listed one by one. */
const TOLD = 5;

/** Why trials failed, and where to read more. */
export function failureLines(
  trials: readonly TrialJson[],
  job: Pick<JobStatus, "applicationId" | "search" | "roles">,
): string[] {
  const failed = trials.filter(({ state }) => state === "failed").toSorted((a, b) => a.number - b.number);
  const more = failed.length > TOLD ? [`and ${failed.length - TOLD} more failed (--json has all)`] : [];
  return [
    ...failed.slice(0, TOLD).flatMap(({ number, why = "", lines, application = job.applicationId }) => {
      const reason = why === "" ? "" : `: ${saidWithinTrial(job, why)}`;
      const last = lastLineBeside(why, lines);
      return [
        `trial ${number} failed${reason}: tony-ts logs ${application} trial:${number}`,
        ...(last === undefined ? [] : [`  | ${last}`]),
      ];
    }),
    ...more,
  ];
}

/** What the best trial left behind, and how to run it alone. @param given the command words by which the search itself was run */
export function bestTrialLines(best: TrialJson | undefined, search: SearchStatus, given: readonly string[]): string[] {
  if (best === undefined) return [];
  const { number, params, checkpoint, checkpointStep, step } = best;
  const ofStep =
    checkpointStep === undefined ? "" : ` (step ${checkpointStep}${step === undefined ? "" : ` of ${step}`})`;
  return [
    `trial ${number} alone: ${aloneCommand(params, given)}`,
    `its program: ${programOf(best, search)}`,
    ...(checkpoint === undefined ? [] : [`its checkpoint: ${checkpoint}${ofStep}`]),
  ];
}

/**
 * The command that a trial's task ran, for any shell: with the variables that the task was given, unless all of their values are in the
 * command's words.
 */
export function programOf({ number, params }: TrialJson, { command, parameters, space = [] }: SearchStatus): string {
  const program = fillCommand(command, params);
  const names = Object.keys(params);
  if (!/TONY_(?:TRIAL|PARAM)_/.test(command) && names.every((name) => command.includes(`{{param.${name}}}`)))
    return program;
  const described = space.map((words, at) => ({ name: parameters[at] ?? "", ...parseParameter(words) }));
  const variables = trialVariables({ number, parameters: typedParameters(params, described) });
  const words = Object.entries(variables).map(([name, value]) => `${name}=${shellWords([value])}`);
  return `(export ${words.join(" ")}; ${program})`;
}

/** Where a search left its files; undefined where it left none. @param localFolder the job's own, for a job on this machine */
export function searchFolder(
  { outputDir }: SearchStatus,
  applicationId: string,
  localFolder?: string,
): string | undefined {
  return outputDir === undefined ? localFolder : `${outputDir.replace(/\/+$/, "")}/${applicationId}`;
}

/** How to continue a search that ended before it was done, where there is more to do. @param given the words by which it was run */
export function resumeLine(
  { result, reason }: JobOutcome,
  given: readonly string[],
  { applicationId, search, tasks }: Pick<JobStatus, "applicationId" | "tasks"> & { readonly search: SearchStatus },
): string[] {
  const trials = trialsOf({ tasks }, search);
  const { running, interrupted, ...over } = countStates(trials);
  const left = (search.trials ?? tasks.length) - trials.length + running + interrupted;
  const isDone = result === "succeeded" && reason.code !== "search-time-over";
  // An ApplicationMaster that was killed may have left no record of trials that ran.
  const isLost = reason.code === "application-ended" && Object.values(over).every((count) => count === 0);
  if (isDone || isLost || left === 0 || trials.length === 0) return [];
  return [`go on with it: ${shellWords(["tony-ts", "search", ...given, "--resume", applicationId])}`];
}

/** Settings that the command for a single trial sets itself. */
const ALONE = ["tony.search.points", "tony.search.max-trials"] as const;

/** A search of this trial alone gives the program the same parameters. */
export function aloneCommand(params: TrialJson["params"], given: readonly string[]): string {
  const point = Object.entries(params).map(
    ([name, value]) => `${name}=${/[\s;]/.test(String(value)) ? `"${value}"` : value}`,
  );
  const settings = [`tony.search.points=${point.join(" ")}`, "tony.search.max-trials=1"];
  return shellWords([
    "tony-ts",
    "search",
    ...others(given, settings),
    ...settings.flatMap((setting) => ["-conf", setting]),
  ]);
}

/** The words without the settings that others replace. */
function others(given: readonly string[], settings: readonly string[]): string[] {
  const keys = settings.map((setting) => setting.slice(0, setting.indexOf("=") + 1));
  const isReplaced = (word = "") => keys.some((key) => word.startsWith(key));
  return given.filter((word, at) => !isReplaced(word) && !(word === "--conf" && isReplaced(given[at + 1])));
}

/** Settings of its command line, whose values may be secrets and are not kept. */
export function keysGiven({ givenKeys = [] }: SearchStatus): string[] {
  return givenKeys.filter((key) => !ALONE.some((replaced) => replaced === key));
}

/** The placeholder for a value that is not kept. */
const NOT_KEPT = "<the same value>";

/** The parts of the search's command line that `givenOf` cannot repeat. */
export function notGivenLines(search: SearchStatus): string[] {
  const keys = keysGiven(search);
  const words = `its command line set ${keys.join(", ")}, whose values are not kept: write them in place of ${NOT_KEPT}`;
  return keys.length === 0 ? [] : [words];
}

/** What is known afterwards of how a search was run: its file, where it ran, and its other settings. */
export function givenOf(search: SearchStatus, applicationId: string): string[] {
  const { jobFile = "job.xml" } = search;
  return [
    jobFile,
    ...(applicationId.startsWith("local_") ? ["--scheduler", "local"] : []),
    ...keysGiven(search).flatMap((key) => ["-conf", `${key}=${NOT_KEPT}`]),
  ];
}
