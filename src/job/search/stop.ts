import { ashaStop, type RungStop } from "./asha.ts";
import { type MedianStop, medianStop } from "./median.ts";
import type { Search, Trial } from "./trials.ts";

/** Why a trial has to be stopped before it ends by itself. */
export type Stop = MedianStop | RungStop;

/**
 * Whether to stop a trial at its last report; undefined: it continues.
 * @param trials all trials of the search, in the order of their numbers, with their reports so far
 */
export function stopOf(search: Search, trial: Trial, trials: readonly Trial[]): Stop | undefined {
  const { stop, budget } = search;
  if (stop === "asha" && budget !== undefined) return ashaStop(search, budget, trial, trials);
  return stop === "median" ? medianStop(search, trial, trials) : undefined;
}
