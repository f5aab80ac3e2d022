import type { LogStream } from "../../src/api/messages.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { type LogSelection, selectTasks } from "../logs/log-selection.ts";
import type { Output } from "../output/output.ts";
import { successDetails } from "../output/progress.ts";
import { managerWait } from "../output/wait-block.ts";
import type { FollowedEnd, FollowListener } from "./follow-listener.ts";

/** Shows what the tasks print as they print it, and nothing else of the job but how it ended, in one line. */
export class QuietView implements FollowListener {
  readonly #output: Output;
  readonly #selection: LogSelection;
  readonly #end: (line: string) => void;
  #several = false;
  #status: JobStatus | undefined;

  /** @param end takes the last line: a result, or a remark beside one */
  constructor(output: Output, selection: LogSelection, end: (line: string) => void) {
    this.#output = output;
    this.#selection = selection;
    this.#end = end;
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
    this.#several = selectTasks(this.#selection, status).length > 1;
  }

  taskLine(task: string, stream: LogStream, line: string): void {
    const text = this.#several ? `${task} | ${line}` : line;
    if (stream === "stdout") this.#output.print(text);
    else this.#output.problem(text);
  }

  line(text: string): void {
    this.#output.problem(text);
  }

  ended({ outcome, report: { id } }: FollowedEnd): void {
    this.#output.endWait();
    const { result, summary } = outcome;
    const words = result === "succeeded" && this.#status !== undefined ? successDetails(this.#status) : summary;
    const more = result === "succeeded" ? "" : `\n  tony-ts status ${id} says more`;
    this.#end(`${id} ${result.toUpperCase()}: ${words}${more}`);
  }

  left(reason: string): void {
    this.#output.endWait();
    this.#output.problem(reason);
  }
}
