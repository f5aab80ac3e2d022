import { readFileSync } from "node:fs";

/** A sample above this part of the limit is as good as over it: samples are seconds apart. */
const FULL = 0.95;

export interface MemoryEvidence {
  /** How often the kernel has killed for memory in our cgroup, before and after the program ran; undefined where it cannot be told. */
  readonly killsBefore: number | undefined;
  readonly killsAfter: number | undefined;
  /** Of the whole container, executor included, when it was last looked at. */
  readonly lastSampleBytes: number;
  /** Undefined where nothing ends a container that outgrows its memory. */
  readonly limitBytes: number | undefined;
}

/**
 * Whether a program that ended badly, by itself, ran out of memory: only with evidence. Whoever enforces a limit kills; a program that
 * exits has an error of its own, however full its memory was.
 */
export function ranOutOfMemory(killed: boolean, evidence: MemoryEvidence): boolean {
  const { killsBefore, killsAfter, lastSampleBytes, limitBytes } = evidence;
  const kernelKilled = killsBefore !== undefined && killsAfter !== undefined && killsAfter > killsBefore;
  const wasFull = limitBytes !== undefined && lastSampleBytes >= FULL * limitBytes;
  return killed && (kernelKilled || wasFull);
}

/** The kernel's count of kills for memory in the cgroup of this process; undefined where it keeps none. */
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
