import type { JobStatus } from "../../src/job/status.ts";
import type { Output } from "../output/output.ts";
import {
  bestOf,
  bestTrialLines,
  bestTrialWords,
  failureLines,
  trialCounts,
  trialsOf,
  trialTable,
} from "../output/trial-table.ts";
import type { FollowedEnd } from "./follow-listener.ts";
import { FollowView } from "./follow-view.ts";

/** As many of the best trials are shown at the end. */
const SHOWN = 10;

/** Prints the way of a search: each trial that is better than those before it, and the best ones at the end. */
export class SearchView extends FollowView {
  readonly #print: (line: string) => void;
  readonly #given: readonly string[];
  #status: JobStatus | undefined;
  #best: string | undefined;

  /** @param given the words by which the search was run */
  constructor(output: Output, now: () => number, given: readonly string[]) {
    super(output, now, now());
    this.#given = given;
    this.#print = (line) => output.print(line);
  }

  override show(status: JobStatus): void {
    this.#status = status;
    super.show(status);
    const best = status.search && bestTrialWords(status, status.search);
    if (best === undefined || best === this.#best) return;
    this.#best = best;
    this.line(best);
  }

  override ended(end: FollowedEnd): void {
    super.ended(end);
    const { search } = this.#status ?? {};
    if (this.#status === undefined || search === undefined) return;
    const trials = trialsOf(this.#status, search);
    const lines = [
      ...(end.outcome.result === "succeeded" || trials.length === 0 ? [] : [`trials: ${trialCounts(trials)}`]),
      ...trialTable(trials, search, SHOWN),
      ...failureLines(trials, this.#status.applicationId),
      ...bestTrialLines(bestOf(trials), search, this.#given),
    ];
    if (lines.length > 0) this.#print(lines.join("\n"));
  }
}
