import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { TrialsJson } from "../../client/printed-json.ts";
import { packageRoot } from "../../src/programs.ts";
import { atMost, medianOf } from "../figures.ts";
import type { Measurement } from "../measurement.ts";
import { cpuSeconds, processMemory } from "../process-memory.ts";
import { searchOfCore } from "../search-of-core.ts";

const handOver = "a trial's program ends → the next one's begins";
const idle = "containers idle, 16 trials of 2 s on 2 of them";
const processor = "AM: processor of a trial";
const resident = "AM: memory at the end";
const journal = "journal of 2,000 trials on 20 containers";
const journalOfGangs = "journal of 500 trials of two tasks, 20 at once";
const ofMany = "AM's core: processor of one of them";

const TRIALS = 16;
const MANY = 2_000;
const GANGS = 500;

/** A search in a job on this machine, and one that the core runs alone, in simulated time. */
export const search: Measurement = {
  name: "search",
  what: "a search of short trials in a job on this machine, and of 2,000 of half a minute, or 500 of two tasks each, that the AM's core has alone; no cluster takes part",
  warmUps: 0,
  figures: [
    { name: handOver, unit: "ms", budget: atMost(500) },
    { name: idle, unit: "%" },
    { name: processor, unit: "ms" },
    { name: resident, unit: "MiB", budget: atMost(150) },
    { name: journal, unit: "MiB/s", budget: atMost(1) },
    { name: ofMany, unit: "ms" },
    { name: journalOfGangs, unit: "MiB/s", budget: atMost(1) },
  ],
  async run() {
    const folder = mkdtempSync(path.join(tmpdir(), "tony-bench-"));
    try {
      const { containerTime = { heldMs: Number.NaN }, ...own } = await ranTrials(folder);
      const { heldMs, ...parts } = containerTime;
      const idleMs = Object.values(parts).reduce((sum, ms) => sum + ms, 0);
      const many = searchOfCore(MANY, 20);
      const gangs = searchOfCore(GANGS, 20, 2);
      return {
        [handOver]: medianOf(handOvers(readFileSync(path.join(folder, "times"), "utf8")).toSorted((a, b) => a - b)),
        [idle]: (100 * idleMs) / heldMs,
        [processor]: own.processorMs / TRIALS,
        [resident]: own.residentMiB,
        [journal]: many.journalMiB / many.seconds,
        [ofMany]: many.processorMs / MANY,
        [journalOfGangs]: gangs.journalMiB / gangs.seconds,
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

/** The trials write down when they begin and end, and in which container. */
async function ranTrials(folder: string) {
  const notes = (what: string) => `echo $(date +%s%3N) ${what} $PWD >> ${folder}/times`;
  const program = `${notes("begins")}; sleep 2; echo '{"step": 1, "metrics": {"loss": 0}}' >> $TONY_PROGRESS_FILE; ${notes("ends")}`;
  const settings = {
    "tony.worker.instances": "1",
    "tony.worker.memory": "256m",
    "tony.worker.command": program,
    "tony.search.param.x": "float 0 1",
    "tony.search.algorithm": "random",
    "tony.search.metric": "loss",
    "tony.search.direction": "minimize",
    "tony.search.max-trials": String(TRIALS),
    "tony.search.max-parallel": "2",
  };
  const file = path.join(folder, "job.xml");
  const escaped = (value: string) => value.replaceAll("&", "&amp;").replaceAll(">", "&gt;");
  const properties = Object.entries(settings).map(
    ([name, value]) => `<property><name>${name}</name><value>${escaped(value)}</value></property>`,
  );
  writeFileSync(file, `<configuration>${properties.join("")}</configuration>`);
  const client = tonyTs(folder, "search", file, "--scheduler", "local");
  const printed = client.stdout === null ? "" : text(client.stdout);
  const local = path.join(folder, "tony-ts", "local");
  let processorMs = Number.NaN;
  let residentMiB = Number.NaN;
  const look = setInterval(() => {
    const [id] = namesIn(local);
    const pid = id === undefined ? Number.NaN : Number.parseInt(contentOf(path.join(local, id, "am.pid")), 10);
    processorMs = 1_000 * (cpuSeconds(pid) ?? processorMs / 1_000);
    residentMiB = processMemory(pid)?.residentMiB ?? residentMiB;
  }, 100);
  await printed;
  clearInterval(look);
  const [id = ""] = namesIn(local);
  const shown = tonyTs(folder, "trials", id, "--json");
  const { search: found }: TrialsJson = JSON.parse(shown.stdout === null ? "" : await text(shown.stdout));
  return { processorMs, residentMiB, containerTime: found.containerTime };
}

/** The time in each container between the end of one program and the beginning of the next. */
function handOvers(times: string): number[] {
  const last = new Map<string, number>();
  return times.split("\n").flatMap((line) => {
    const [atMs = "", what, container = ""] = line.split(" ");
    const endedAtMs = last.get(container);
    if (what === "ends") last.set(container, Number(atMs));
    return what === "begins" && endedAtMs !== undefined ? [Number(atMs) - endedAtMs] : [];
  });
}

function tonyTs(folder: string, ...words: readonly string[]): ChildProcess {
  const program = path.join(packageRoot(), "dist", "programs", "tony-ts.cjs");
  const env = { ...process.env, XDG_STATE_HOME: folder };
  return spawn(process.execPath, [program, ...words], { env, stdio: ["ignore", "pipe", "ignore"] });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
