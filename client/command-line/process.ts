import type { EventEmitter } from "node:events";
import type { Writable } from "node:stream";

/**
 * Hands on what nothing has caught, once, and that nothing is left to do although the command has not ended. Left to itself Node would end
 * the process with 1, which says that the job failed, or with 0 and without a word.
 */
export function watchForDefects(told: (error: unknown) => void, source: EventEmitter = process): void {
  source.once("uncaughtException", told);
  source.once("beforeExit", () => told(new Error("The command waits for something that can no longer come")));
}

/**
 * Leaves quietly when nobody reads any more (`tony-ts list | head`, a terminal that was closed), instead of failing by EPIPE or EIO.
 * A command that watches for SIGHUP is told in that way, and may leave in order. What `process.exitCode` says by then stays so.
 */
export function leaveWithReader(stream: EventEmitter): void {
  stream.once("error", () => {
    ignoreErrors(stream);
    if (!process.emit("SIGHUP")) process.exit();
  });
}

/** Resolves when the reader has all that was written, or is gone. */
export function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

/** What can be written nowhere is lost, and no reason to stop. */
export function ignoreErrors(stream: EventEmitter): void {
  stream.on("error", () => undefined);
}
