import { readdirSync, readFileSync } from "node:fs";
import { executorVariable } from "../src/job/launch/launch-command.ts";

/** Sizes of one process in MiB, as Linux counts them (proc(5)). */
export interface ProcessMemory {
  readonly residentMiB: number;
  readonly peakResidentMiB: number;
}

/** Undefined when the process no longer exists. */
export function processMemory(pid: number): ProcessMemory | undefined {
  const status = read(`/proc/${pid}/status`);
  const residentMiB = field(status, "VmRSS");
  const peakResidentMiB = field(status, "VmHWM");
  return residentMiB === undefined || peakResidentMiB === undefined ? undefined : { residentMiB, peakResidentMiB };
}

/** The proportional set size: a page shared by n processes counts 1/n in each. */
export function proportionalMiB(pid: number): number | undefined {
  return field(read(`/proc/${pid}/smaps_rollup`), "Pss");
}

/** What the process shares with no other: the memory that is free again when it ends. */
export function privateMiB(pid: number): number | undefined {
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  const dirty = field(rollup, "Private_Dirty");
  return dirty === undefined ? undefined : dirty + (field(rollup, "Private_Clean") ?? 0);
}

/** Processor time used so far by the process itself, without its children. Linux counts in hundredths of a second. */
export function cpuSeconds(pid: number): number | undefined {
  const [, rest] = read(`/proc/${pid}/stat`).split(") ");
  const fields = rest?.split(" ");
  if (fields === undefined) return undefined;
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * The processes in the application's containers in which Node runs that bundle; only those of one task, where it is
 * named.
 */
export function bundleProcesses(bundle: string, applicationId: string, task?: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [program = "", ...words] = read(`/proc/${pid}/cmdline`).split("\0");
      if (!program.endsWith("node") || words.find((word) => !word.startsWith("-"))?.endsWith(bundle) !== true)
        return false;
      const environment = read(`/proc/${pid}/environ`);
      if (task !== undefined && !environment.split("\0").includes(`${executorVariable.task}=${task}`)) return false;
      return environment.includes(applicationId.replace("application_", ""));
    });
}

/** Watches a process's peak memory while it lives, because Linux forgets it at the end. */
export class PeakWatch {
  readonly #timer: NodeJS.Timeout;
  #peakMiB = 0;

  constructor(pid: number, intervalMs = 10) {
    this.#timer = setInterval(() => {
      this.#peakMiB = Math.max(this.#peakMiB, processMemory(pid)?.peakResidentMiB ?? 0);
    }, intervalMs);
  }

  stop(): number {
    clearInterval(this.#timer);
    return this.#peakMiB;
  }
}

function field(text: string, name: string): number | undefined {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
