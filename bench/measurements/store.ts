import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/programs.ts";
import { atLeast, atMost } from "../figures.ts";
import type { Measurement } from "../measurement.ts";

const put = "a put, from a program and back: median";
const watched = "a put's commit → its change is told: median";
const rate = "puts, 32 at a time";
const threads = "puts of 32 threads in Python, one at a time each";
const futures = "puts of one thread in Python, by futures";

/**
 * Measured with Skein 0.8.2's Python client with 32 threads: the median on a quiet machine with 2 cores. Its program is not part of
 * the bench.
 */
const SKEIN_PUTS_PER_SECOND = 4_840;

const run = promisify(execFile);

/** Jobs on this machine whose one task calls its executor (bench/tasks/store) and prints what it measured. */
export const store: Measurement = {
  name: "store",
  what: "the key-value store from a task's program: its socket, its executor, the AM; no cluster takes part",
  warmUps: 1,
  figures: [
    { name: put, unit: "ms", budget: atMost(0.4) },
    { name: watched, unit: "ms", budget: atMost(0.4) },
    { name: rate, unit: "calls/s" },
    { name: threads, unit: "calls/s" },
    { name: futures, unit: "calls/s", budget: atLeast(5 * SKEIN_PUTS_PER_SECOND) },
  ],
  async run() {
    const { putMs, watchedMs, putsPerSecond }: Calls = await job(`${process.execPath} calls.mjs`);
    const python: Record<"threads" | "futures", Rate> = await job("python3 puts.py");
    return {
      [put]: putMs,
      // A put is taken to be committed when half of its time is over.
      [watched]: watchedMs - putMs / 2,
      [rate]: putsPerSecond,
      [threads]: python.threads.putsPerSecond,
      [futures]: python.futures.putsPerSecond,
    };
  },
};

interface Calls extends Rate {
  readonly putMs: number;
  /** Measured from before the put. */
  readonly watchedMs: number;
}

interface Rate {
  readonly putsPerSecond: number;
}

/** Runs a job and reads what its program prints. */
async function job(command: string) {
  const words = [
    ...["--scheduler", "local", "--src_dir", path.join(packageRoot(), "bench", "tasks", "store")],
    ...["--executes", command, "--conf", "tony.application.framework=generic", "--conf", "tony.worker.instances=1"],
    ...["--shell_env", `PYTHONPATH=${path.join(packageRoot(), "python", "src")}`],
  ];
  const program = path.join(packageRoot(), "dist", "programs", "tony-ts.cjs");
  const { stdout } = await run(process.execPath, [program, "submit", ...words]);
  return JSON.parse(/\{".*\}/.exec(stdout)?.[0] ?? "{}");
}
