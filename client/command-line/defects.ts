import type { EventEmitter } from "node:events";

/**
 * Hands on what nothing has caught, once, and that nothing is left to do although the command has not ended. Left to itself Node would end
 * the process with 1, which says that the job failed, or with 0 and without a word.
 */
export function watchForDefects(told: (error: unknown) => void, source: EventEmitter = process): void {
  source.once("uncaughtException", told);
  source.once("beforeExit", () => told(new Error("The command waits for something that can no longer come")));
}
