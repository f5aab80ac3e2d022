import { errorCode } from "../../src/hadoop/errors.ts";
import type { ProcessStat, ProcFs } from "../processes/proc-fs.ts";

/**
 * Signals at which Python's faulthandler writes the stacks of all threads to the process's stderr (docs.python.org, module faulthandler).
 * The first one also ends the process, and is enabled by PYTHONFAULTHANDLER=1, which is set for programs whose progress is watched; the
 * second is the one that programs customarily register.
 */
const askingSignals = ["SIGABRT", "SIGUSR1"] as const;

/**
 * Sends such a signal to every Python process that has a handler for it. A process without one would be killed without a stack, so it is
 * skipped.
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
