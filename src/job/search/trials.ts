import type { NonFinite } from "../program-metrics.ts";
import type { Parameters, Space } from "./space.ts";

/** Of a grid there are no more trials than places; nobody asks for more than this. */
export const MOST_TRIALS = 10_000;

/** Which of two values of the metric is the better one. */
export type Direction = "minimize" | "maximize";

/**
 * - `running`: nothing is known of its end
 * - `paused`: it waits at a rung, and goes on from its checkpoint if it is among the best there; its value is the last one it reported
 * - `completed`: it ended by itself, with a value
 * - `stopped`: it was ended early; its value is the last one it reported
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
  /** Of the metric; NaN counts as none. */
  readonly value?: number;
  /** The last step it reported. */
  readonly step?: number;
  /** With ever higher steps. */
  readonly reports?: readonly Report[];
  /** Of a search whose trials pause: the place of the rung that it may run to; absent: its first. */
  readonly rung?: number;
}

/** None is null, which JavaScript writes for NaN; tony-ts writes what JSON has no number for as text. */
export type WrittenValue = number | NonFinite | null;

/** One trial as files have it, and a search that goes on with an earlier one. */
export interface TrialLine {
  readonly number?: number;
  readonly params: Parameters;
  readonly state?: TrialState;
  readonly value?: WrittenValue;
  readonly step?: number;
  /** Of step and value each. */
  readonly reports?: readonly (readonly WrittenValue[])[];
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** Why it was stopped early. */
  readonly why?: string;
  /** How it failed. */
  readonly error?: string;
  readonly checkpoint?: string;
  readonly checkpointStep?: number;
  /** The application that has its logs. */
  readonly application?: string;
  /** Of the first trial of a file: what all of them were tried for. */
  readonly search?: SearchSaid;
}

/** What trials have in common that can be compared with one another. */
export interface SearchSaid extends Pick<Search, "metric" | "direction"> {
  /** Each parameter by its name, as a person writes it. */
  readonly space: Readonly<Record<string, string>>;
}

/** Whether it has ended, and never runs again. */
export function isEnded({ state }: Pick<TrialLine, "state">): boolean {
  return state === "completed" || state === "stopped" || state === "failed";
}

/** The steps that trials are compared at: from `min` on, each `factor` times the one before, up to `max`. */
export interface Budget {
  readonly min: number;
  readonly max: number;
  readonly factor: number;
}

/** A rule by which trials pause at rungs. */
export type PausingRule = "asha-promotion" | "hyperband";

/** What says which of the trials that pause go on. */
export interface Pausing {
  readonly rule: PausingRule;
  /** Steps. */
  readonly rungs: readonly number[];
  readonly factor: number;
  readonly direction: Direction;
  /** How many trials there will be. */
  readonly total: number;
}

/** What a search is: where to look, what for, and how. */
export interface Search {
  readonly space: Space;
  /** To try first, in this order. */
  readonly points: readonly Parameters[];
  readonly metric: string;
  readonly direction: Direction;
  readonly algorithm: "tpe" | "random" | "grid" | "evolution" | "optuna";
  /** Absent: all that the grid has. */
  readonly maxTrials?: number;
  readonly maxParallel: number;
  /** Of `evolution`: how many trials a generation has. */
  readonly population: number;
  /** By which rule trials are stopped early, or pause. */
  readonly stop: "none" | "median" | "asha" | PausingRule;
  /** Of `asha` and those that pause. */
  readonly budget?: Budget;
  /** A value that is good enough. */
  readonly goal?: number;
  readonly timeoutMs?: number;
  /** When the search fails. */
  readonly failures: FailureLimits;
  /** How often a trial whose program failed starts again. */
  readonly retries: number;
  readonly seed: number;
  /** For how long a container that no trial waits for is kept at most; absent: it goes back at once. */
  readonly keepIdleMs?: number;
  /** Of how many of the best trials that have ended the checkpoints are kept; absent: of all. */
  readonly keepCheckpoints?: number;
  /** Of `optuna`: the interpreter that has it, in the ApplicationMaster's container. */
  readonly optunaPython?: string;
  /** Of `optuna`: the program that asks it. */
  readonly optunaProgram?: string;
  /** The job's file, as it was given to the command that runs the search. */
  readonly jobFile?: string;
  /** Keys that this command's other words set, beside the file. */
  readonly givenKeys?: readonly string[];
  /** In a folder below it the trials are written when the search has ended. */
  readonly outputDir?: string;
  /** The trials of the search that this one goes on with, in the order of their numbers. */
  readonly before?: readonly TrialLine[];
}

/** How many trials may fail before their search does; absent: any number. */
export interface FailureLimits {
  readonly onFailed: "continue" | "end";
  readonly most?: number;
  readonly mostInARow?: number;
}

/** Orders values, the better one first; NaN and none are worse than all others in either direction. */
export function compareValues(direction: Direction, a: number | undefined, b: number | undefined): number {
  if (!hasValue(a) || !hasValue(b)) return Number(hasValue(b)) - Number(hasValue(a));
  if (a === b) return 0;
  return a < b === (direction === "minimize") ? -1 : 1;
}

/** The best one that has ended with a value, of equals the first; one that was interrupted counts with what it had reported. */
export function bestTrial<T extends Pick<Trial, "state" | "value">>(
  direction: Direction,
  trials: readonly T[],
): T | undefined {
  const ended = trials.filter(({ state, value }) => state !== "running" && state !== "failed" && hasValue(value));
  return ended.toSorted((a, b) => compareValues(direction, a.value, b.value))[0];
}

/** NaN is none. */
export function hasValue(value: number | undefined): value is number {
  return value !== undefined && !Number.isNaN(value);
}
