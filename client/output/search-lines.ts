import { countWords } from "../../src/job/reasons/words.ts";
import { parameterWords } from "../../src/job/search/parse-parameter.ts";
import type { Search } from "../../src/job/search/trials.ts";
import { formatTable } from "./format.ts";

/** `tpe with asha, maximize accuracy · 20 trials, 4 at once` */
export function searchLine({ algorithm, stop, direction, metric, maxTrials, maxParallel }: Search): string {
  const count = maxTrials === undefined ? "all trials of the grid" : countWords(maxTrials, "trial");
  const rules = stop === "none" ? algorithm : `${algorithm} with ${stop}`;
  return `${rules}, ${direction} ${metric} · ${count}, ${maxParallel} at once`;
}

/** The space, a line for each parameter. */
export function spaceLines({ space }: Search): string[] {
  return formatTable(space.map((parameter) => [`  ${parameter.name}`, parameterWords(parameter)]));
}
