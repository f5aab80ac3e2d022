import type { Parameters, Space } from "./space.ts";

/** Which of two values of the metric is the better one. */
export type Direction = "minimize" | "maximize";

/**
 * - `running`: nothing is known of its end
 * - `completed`: it ended by itself, with a value
 * - `stopped`: it was ended early; its value is the last one it reported
 * - `failed`: it ended without a value
 */
export type TrialState = "running" | "completed" | "stopped" | "failed";

export interface Trial {
  readonly params: Parameters;
  readonly state: TrialState;
  /** Of the metric; NaN counts as none. */
  readonly value?: number;
  /** The last step it reported. */
  readonly step?: number;
}

/** What a search is: where to look, what for, and how. */
export interface Search {
  readonly space: Space;
  /** To try first, in this order. */
  readonly points: readonly Parameters[];
  readonly metric: string;
  readonly direction: Direction;
  readonly algorithm: "tpe" | "random" | "grid";
  /** Absent: all that the grid has. */
  readonly maxTrials?: number;
  readonly maxParallel: number;
  readonly seed: number;
}

/** Orders values, the better one first; NaN and none are worse than all others in either direction. */
export function compareValues(direction: Direction, a: number | undefined, b: number | undefined): number {
  if (!isKnown(a) || !isKnown(b)) return Number(isKnown(b)) - Number(isKnown(a));
  if (a === b) return 0;
  return a < b === (direction === "minimize") ? -1 : 1;
}

function isKnown(value: number | undefined): value is number {
  return value !== undefined && !Number.isNaN(value);
}
