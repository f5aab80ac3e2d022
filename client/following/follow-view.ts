import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import { spokenName } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { OutputLine } from "../../src/logs/ordered-output.ts";
import { durationMs } from "../applications/applications.ts";
import { formatDuration } from "../output/format.ts";
import type { Colour, Output, WaitBlock } from "../output/output.ts";
import { milestones, successDetails } from "../output/progress.ts";
import { failureReport, masterlessReport } from "../output/report.ts";
import { transferLines } from "../output/transfer-lines.ts";
import { type HintOptions, hintLines, managerWait, waitBlock } from "../output/wait-block.ts";
import type { FollowedEnd, FollowListener } from "./follow-listener.ts";

/** A shorter wait is not worth a person's attention, and even less a line of a log. */
const shortestShownMs = { terminal: 1_500, pipe: 3_000 };

/** A line of advice for the next run of a job that has ended; undefined: nothing stands out. */
type AdviceOn = (status: JobStatus) => string | undefined;

/** Prints the progress of a followed job, for people; has no timer of its own. */
export class FollowView implements FollowListener {
  readonly countsTime = true;
  readonly #output: Output;
  readonly #now: () => number;
  readonly #sinceMs: number;
  readonly #owns: boolean;
  readonly #adviceOn: AdviceOn;
  #shown: JobStatus | undefined;
  /** The last state that the previous attempt reported. */
  #handedOver: JobStatus | undefined;
  #trackingUrl = "";
  #masterTold = false;
  #ending = false;

  /**
   * @param sinceMs the moment from which the times in front of the lines count
   * @param owns whether Ctrl-C ends the job
   * @param adviceOn the line below the end of a job that succeeded
   */
  constructor(
    output: Output,
    now: () => number,
    sinceMs: number,
    { owns = true, adviceOn = () => undefined }: { readonly owns?: boolean; readonly adviceOn?: AdviceOn } = {},
  ) {
    this.#output = output;
    this.#now = now;
    this.#sinceMs = sinceMs;
    this.#owns = owns;
    this.#adviceOn = adviceOn;
  }

  /** The application waits for its AM. */
  waiting(report: ApplicationReport, reason: string): void {
    const waitedMs = this.#now() - this.#sinceMs;
    if (waitedMs < this.#shortestShownMs) return;
    const waited = durationWords(waitedMs);
    const line = `${report.state} ${waited}`;
    this.#output.wait({
      lines: [`${line}: ${reason}`, ...hintLines({ applicationId: report.id }, this.#hint)],
      cause: "the AM",
      line: this.#timed(line),
      change: report.state,
      facts: [reason],
    });
  }

  managerSilent(silentMs: number, reason: string): void {
    this.#output.wait(managerWait(silentMs, reason));
  }

  trackingUrl(url: string): void {
    this.#trackingUrl = url;
  }

  show(status: JobStatus): void {
    // A later attempt knows nothing of the job before it has read what the previous one left.
    if (status.state === "starting" && this.#shown !== undefined && status.attempt !== this.#shown.attempt) return;
    if (!this.#masterTold) {
      this.#masterTold = true;
      this.line(`AM running on ${status.amHost}`, this.#trackingUrl);
    }
    if (this.#shown?.attempt !== status.attempt) this.#handedOver = this.#shown;
    for (const { what, details } of milestones(this.#shown, status, this.#handedOver)) this.line(what, details);
    this.#shown = status;
    const blocks = this.blocks(status);
    if (blocks.length === 0) this.#output.endWait();
    for (const block of blocks) this.#output.wait(block);
  }

  /** The blocks below the lines; a terminal shows the last of them. */
  protected blocks(status: JobStatus): readonly WaitBlock[] {
    const head = `${status.applicationId}  ${status.name} · queue ${status.queue} · AM on ${status.amHost} · ${this.#trackingUrl}`;
    const block = waitBlock(status, head, this.#now(), {
      shortestShownMs: this.#shortestShownMs,
      ...this.#hint,
    });
    return block === undefined ? [] : [{ ...block, line: this.#timed(block.line) }];
  }

  /** One line of a task's output. */
  taskLine(task: string, { line }: OutputLine): void {
    const name = this.#shown === undefined ? task : spokenName(this.#shown, task);
    this.#output.logLine(`${name} | `, line);
  }

  /** `   1.5 s  worker 2/2 allocated         worker:0 127.0.0.11` */
  line(what: string, details = "", colour?: Colour): void {
    const first = details === "" ? what : `${what.padEnd(27)}  `;
    this.#output.print(this.#timed(""), colour === undefined ? first : { colour, text: first }, details);
  }

  get #hint(): HintOptions {
    return { ending: this.#ending, owns: this.#owns };
  }

  get #shortestShownMs(): number {
    return this.#output.isTerminal ? shortestShownMs.terminal : shortestShownMs.pipe;
  }

  #timed(text: string): string {
    return `${formatDuration(this.#now() - this.#sinceMs).padStart(8)}  ${text}`;
  }

  ending(): void {
    this.#ending = true;
    this.line(this.endingWords);
  }

  protected get endingWords(): string {
    return "Ending the job; press Ctrl-C again to leave at once";
  }

  /** How the job ended, with the report when it did not succeed. */
  ended({ outcome, report, cleaned }: FollowedEnd): void {
    this.#output.endWait();
    const status = this.#shown;
    if (outcome.result === "succeeded") {
      this.line("SUCCEEDED", status === undefined ? "" : successDetails(status, outcome), "green");
      const advice = status && this.#adviceOn({ ...status, outcome });
      for (const line of [
        ...(status === undefined ? [] : transferLines(status)),
        ...(advice === undefined ? [] : [advice]),
      ])
        this.#output.print(`${" ".repeat(10)}${line}`);
    } else if (status === undefined && outcome.result === "killed") {
      this.line("KILLED", outcome.summary, "red");
    } else if (status === undefined) {
      this.#report(masterlessReport(report, outcome));
    } else {
      this.#report(
        failureReport({ ...status, state: outcome.result, outcome }, outcome, durationMs(report, this.#now())),
      );
    }
    if (cleaned !== undefined) this.line(cleaned);
  }

  left(reason: string): void {
    this.#output.endWait();
    this.#output.problem(reason);
  }

  #report([headline = "", ...rest]: readonly string[]): void {
    this.#output.print("\n", { colour: "red", text: headline }, ...rest.map((line) => `\n${line}`));
  }
}
