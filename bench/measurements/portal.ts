import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import type { JobsAnswer } from "../../src/page/portal-answers.ts";
import type { PortalSettings } from "../../src/portal-settings.ts";
import { programPath } from "../../src/programs.ts";
import { HistoryFolder } from "../../test/portal/history-folder.ts";
import { eventually } from "../../test/support/eventually.ts";
import { atMost } from "../figures.ts";
import type { Measurement } from "../measurement.ts";

const cold = "portal: 100,000 jobs read";
const warm = "portal: first page after a warm start";
const whole = "portal: all looked through after a warm start";
const filtered = "portal: the slowest of five lists and filters";
const processor = "portal: processor time of reading them";
const warmProcessor = "portal: processor time of a warm start";
const use = "portal: what all of them held";
const memory = "portal: peak memory";

const jobs = 100_000;
const dayMs = 24 * 3_600_000;
const endMs = Date.UTC(2026, 10, 26);
const queries = ["", "user=user7&state=failed", "cause=memory", "name=train-4&queue=queue3", "since=1780000000000"];

export const portal: Measurement = {
  name: "portal",
  what: "a history of 100,000 jobs on a local disk, read and asked",
  warmUps: 0,
  mostRuns: 1,
  figures: [
    { name: cold, unit: "ms", budget: atMost(60_000) },
    { name: processor, unit: "ms" },
    { name: warmProcessor, unit: "ms" },
    { name: warm, unit: "ms", budget: atMost(1_000) },
    { name: whole, unit: "ms" },
    { name: filtered, unit: "ms", budget: atMost(100) },
    { name: use, unit: "ms" },
    { name: memory, unit: "MiB", budget: atMost(300) },
  ],
  async run() {
    const history = new HistoryFolder();
    const state = mkdtempSync(path.join(tmpdir(), "tony-bench-"));
    try {
      writeFileSync(path.join(state, "core-site.xml"), "<configuration/>");
      fill(history);
      const first = await started(history.root, state);
      await first.end();
      const second = await started(history.root, state);
      const slowest = Math.max(...(await second.times("jobs", queries)));
      const [ofUse = 0] = await second.times("use", [""]);
      await second.end();
      return {
        [cold]: first.completeMs,
        [processor]: first.processorMs,
        [warmProcessor]: second.processorMs,
        [warm]: second.pageMs,
        [whole]: second.completeMs,
        [filtered]: slowest,
        [use]: ofUse,
        [memory]: Math.max(first.peakMiB(), second.peakMiB()),
      };
    } finally {
      history.remove();
      rmSync(state, { recursive: true });
    }
  },
};

/** Writes the jobs of fifty users in twelve queues over 300 days; every fifth has failed. */
function fill(history: HistoryFolder): void {
  for (let number = 1; number <= jobs; number += 1) {
    const endedAtMs = endMs - (number % 300) * dayMs - (number % 86_000) * 1_000;
    history.write({
      number,
      user: `user${number % 50}`,
      queue: `queue${number % 12}`,
      name: `train-${number % 977}`,
      startedAtMs: endedAtMs - 3_600_000,
      endedAtMs,
      result: number % 5 === 0 ? "failed" : "succeeded",
    });
  }
}

async function started(location: string, stateFolder: string) {
  const beganMs = performance.now();
  const msSince = () => performance.now() - beganMs;
  const program = spawn(process.execPath, [programPath("portal")], { stdio: ["pipe", "pipe", "inherit"] });
  const settings: PortalSettings = {
    port: 0,
    configurationFolder: stateFolder,
    hadoop: { "fs.defaultFS": "file:///", "yarn.resourcemanager.hostname": "127.0.0.1" },
    history: { location: `file://${location}`, timeZone: "UTC" },
    prices: {},
    stateFolder,
  };
  program.stdin.write(`${JSON.stringify(settings)}\n`);
  const [line] = await once(createInterface({ input: program.stdout }), "line");
  const [address = ""] = /http:\S+/.exec(String(line)) ?? [];
  await answer(`${address}api/v1/jobs`);
  const pageMs = msSince();
  const complete = async () => (await answer(`${address}api/v1/jobs?count=1`)).scan.isComplete;
  // A viewer's page asks less often than this.
  await eventually("the whole list", complete, 600_000, 500);
  let peak = 0;
  return {
    pageMs,
    completeMs: msSince(),
    processorMs: processorMsOf(program),
    /** How many milliseconds each request took: the slowest of five. */
    async times(what: "jobs" | "use", asked: readonly string[]): Promise<number[]> {
      const found: number[] = [];
      for (const query of asked) {
        let slowest = 0;
        for (let round = 0; round < 5; round += 1) {
          const fromMs = performance.now();
          await answer(`${address}api/v1/${what}?${query}`);
          slowest = Math.max(slowest, performance.now() - fromMs);
        }
        found.push(slowest);
      }
      return found;
    },
    peakMiB: () => peak,
    async end(): Promise<void> {
      peak = peakMiBOf(program);
      const ended = once(program, "exit");
      program.stdin.end();
      await ended;
    },
  };
}

async function answer(url: string): Promise<JobsAnswer> {
  const sent = request(url, { agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  return (await json(response)) as JobsAnswer;
}

/** Processor time of the process; the kernel counts it in hundredths of a second. */
function processorMsOf({ pid }: ChildProcess): number {
  const [, ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user = "0", system = "0"] = fields.join(" ").split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

function peakMiBOf({ pid }: ChildProcess): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) / 1024;
}
