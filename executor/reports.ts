import type { ExecutorReport, Metrics } from "../src/api/messages.ts";
import type { Transfer } from "../src/job/status.ts";
import type { Generation } from "./generation/generation.ts";
import type { ProgressReport } from "./monitoring/progress-file.ts";
import { Ticker } from "./timers.ts";

/** Kinds of reports whose last one of the current generation is repeated on a new stream. */
type Kept = Extract<ExecutorReport, { type: "service-announced" | "child-progress" }>;

export interface ReportsOptions {
  /** @param replaces an unsent report of this name is dropped */
  readonly send: (generation: number, report: ExecutorReport, replaces?: string) => void;
  readonly current: () => Pick<Generation, "number" | "metrics" | "exit" | "exitAcknowledged">;
  /** The last checkpoint that was uploaded, as long as the program has reported nothing yet. */
  readonly carried: () => ProgressReport | undefined;
  readonly nowMs: () => number;
}

/** What the ApplicationMaster is told of a task: heartbeats, and on each new stream what it may not know. */
export class Reports {
  readonly #options: ReportsOptions;
  readonly #kept = new Map<Kept["type"], { readonly generation: number; readonly report: Kept }>();
  /** How the last upload of each kind goes. It is the task's, whatever its generation. */
  readonly #transfers = new Map<Transfer["what"], ExecutorReport>();
  #metricsSent: Metrics | undefined;
  readonly #heartbeats = new Ticker();

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /** Sends a report about a generation; on a new stream the service and the progress of the current one are repeated, and uploads. */
  send(generation: number, report: ExecutorReport, replaces?: string): void {
    if (report.type === "transfer") this.#transfers.set(report.transfer.what, report);
    if (
      (report.type === "service-announced" || report.type === "child-progress") &&
      generation === this.#options.current().number
    ) {
      this.#kept.set(report.type, { generation, report });
    }
    this.#options.send(generation, report, replaces);
  }

  /** A stream is open. */
  joined(heartbeatIntervalMs: number): void {
    this.#metricsSent = undefined;
    this.#heartbeats.set(heartbeatIntervalMs, () => this.#beat());
    this.#beat();
    const { number, exit, exitAcknowledged } = this.#options.current();
    const unsaid = [exit && !exitAcknowledged ? ({ type: "child-exited", exit } as const) : undefined];
    for (const report of [
      ...unsaid,
      this.#keptOf("service-announced"),
      this.#keptOf("child-progress") ?? this.#options.carried(),
      ...this.#transfers.values(),
    ]) {
      if (report !== undefined) this.#options.send(number, report);
    }
  }

  /** The stream is gone, or the executor ends. */
  left(): void {
    this.#heartbeats.clear();
  }

  /** Reports about an earlier generation are not repeated. */
  #keptOf(type: Kept["type"]): Kept | undefined {
    const kept = this.#kept.get(type);
    return kept?.generation === this.#options.current().number ? kept.report : undefined;
  }

  #beat(): void {
    const { number, metrics } = this.#options.current();
    const news = metrics !== undefined && metrics !== this.#metricsSent ? { metrics } : {};
    this.#metricsSent = metrics;
    this.#options.send(number, { type: "heartbeat", sentAtMs: this.#options.nowMs(), ...news }, "heartbeat");
  }
}
