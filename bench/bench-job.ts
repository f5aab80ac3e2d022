import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../src/programs.ts";
import { type ClusterStatus, ClusterUser, environmentFor } from "../test/support/cluster.ts";
import { PeakWatch } from "./process-memory.ts";
import { until } from "./until.ts";

/** Long enough even on a busy machine. */
const limitMs = 180_000;
const lookEveryMs = 5;

export interface BenchJobOptions {
  readonly tasks: number;
  readonly settings?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
}

/** A job submitted by the real client, whose tasks write down when they began and ended (bench/tasks/task.sh). */
export class BenchJob {
  readonly spawnedAtMs = Date.now();
  readonly #folder = mkdtempSync(path.join(tmpdir(), "tony-bench-"));
  readonly #client: ChildProcess;
  readonly #peak: PeakWatch;
  readonly #ended: Promise<{ readonly code: number | null; readonly atMs: number }>;
  readonly #tasks: number;
  #output = "";

  constructor(cluster: ClusterStatus, options: BenchJobOptions) {
    this.#tasks = options.tasks;
    // The tasks run as a user other than the client's.
    chmodSync(this.#folder, 0o777);
    const script = path.join(this.#folder, "task.sh");
    copyFileSync(path.join(packageRoot(), "bench", "tasks", "task.sh"), script);
    const jobFile = path.join(this.#folder, "job.xml");
    writeFileSync(jobFile, jobXml(options));
    const words = ["submit", "--conf", jobFile, "--shell_env", `BENCH_FOLDER=${this.#folder}`];
    this.spawnedAtMs = Date.now();
    this.#client = spawn(
      process.execPath,
      [path.join(packageRoot(), "dist", "programs", "tony-ts.cjs"), ...words, ...(options.arguments ?? [])],
      {
        cwd: this.#folder,
        // At each start Node 20 parses the file that this variable names, which takes 45 ms.
        env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined, ...environmentFor(cluster, ClusterUser.alice) },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#peak = new PeakWatch(this.#client.pid ?? 0);
    for (const stream of [this.#client.stdout, this.#client.stderr]) {
      stream?.on("data", (bytes: Buffer) => {
        this.#output += bytes.toString();
      });
    }
    this.#ended = new Promise((resolve) => this.#client.on("exit", (code) => resolve({ code, atMs: Date.now() })));
  }

  /** Resolves as soon as the client has printed it. */
  async id(): Promise<string> {
    return await this.#until("the application's id", () => /application_\d+_\d+/.exec(this.#output)?.[0]);
  }

  /** When the last task's program began its start number `generation`. */
  async started(generation = 1): Promise<number> {
    return await this.#until("every task to start", () => this.#last("started", generation));
  }

  /** The process id of a task's present program. */
  pidOf(task: number): number {
    return Number(readFileSync(path.join(this.#folder, `worker-${task}.pid`), "utf8"));
  }

  /** Lets the tasks end. */
  release(): void {
    writeFileSync(path.join(this.#folder, "release"), "");
  }

  /** When the last task's program ended; to be asked once the job has ended. */
  lastEndedAtMs(): number {
    const atMs = this.#last("ended", 1);
    if (atMs === undefined) throw new Error(`a task never ended:\n${this.#output}`);
    return atMs;
  }

  /** Resolves when the client ends. Rejects when the job did not succeed. */
  async finished(): Promise<{ readonly atMs: number; readonly peakMiB: number }> {
    const limit = new AbortController();
    const late = sleep(limitMs, "late" as const, { signal: limit.signal, ref: false }).catch(() => "late" as const);
    const end = await Promise.race([this.#ended, late]);
    limit.abort();
    const peakMiB = this.#peak.stop();
    if (end === "late" || end.code !== 0) throw new Error(`the job did not succeed:\n${this.#output}`);
    return { atMs: end.atMs, peakMiB };
  }

  async dispose(): Promise<void> {
    this.#peak.stop();
    if (this.#client.exitCode === null) {
      this.#client.kill("SIGTERM");
      await this.#ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #last(what: "started" | "ended", lines: number): number | undefined {
    const times = Array.from({ length: this.#tasks }, (_, task) => {
      const file = path.join(this.#folder, `worker-${task}.${what}`);
      const written = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
      return written.length < lines ? Number.NaN : Number(written.at(-1)) * 1000;
    });
    return times.some(Number.isNaN) ? undefined : Math.max(...times);
  }

  async #until<Value>(what: string, look: () => Value | undefined): Promise<Value> {
    const hopeless = () => (this.#client.exitCode === null ? undefined : `the client said:\n${this.#output}`);
    return await until(what, look, { everyMs: lookEveryMs, hopeless });
  }
}

function jobXml({ tasks, settings = {} }: BenchJobOptions): string {
  const all = {
    "tony.application.name": "bench",
    "tony.application.framework": "generic",
    "tony.worker.instances": String(tasks),
    "tony.worker.memory": "512m",
    "tony.worker.command": "exec bash task.sh",
    "tony.containers.resources": "task.sh",
    ...settings,
  };
  const properties = Object.entries(all).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  return `<?xml version="1.0"?>\n<configuration>\n${properties.join("\n")}\n</configuration>\n`;
}
