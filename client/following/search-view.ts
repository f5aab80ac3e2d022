import { containerTimeWords } from "../../src/job/search/container-time.ts";
import { bestOf, isBetter, type TrialJson, trialsOf } from "../../src/job/search/trial-list.ts";
import type { JobStatus, SearchStatus } from "../../src/job/status.ts";
import type { Output, WaitBlock } from "../output/output.ts";
import { searchBoard } from "../output/search-board.ts";
import {
  bestTrialLines,
  bestWords,
  failureLines,
  givenOf,
  notGivenLines,
  resumeLine,
  searchFolder,
  trialCounts,
  trialTable,
} from "../output/trial-table.ts";
import type { FollowedEnd } from "./follow-listener.ts";
import { FollowView } from "./follow-view.ts";

/** So many of the best trials are shown at the end. */
const SHOWN = 10;

export interface SearchViewOptions {
  readonly given?: readonly string[];
  /** As `FollowView`. */
  readonly sinceMs?: number;
  readonly owns?: boolean;
  /** The job's own folder on this machine; absent or undefined: it has none here. */
  readonly localFolder?: (applicationId: string) => string | undefined;
}

/** Prints the progress of a search: each trial that is better than those before it, how the search stands, and the best trials at the end. */
export class SearchView extends FollowView {
  readonly #output: Output;
  readonly #time: () => number;
  readonly #given: readonly string[] | undefined;
  readonly #localFolder: SearchViewOptions["localFolder"];
  #status: JobStatus | undefined;
  #best: TrialJson | undefined;

  /** @param given the command words by which the search was run; absent: those in its status */
  constructor(output: Output, now: () => number, options: SearchViewOptions) {
    const { given, sinceMs = now(), owns = true } = options;
    super(output, now, sinceMs, { owns });
    this.#given = given;
    this.#localFolder = options.localFolder;
    this.#output = output;
    this.#time = now;
  }

  override show(status: JobStatus): void {
    this.#status = status;
    super.show(status);
    const { search } = status;
    if (search === undefined) return;
    const best = bestOf(trialsOf(status, search));
    // A trial that was the best while it paused no longer counts once it continues: the one that is best then is no news.
    if (best !== undefined && isBetter(best, this.#best, search)) {
      this.#best = best;
      this.line(bestWords(best, search));
    }
  }

  protected override blocks(status: JobStatus): readonly WaitBlock[] {
    const board = status.search && searchBoard(status, status.search, this.#time());
    if (board === undefined) return super.blocks(status);
    // On a terminal the board includes what the search waits for.
    return this.#output.isTerminal ? [board] : [...super.blocks(status), board];
  }

  override ended(end: FollowedEnd): void {
    super.ended(end);
    const { search } = this.#status ?? {};
    if (this.#status === undefined || search === undefined) return;
    const trials = trialsOf(this.#status, search);
    const { applicationId } = this.#status;
    const given = this.#given ?? givenOf(search, applicationId);
    // The report of a search that did not succeed has them.
    const { result, reason } = end.outcome;
    const counts = reason.code === "trials-ended" ? [] : [trialCounts(trials)];
    const table = result === "succeeded" ? [...counts, ...trialTable(trials, search, SHOWN)] : [];
    const lines = [...table, ...timeLines(search, end.report)];
    const commands = [
      ...failureLines(trials, this.#status),
      ...bestTrialLines(bestOf(trials), search, given),
      ...this.#folderLines(search, applicationId),
      ...resumeLine(end.outcome, given, { ...this.#status, search }),
      ...(this.#given === undefined ? notGivenLines(search) : []),
    ];
    if (lines.length > 0) this.#output.print(lines.join("\n"));
    // Commands are meant to be copied: a terminal that wraps them itself keeps them whole.
    if (commands.length > 0) this.#output.preformatted(commands.join("\n"));
  }

  #folderLines(search: SearchStatus, applicationId: string): string[] {
    const folder = searchFolder(search, applicationId, this.#localFolder?.(applicationId));
    return folder === undefined ? [] : [`its files: ${folder}/result.json, trials.jsonl`];
  }
}

/** What the containers' time was used for, and what YARN counts. */
function timeLines({ containerTime: time }: SearchStatus, { usage }: FollowedEnd["report"]): string[] {
  if (time === undefined) return [];
  const yarn =
    usage === undefined
      ? ""
      : ` · YARN counts ${usage.memorySeconds} MiB·s and ${usage.vcoreSeconds} core·s, the AM's among them`;
  return [`${containerTimeWords(time)}${yarn}`];
}
