import type { ChildExit } from "../../src/job/execution.ts";

/** How a program ended: well, at that time; `change` is what the test is about. */
export function childExit(atMs: number, change: Partial<ChildExit>): ChildExit {
  return {
    exitCode: 0,
    signal: "",
    atMs,
    failedToStart: false,
    refusedBySystem: false,
    signalOfChild: false,
    lastLines: [],
    traceback: "",
    errorSummary: "",
    peerConnectionLost: false,
    portTaken: false,
    outOfMemory: false,
    peakMemoryBytes: 0,
    ...change,
  };
}
