import { execFile } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/programs.ts";
import { atLeast, atMost } from "../figures.ts";
import type { Measurement } from "../measurement.ts";

const rows = "rows of 100 bytes into Python, a task";
const views = "rows of 100 bytes into Python, a task, as memoryviews";
const bytes = "bytes into Python, a task, in rows of 1 MB";
const viewed = "bytes into Python, a task, in rows of 1 MB, as memoryviews";
const queue = "rows of 100 bytes through TensorFlowOnSpark's queue";
const times = "rows: tony-ts against TensorFlowOnSpark";
const first = "a program asks → it has its first rows";
const even = "a step of 10 ms: processor time that uneven adds";
const waits = "steps of 1,000 that wait for an answer of uneven";
const small = "a split that is a file of one row, 32 at a time";
const elsewhere = "a program is killed → another one has its split";
const memory = "AM: memory of 100,000 splits of one file";
const memoryOfFiles = "AM: memory of 100,000 splits, each a file";

const ROW = `${"x".repeat(99)}\n`;
const MANY = 100_000;
const FEW = 10;
const SMALL = 2_000;
const TENSORFLOWONSPARK = "tensorflowonspark==2.2.5";

const programs = path.join(packageRoot(), "bench", "tasks", "feeds");
const run = promisify(execFile);

/** Jobs on this machine whose tasks (bench/tasks/feeds) print their own measurements. */
export const feeds: Measurement = {
  name: "feeds",
  what: "feeds, read by Python in a job on this machine, beside TensorFlowOnSpark's DataFeed and manager without Spark; no cluster takes part",
  warmUps: 0,
  figures: [
    { name: rows, unit: "rows/s", budget: atLeast(1_000_000) },
    { name: views, unit: "rows/s", budget: atLeast(1_000_000) },
    { name: bytes, unit: "MiB/s", budget: atLeast(400) },
    { name: viewed, unit: "MiB/s", budget: atLeast(400) },
    { name: queue, unit: "rows/s" },
    { name: times, unit: "×", budget: atLeast(20) },
    { name: first, unit: "ms", budget: atMost(300) },
    { name: even, unit: "%", budget: atMost(1) },
    { name: waits, unit: "calls" },
    { name: small, unit: "ms" },
    { name: elsewhere, unit: "ms", budget: atMost(1_000) },
    { name: memory, unit: "MiB", budget: atMost(32) },
    { name: memoryOfFiles, unit: "MiB", budget: atMost(32) },
  ],
  async run() {
    const folder = mkdtempSync(path.join(tmpdir(), "tony-bench-"));
    try {
      const input = path.join(folder, "rows");
      writeRows(input, 2_000_000);
      const blocks = ["format=fixed", "record-size=1000000"];
      const blocksOf = (feed: string) => blocks.map((setting) => `tony.feed.${feed}.${setting}`);
      const rowsOf = ["format=fixed", "record-size=100"].map((setting) => `tony.feed.row-views.${setting}`);
      const inputs = { rows: input, blocks: input, "row-views": input, "block-views": input };
      const read = await job("read.py", inputs, [...blocksOf("blocks"), ...blocksOf("block-views"), ...rowsOf]);
      const { rowsPerSecond } = await queued(folder);
      const two = ["tony.worker.instances=2", "tony.feed.even.uneven=drop"];
      const splits = ["plain", "even"].map((feed) => `tony.feed.${feed}.split-size=1m`);
      const some = path.join(folder, "some-rows");
      writeRows(some, 256_000);
      const steps = await job("even.py", { plain: some, even: some }, [...two, ...splits]);
      const killing = ["tony.worker.instances=2", "tony.worker.restart-policy=task", "tony.worker.retry-count=1"];
      const whole = ["tony.feed.rows.format=file", "tony.feed.rows.window=1", ...killing];
      const { tookOverMs } = await job("killed.py", { rows: filesIn(folder, 2) }, whole);
      const { splitMs } = await job("small.py", { rows: filesIn(folder, SMALL) }, ["tony.feed.rows.window=32"]);
      const few = await job("splits.py", { rows: filesIn(folder, FEW) }, []);
      const parts = await job("splits.py", { rows: sparse(folder) }, ["tony.feed.rows.split-size=1m"]);
      const files = await job("splits.py", { rows: filesIn(folder, MANY) }, []);
      return {
        [rows]: read.rowsPerSecond,
        [views]: read.viewsPerSecond,
        [bytes]: read.mibPerSecond,
        [viewed]: read.viewedMibPerSecond,
        [queue]: rowsPerSecond,
        [times]: read.rowsPerSecond / rowsPerSecond,
        [first]: read.firstRowMs,
        [even]: steps.addedPercent,
        [waits]: steps.waitsPerThousand,
        [small]: splitMs,
        [elsewhere]: tookOverMs,
        [memory]: parts.masterMiB - few.masterMiB,
        [memoryOfFiles]: files.masterMiB - few.masterMiB,
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** What the programs print. */
interface Said {
  readonly rowsPerSecond: number;
  readonly viewsPerSecond: number;
  readonly mibPerSecond: number;
  readonly viewedMibPerSecond: number;
  readonly firstRowMs: number;
  readonly addedPercent: number;
  readonly waitsPerThousand: number;
  readonly splitMs: number;
  readonly tookOverMs: number;
  readonly masterMiB: number;
}

async function job(
  program: string,
  inputs: Readonly<Record<string, string>>,
  settings: readonly string[],
): Promise<Said> {
  const feedsOf = Object.entries(inputs).map(([feed, input]) => `tony.feed.${feed}.input=${input}`);
  const all = ["tony.application.framework=generic", "tony.worker.instances=1", ...feedsOf, ...settings];
  const words = [
    ...["submit", "--scheduler", "local", "--src_dir", programs, "--executes", `python3 ${program}`, "--logs", "all"],
    ...["--shell_env", `PYTHONPATH=${path.join(packageRoot(), "python", "src")}`],
    ...all.flatMap((setting) => ["--conf", setting]),
  ];
  const { stdout } = await run(process.execPath, [
    path.join(packageRoot(), "dist", "programs", "tony-ts.cjs"),
    ...words,
  ]);
  return saidIn(stdout);
}

/** Runs TensorFlowOnSpark's own code, from the published package. */
async function queued(folder: string): Promise<Said> {
  const packages = path.join(folder, "packages");
  const pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", packages, TENSORFLOWONSPARK];
  await run("python3", pip);
  const env = { ...process.env, PYTHONPATH: packages };
  const { stdout } = await run("python3", [path.join(programs, "tensorflowonspark_queue.py")], { env });
  return saidIn(stdout);
}

function saidIn(stdout: string): Said {
  const said = /\{".*\}/.exec(stdout)?.[0];
  if (said === undefined) throw new Error(`nothing was measured:\n${stdout}`);
  return JSON.parse(said);
}

function writeRows(file: string, count: number): void {
  const some = Buffer.from(ROW.repeat(count / 100));
  const opened = openSync(file, "w");
  for (let written = 0; written < 100; written += 1) writeSync(opened, some);
  closeSync(opened);
}

/** A sparse file of as many splits of 1 MiB, which takes no space on the disk. */
function sparse(folder: string): string {
  const file = path.join(folder, "sparse");
  closeSync(openSync(file, "w"));
  truncateSync(file, MANY * 2 ** 20);
  return file;
}

/** A folder of `count` small files. */
function filesIn(folder: string, count: number): string {
  const input = path.join(folder, `files-${count}`);
  mkdirSync(input);
  for (let number = 0; number < count; number += 1) writeFileSync(path.join(input, `part-${number}`), "x\n");
  return input;
}
