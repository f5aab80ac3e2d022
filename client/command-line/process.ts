import type { EventEmitter } from "node:events";
import type { Writable } from "node:stream";

/**
 * Reports an uncaught error, once, and also that nothing is left to do although the command has not ended. Otherwise Node would end the
 * process with 1, which means that the job failed, or with 0 and without a word.
 */
export function watchForDefects(told: (error: unknown) => void, source: EventEmitter = process): void {
  source.once("uncaughtException", told);
  source.once("beforeExit", () => told(new Error("The command waits for something that can no longer come")));
}

/**
 * Exits quietly when nobody reads any more (`tony-ts list | head`, a terminal that was closed), instead of failing with EPIPE or
 * EIO. A command that handles SIGHUP gets that signal, and may end in order. `process.exitCode` stays as it is by then.
 */
export function leaveWithReader(stream: EventEmitter): void {
  stream.once("error", () => {
    ignoreErrors(stream);
    if (!process.emit("SIGHUP")) process.exit();
  });
}

/** Resolves when the reader has got all that was written, or is gone. */
export function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

/** Output that nobody can read is lost, which is no reason to stop. */
export function ignoreErrors(stream: EventEmitter): void {
  stream.on("error", () => undefined);
}
