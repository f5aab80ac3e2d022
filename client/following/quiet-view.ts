import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { saidOfTask, spokenName } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { type LineFilter, matches, type OutputLine } from "../../src/logs/ordered-output.ts";
import type { LogPrinter } from "../logs/log-printer.ts";
import { type LogSelection, selectTasks } from "../logs/log-selection.ts";
import type { Output } from "../output/output.ts";
import { successDetails } from "../output/progress.ts";
import { managerWait } from "../output/wait-block.ts";
import type { FollowedEnd, FollowListener } from "./follow-listener.ts";

export interface QuietViewOptions {
  readonly selection: LogSelection;
  readonly printer: LogPrinter;
  /** Which lines of the tasks; default all. */
  readonly filter?: LineFilter;
  /** Receives the last line: a result, or a remark next to one. */
  readonly end: (line: string, end: FollowedEnd) => void;
}

/** Shows what the tasks print as they print it, and nothing else about the job except one line for how it ended. */
export class QuietView implements FollowListener {
  readonly countsTime = true;
  readonly #output: Output;
  readonly #options: QuietViewOptions;
  #status: JobStatus | undefined;

  constructor(output: Output, options: QuietViewOptions) {
    this.#output = output;
    this.#options = options;
  }

  waiting({ id, state }: ApplicationReport, reason: string): void {
    const line = `${id} ${state}`;
    this.#output.waitAside({ lines: [`${line}: ${reason}`], cause: id, line, change: state, facts: [reason] });
  }

  managerSilent(silentMs: number, reason: string): void {
    this.#output.waitAside(managerWait(silentMs, reason));
  }

  trackingUrl(): void {}

  show(status: JobStatus): void {
    this.#output.endWait();
    this.#status = status;
    const { printer, selection } = this.#options;
    printer.several = selectTasks(selection, status).length > 1;
    printer.nameOf = (task) => spokenName(status, task);
  }

  taskLine(task: string, line: OutputLine): void {
    const { filter = {}, printer } = this.#options;
    if (matches(line, filter)) printer.line(task, line);
  }

  line(text: string): void {
    this.#output.problem(text);
  }

  ending(): void {
    this.line("Ending the job");
  }

  ended(end: FollowedEnd): void {
    this.#output.endWait();
    const { outcome, report } = end;
    const { id } = report;
    const { result, summary } = outcome;
    const words =
      result === "succeeded" && this.#status !== undefined
        ? successDetails(this.#status, outcome)
        : this.#spoken(summary);
    const more = result === "succeeded" ? "" : `\n  tony-ts status ${id} says more`;
    this.#options.end(`${id} ${result.toUpperCase()}: ${words}${more}`, end);
  }

  #spoken(summary: string): string {
    return this.#status === undefined ? summary : saidOfTask(this.#status, summary);
  }

  left(reason: string): void {
    this.#output.endWait();
    this.#output.problem(reason);
  }
}
