import type { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { queueName } from "../applications/job-filter.ts";
import type { OutputLine } from "../logs/ordered-output.ts";
import { printEvent } from "../logs/print-event.ts";
import type { Output } from "../output/output.ts";
import type { FollowEvent } from "../printed-json.ts";
import type { FollowedEnd, FollowListener } from "./follow-listener.ts";

/** The first event of a job that was submitted before. */
export function jobEvent({ id, name, queue }: ApplicationReport): FollowEvent {
  return { event: "job", applicationId: id, name, queue: queueName(queue), submitted: false };
}

/** Prints a job that is followed as JSON, an event a line. */
export class JsonView implements FollowListener {
  readonly #output: Output;
  #waiting = "";
  #shown = "";

  constructor(output: Output) {
    this.#output = output;
  }

  waiting({ state }: ApplicationReport, reason: string, delay: DelayReason): void {
    const now = `${state} ${reason}`;
    if (now === this.#waiting) return;
    this.#waiting = now;
    this.#print({ event: "waiting", state, reason, delay });
  }

  managerSilent(_silentMs: number, reason: string): void {
    const text = `The ResourceManager does not answer: ${reason}`;
    if (text === this.#waiting) return;
    this.#waiting = text;
    this.#print({ event: "remark", text });
  }

  trackingUrl(): void {}

  show(status: JobStatus): void {
    const now = changing(status);
    if (now === this.#shown) return;
    this.#shown = now;
    this.#print({ event: "status", status });
  }

  taskLine(task: string, line: OutputLine): void {
    this.#print({ event: "output", task, ...line });
  }

  line(text: string): void {
    this.#print({ event: "remark", text });
  }

  ending(text: string): void {
    this.line(text);
  }

  ended({ outcome, exitCode, cleaned }: FollowedEnd): void {
    if (cleaned !== undefined) this.line(cleaned);
    this.#print({ event: "end", outcome, exitCode });
  }

  left(reason: string, exitCode: ExitCode): void {
    this.#output.problem(reason);
    this.#print({ event: "end", outcome: null, exitCode });
  }

  #print(event: FollowEvent): void {
    printEvent(this.#output, event);
  }
}

/** What makes a state news: not the time, nor amounts that change all the time. */
function changing({ attempt, state, generation, tasks, waits, services, checkpoint, outcome }: JobStatus): string {
  const places = tasks.map(({ task, state: of, containerId, restarts, exit }) => [
    task,
    of,
    containerId,
    restarts,
    exit,
  ]);
  const reasons = waits.map((wait) => [wait.what, wait.reasons]);
  return JSON.stringify([attempt, state, generation, places, reasons, services, checkpoint?.step, outcome?.result]);
}
