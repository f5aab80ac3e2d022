import type { ExecutorReport, Metrics } from "../src/api/messages.ts";
import type { Transfer } from "../src/job/status.ts";
import type { Generation } from "./generation/generation.ts";
import type { ProgressReport } from "./monitoring/progress-file.ts";
import { Ticker } from "./timers.ts";

interface Said<Report> {
  readonly generation: number;
  readonly report: Report;
}

export interface ReportsOptions {
  /** @param replaces an unsent report of this name is dropped */
  readonly send: (generation: number, report: ExecutorReport, replaces?: string) => void;
  readonly current: () => Pick<Generation, "number" | "metrics" | "exit" | "exitAcknowledged">;
  /** The last uploaded checkpoint, as long as the program has reported nothing yet. */
  readonly carried: () => ProgressReport | undefined;
  readonly nowMs: () => number;
}

/** What the ApplicationMaster is told of a task: heartbeats, and on each new stream what it may not know. */
export class Reports {
  readonly #options: ReportsOptions;
  #service: Said<ExecutorReport> | undefined;
  #progress: Said<ProgressReport> | undefined;
  /** The state of the last upload of each kind. It belongs to the task, whatever its generation. */
  readonly #transfers = new Map<Transfer["what"], ExecutorReport>();
  #metricsSent: Metrics | undefined;
  readonly #heartbeats = new Ticker();

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  /**
   * Sends a report about a generation. On a new stream the service and the progress of the current generation are repeated, as are
   * uploads.
   */
  send(generation: number, report: ExecutorReport, replaces?: string): void {
    if (report.type === "transfer") this.#transfers.set(report.transfer.what, report);
    if (generation === this.#options.current().number) {
      if (report.type === "service-announced") this.#service = { generation, report };
      if (report.type === "child-progress") this.#progress = { generation, report };
    }
    this.#options.send(generation, report, replaces);
  }

  /** The last report of the current generation's program. */
  get progress(): ProgressReport | undefined {
    return this.#ofCurrent(this.#progress) ?? this.#options.carried();
  }

  /** A stream is open. */
  joined(heartbeatIntervalMs: number): void {
    this.#metricsSent = undefined;
    this.#heartbeats.set(heartbeatIntervalMs, () => this.#beat());
    this.#beat();
    const { number, exit, exitAcknowledged } = this.#options.current();
    const unsaid = [exit && !exitAcknowledged ? ({ type: "child-exited", exit } as const) : undefined];
    for (const report of [...unsaid, this.#ofCurrent(this.#service), this.progress, ...this.#transfers.values()]) {
      if (report !== undefined) this.#options.send(number, report);
    }
  }

  /** The stream is gone, or the executor ends. */
  left(): void {
    this.#heartbeats.clear();
  }

  /** Reports about an earlier generation are not repeated. */
  #ofCurrent<Report>(said: Said<Report> | undefined): Report | undefined {
    return said?.generation === this.#options.current().number ? said.report : undefined;
  }

  #beat(): void {
    const { number, metrics } = this.#options.current();
    const news = metrics !== undefined && metrics !== this.#metricsSent ? { metrics } : {};
    this.#metricsSent = metrics;
    this.#options.send(number, { type: "heartbeat", sentAtMs: this.#options.nowMs(), ...news }, "heartbeat");
  }
}
