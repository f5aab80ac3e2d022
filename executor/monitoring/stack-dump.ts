import { errorCode } from "../../src/hadoop/errors.ts";
import type { ProcessStat, ProcFs } from "../processes/proc-fs.ts";

/**
 * Signals at which Python's faulthandler writes the stacks of all threads to the process's errors (docs.python.org, module faulthandler).
 * The first one ends the process, too, and is enabled by PYTHONFAULTHANDLER=1, which programs are given whose progress is watched; the
 * second is what programs register by custom.
 */
const askingSignals = ["SIGABRT", "SIGUSR1"] as const;

/**
 * Sends such a signal to every Python process that has a handler for it. One that has none would die of it without a stack, so it is left.
 * @returns whether there was one
 */
export function requestStacks(
  members: readonly ProcessStat[],
  procFs: Pick<ProcFs, "catches" | "executable">,
  kill: (pid: number, signal: NodeJS.Signals) => void,
): boolean {
  let asked = false;
  for (const { pid } of members) {
    if (!procFs.executable(pid).startsWith("python")) continue;
    const signal = askingSignals.find((one) => procFs.catches(pid, one));
    if (signal === undefined) continue;
    try {
      kill(pid, signal);
      asked = true;
    } catch (error) {
      if (errorCode(error) !== "ESRCH") throw error;
    }
  }
  return asked;
}
