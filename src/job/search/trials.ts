import type { NonFinite } from "../program-metrics.ts";
import type { Parameters, Space } from "./space.ts";

/** The limit for a search's trials; a grid has no more trials than combinations. */
export const MOST_TRIALS = 10_000;

/** Which of two values of the metric is the better one. */
export type Direction = "minimize" | "maximize";

/**
 * - `running`: its end is not known
 * - `paused`: it waits at a rung, and continues from its checkpoint if it is among the best there; its value is its last report
 * - `completed`: it ended by itself, with a value
 * - `stopped`: it was ended early; its value is its last report
 * - `failed`: it ended without a value
 * - `interrupted`: its search ended while it ran
 */
export type TrialState = (typeof trialStates)[number];

export const trialStates = ["completed", "stopped", "failed", "paused", "running", "interrupted"] as const;

/** How many trials are in each state. */
export function countStates(trials: readonly { readonly state: TrialState }[]): Record<TrialState, number> {
  const counts = { completed: 0, stopped: 0, failed: 0, paused: 0, running: 0, interrupted: 0 };
  for (const { state } of trials) counts[state] += 1;
  return counts;
}

/** A value of the metric by a step of the program. */
export interface Report {
  readonly step: number;
  readonly value: number;
}

export interface Trial {
  readonly params: Parameters;
  readonly state: TrialState;
  /** The metric's value; NaN counts as none. */
  readonly value?: number;
  /** The last step it reported. */
  readonly step?: number;
  /** In the order of increasing steps. */
  readonly reports?: readonly Report[];
  /** In a search whose trials pause: the index of the rung that it may run to; absent: its first. */
  readonly rung?: number;
}

/** None is null, which JavaScript writes for NaN; tony-ts writes numbers that JSON cannot represent as text. */
export type WrittenValue = number | NonFinite | null;

/** One trial in the form of files, and of a search that is continued. */
export interface TrialLine {
  readonly number?: number;
  readonly params: Parameters;
  readonly state?: TrialState;
  readonly value?: WrittenValue;
  readonly step?: number;
  /** Pairs of step and value. */
  readonly reports?: readonly (readonly WrittenValue[])[];
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** Why it was stopped early. */
  readonly why?: string;
  /** Why it failed. */
  readonly error?: string;
  readonly checkpoint?: string;
  readonly checkpointStep?: number;
  /** The application that has its logs. */
  readonly application?: string;
  /** On the first trial of a file: what all of them were tried for. */
  readonly search?: SearchSaid;
}

/** What trials must have in common to be comparable. */
export interface SearchSaid extends Pick<Search, "metric" | "direction"> {
  /** Each parameter by its name, in the form that a person writes. */
  readonly space: Readonly<Record<string, string>>;
}

/** Whether it has ended, and never runs again. */
export function isEnded({ state }: Pick<TrialLine, "state">): boolean {
  return state === "completed" || state === "stopped" || state === "failed";
}

/** The steps at which trials are compared: from `min`, each `factor` times the previous one, up to `max`. */
export interface Budget {
  readonly min: number;
  readonly max: number;
  readonly factor: number;
}

/** A rule by which trials pause at rungs. */
export type PausingRule = "asha-promotion" | "hyperband";

/** The facts that decide which paused trials continue. */
export interface Pausing {
  readonly rule: PausingRule;
  /** Steps. */
  readonly rungs: readonly number[];
  readonly factor: number;
  readonly direction: Direction;
  /** How many trials there will be. */
  readonly total: number;
}

/** A search: its space, its objective, and its method. */
export interface Search {
  readonly space: Space;
  /** Points to try first, in this order. */
  readonly points: readonly Parameters[];
  readonly metric: string;
  readonly direction: Direction;
  readonly algorithm: "tpe" | "random" | "grid" | "evolution" | "optuna";
  /** Absent: as many as the grid has. */
  readonly maxTrials?: number;
  readonly maxParallel: number;
  /** For `evolution`: the number of trials in a generation. */
  readonly population: number;
  /** The rule by which trials are stopped early, or pause. */
  readonly stop: "none" | "median" | "asha" | PausingRule;
  /** For `asha` and the rules that pause. */
  readonly budget?: Budget;
  /** A value that is good enough. */
  readonly goal?: number;
  readonly timeoutMs?: number;
  /** When the search fails. */
  readonly failures: FailureLimits;
  /** How many times a trial is restarted after its program failed. */
  readonly retries: number;
  readonly seed: number;
  /** The longest time that a container is kept while no trial needs it; absent: it is returned at once. */
  readonly keepIdleMs?: number;
  /** How many of the best ended trials keep their checkpoints; absent: all. */
  readonly keepCheckpoints?: number;
  /** For `optuna`: the Python interpreter that has it, in the ApplicationMaster's container. */
  readonly optunaPython?: string;
  /** For `optuna`: the program that asks it. */
  readonly optunaProgram?: string;
  /** The job's file, as given to the command that runs the search. */
  readonly jobFile?: string;
  /** Keys that this command's other words set, in addition to the file. */
  readonly givenKeys?: readonly string[];
  /** Its subfolder for this search gets the trials when the search has ended. */
  readonly outputDir?: string;
  /** The trials of the search that this one continues, in the order of their numbers. */
  readonly before?: readonly TrialLine[];
}

/** How many trials may fail before their search does; absent: any number. */
export interface FailureLimits {
  readonly onFailed: "continue" | "end";
  readonly most?: number;
  readonly mostInARow?: number;
}

/** Orders values, the better one first; NaN and missing values are worse than all others in either direction. */
export function compareValues(direction: Direction, a: number | undefined, b: number | undefined): number {
  if (!hasValue(a) || !hasValue(b)) return Number(hasValue(b)) - Number(hasValue(a));
  if (a === b) return 0;
  return a < b === (direction === "minimize") ? -1 : 1;
}

/** The best trial that has ended with a value, of equal ones the first; an interrupted one counts with its last value. */
export function bestTrial<T extends Pick<Trial, "state" | "value">>(
  direction: Direction,
  trials: readonly T[],
): T | undefined {
  const ended = trials.filter(({ state, value }) => state !== "running" && state !== "failed" && hasValue(value));
  return ended.toSorted((a, b) => compareValues(direction, a.value, b.value))[0];
}

/** NaN does not count as a value. */
export function hasValue(value: number | undefined): value is number {
  return value !== undefined && !Number.isNaN(value);
}
