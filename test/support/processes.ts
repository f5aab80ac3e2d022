import { readdirSync, readFileSync } from "node:fs";

/** The processes whose environment has exactly this variable. */
export function processesWith(name: string, value: string): number[] {
  return processesWhere((variable) => variable === `${name}=${value}`);
}

/** The processes that have a variable, given as `NAME=value`, in their environment for which `holds` is true. */
export function processesWhere(holds: (variable: string) => boolean): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => readIfThere(`/proc/${pid}/environ`).split("\0").some(holds) && !isZombie(pid));
}

/** Sends SIGKILL to all of these until none is left; others may start and end meanwhile. */
export function killAll(find: () => readonly number[]): void {
  for (let pids = find(); pids.length > 0; pids = find()) {
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself: the next look shows whether any are left.
      }
    }
  }
}

/** Whether a process runs; one that has ended and only waits to be reaped does not. */
export function isRunning(pid: number): boolean {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat !== "" && !isZombie(pid);
}

/** Whether it was stopped by a signal. */
export function isStopped(pid: number): boolean {
  return / T /.test(readIfThere(`/proc/${pid}/stat`).replace(/^.*\)/, ""));
}

function isZombie(pid: number): boolean {
  return / [ZX] /.test(readIfThere(`/proc/${pid}/stat`).replace(/^.*\)/, ""));
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
