import { readFileSync } from "node:fs";

/** A sample above this share of the limit counts as over it, because samples are seconds apart. */
const FULL = 0.95;

export interface MemoryEvidence {
  /** The kernel's count of kills for memory in this cgroup, before and after the program ran; undefined where it is not known. */
  readonly killsBefore: number | undefined;
  readonly killsAfter: number | undefined;
  /** The last sample of the whole container, executor included. */
  readonly lastSampleBytes: number;
  /** Undefined where no limit is enforced. */
  readonly limitBytes: number | undefined;
}

/**
 * Whether a program that failed, and was not stopped, ran out of memory. Only evidence counts: limits are enforced by SIGKILL, so a program
 * that exits by itself has an error of its own, however much memory it used.
 */
export function ranOutOfMemory(killed: boolean, evidence: MemoryEvidence): boolean {
  const { killsBefore, killsAfter, lastSampleBytes, limitBytes } = evidence;
  const kernelKilled = killsBefore !== undefined && killsAfter !== undefined && killsAfter > killsBefore;
  const wasFull = limitBytes !== undefined && lastSampleBytes >= FULL * limitBytes;
  return killed && (kernelKilled || wasFull);
}

/** The kernel's count of kills for memory in the cgroup of this process; undefined where there is none. */
export function kernelMemoryKills(
  read: (file: string) => string = (file) => readFileSync(file, "utf8"),
): number | undefined {
  try {
    const file = memoryEventsFile(read("/proc/self/cgroup"));
    const [, count] = /^oom_kill (\d+)$/m.exec(file === undefined ? "" : read(file)) ?? [];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}

/**
 * The file that counts `oom_kill` for a process, from its /proc/<pid>/cgroup: memory.oom_control of a memory controller of version 1, else
 * memory.events of version 2 (Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst).
 */
export function memoryEventsFile(cgroups: string): string | undefined {
  const [, first] = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(cgroups) ?? [];
  if (first !== undefined) return `/sys/fs/cgroup/memory${withSlash(first)}memory.oom_control`;
  const [, second] = /^0::(.*)$/m.exec(cgroups) ?? [];
  return second === undefined ? undefined : `/sys/fs/cgroup${withSlash(second)}memory.events`;
}

function withSlash(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}
