import type { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { OutputLine } from "../../src/logs/ordered-output.ts";
import type { FollowEvent } from "../printed-json.ts";
import type { FollowedEnd, FollowListener } from "./follow-listener.ts";

/** Receives the events of a job that is followed. */
export interface EventSink {
  readonly event: (event: FollowEvent) => void;
  /** Why this client stopped following. */
  readonly problem: (text: string) => void;
}

/** Turns what happens to a followed job into events. */
export class EventView implements FollowListener {
  readonly countsTime = false;
  readonly #sink: EventSink;
  #waiting = "";
  #shown = "";

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  waiting({ state }: ApplicationReport, reason: string, delay: DelayReason): void {
    const now = `${state} ${reason}`;
    if (now === this.#waiting) return;
    this.#waiting = now;
    this.#sink.event({ event: "waiting", state, reason, delay });
  }

  managerSilent(_silentMs: number, reason: string): void {
    const text = `The ResourceManager does not answer: ${reason}`;
    if (text === this.#waiting) return;
    this.#waiting = text;
    this.#sink.event({ event: "remark", text });
  }

  trackingUrl(): void {}

  show(status: JobStatus): void {
    const now = changing(status);
    if (now === this.#shown) return;
    this.#shown = now;
    this.#sink.event({ event: "status", status });
  }

  taskLine(task: string, line: OutputLine): void {
    this.#sink.event({ event: "output", task, ...line });
  }

  line(text: string): void {
    this.#sink.event({ event: "remark", text });
  }

  ending(): void {
    this.line("Ending the job");
  }

  ended({ outcome, exitCode, cleaned }: FollowedEnd): void {
    if (cleaned !== undefined) this.line(cleaned);
    this.#sink.event({ event: "end", outcome, exitCode });
  }

  left(reason: string, exitCode: ExitCode): void {
    this.#sink.problem(reason);
    this.#sink.event({ event: "end", outcome: null, exitCode });
  }
}

/** The part of a status that makes it news: not the time, nor amounts that change all the time. */
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
