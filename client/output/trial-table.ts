import { fillCommand } from "../../src/job/search/fill-command.ts";
import { compareValues, countStates, hasValue } from "../../src/job/search/trials.ts";
import { trialCountWords, valueWords } from "../../src/job/search/words.ts";
import { shellWords } from "../../src/job/shell-words.ts";
import type { JobStatus, SearchStatus, TaskStatus, TrialStatus } from "../../src/job/status.ts";
import { formatTable } from "./format.ts";

export interface TrialJson extends TrialStatus {
  readonly number: number;
  readonly task: string;
  /** As text, with all digits. */
  readonly params: Readonly<Record<string, string>>;
  /** What it reported last; `nonFinite` where that is no number of JSON. */
  readonly value?: number;
  readonly step?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
}

type Trials = Pick<JobStatus, "tasks">;

/** The trials that were given parameters, the best first: what has no value comes behind, and what failed last. */
export function trialsOf({ tasks }: Trials, { metric, direction, trials: gangs }: SearchStatus): TrialJson[] {
  // Of trials that are gangs, which begin in the order of their numbers, the leads have what is known.
  const leads = gangs === undefined ? tasks : tasks.filter((task) => task.trial !== undefined);
  const trials = leads.flatMap((task, number) => {
    return task.trial === undefined ? [] : [trialOf(task, task.trial, number, metric)];
  });
  const isFailed = ({ state }: TrialJson) => Number(state === "failed");
  return trials.toSorted((a, b) => isFailed(a) - isFailed(b) || compareValues(direction, reported(a), reported(b)));
}

function reported({ value, nonFinite }: TrialJson): number | undefined {
  return value ?? (nonFinite && Number(nonFinite));
}

function trialOf(
  { task, params = {}, metrics, step, endedAtMs, startedAtMs }: TaskStatus,
  trial: NonNullable<TaskStatus["trial"]>,
  number: number,
  metric: string,
): TrialJson {
  const value = metrics?.[metric];
  return {
    ...{ number, task, params, ...trial },
    ...(value === undefined ? {} : { value }),
    ...(step === undefined ? {} : { step }),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
  };
}

/** The best one that has ended with a value, or pauses. */
export function bestOf(trials: readonly TrialJson[]): TrialJson | undefined {
  return trials.find((trial) => hasValue(reported(trial)) && ["completed", "stopped", "paused"].includes(trial.state));
}

/** The best trial that has ended or pauses, in words; undefined: none with a value has. */
export function bestTrialWords(status: Trials, search: SearchStatus): string | undefined {
  const best = bestOf(trialsOf(status, search));
  return best && bestWords(best, search);
}

export function bestWords(best: TrialJson, search: SearchStatus): string {
  return `best so far: ${metricOf(best, search)} of trial ${best.number} (${parametersOf(best, search)})`;
}

export function isBetter(trial: TrialJson, than: TrialJson | undefined, { direction }: SearchStatus): boolean {
  return than === undefined || compareValues(direction, reported(trial), reported(than)) < 0;
}

/** `accuracy 0.9731` */
export function metricOf(trial: TrialJson, { metric }: SearchStatus): string {
  return `${metric} ${valueWords(reported(trial))}`;
}

/** `lr=0.12346 optimizer=adam` */
export function parametersOf({ params }: TrialJson, { parameters }: SearchStatus): string {
  return parameters.flatMap((name) => (name in params ? [`${name}=${valueWords(params[name])}`] : [])).join(" ");
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

/** All of them, with all digits (RFC 4180). */
export function trialCsv(trials: readonly TrialJson[], { metric, parameters }: SearchStatus): string[] {
  const rows = trials.map((trial) => [
    ...[trial.number, trial.task, trial.state, reported(trial), trial.step],
    ...parameters.map((name) => trial.params[name]),
    ...[trial.checkpoint, trial.why],
  ]);
  const head = ["number", "task", "state", metric, "step", ...parameters, "checkpoint", "why"];
  return [head, ...rows].map((row) => row.map((cell) => csvCell(String(cell ?? ""))).join(","));
}

function csvCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** So many trials that failed are told one by one. */
const TOLD = 5;

/** Why trials failed, and where to read on. */
export function failureLines(trials: readonly TrialJson[], applicationId: string): string[] {
  const failed = trials.filter(({ state }) => state === "failed").toSorted((a, b) => a.number - b.number);
  const more = failed.length > TOLD ? [`and ${failed.length - TOLD} more failed (--json has all)`] : [];
  return [
    ...failed.slice(0, TOLD).map(({ number, task, why }) => {
      return `trial ${number} failed${why === undefined ? "" : `: ${why}`}: tony-ts logs ${applicationId} ${task}`;
    }),
    ...more,
  ];
}

/** What is left of the best trial, and how it is run alone. @param given the words by which the search itself was run */
export function bestTrialLines(best: TrialJson | undefined, search: SearchStatus, given: readonly string[]): string[] {
  if (best === undefined) return [];
  const { number, params, checkpoint } = best;
  return [
    `trial ${number} alone: ${aloneCommand(params, given)}`,
    `its program: ${fillCommand(search.command, params)}`,
    ...(checkpoint === undefined ? [] : [`its checkpoint: ${checkpoint}`]),
  ];
}

/** A search of this trial alone gives its program the same. */
export function aloneCommand(params: TrialJson["params"], given: readonly string[]): string {
  const point = Object.entries(params).map(([name, value]) => `${name}=${/[\s;]/.test(value) ? `"${value}"` : value}`);
  const settings = [`tony.search.points=${point.join(" ")}`, "tony.search.max-trials=1"];
  return shellWords(["tony-ts", "search", ...given, ...settings.flatMap((setting) => ["-conf", setting])]);
}

/** What is known afterwards of how a search was run: its file, and where. */
export function givenOf({ jobFile = "job.xml" }: SearchStatus, applicationId: string): string[] {
  return [jobFile, ...(applicationId.startsWith("local_") ? ["--scheduler", "local"] : [])];
}
