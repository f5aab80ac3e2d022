import { constants } from "node:os";
import type { CallingSession } from "../../src/api/session-stream.ts";

const passed = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** Shells add this to the number of the signal that ended a command. */
export const SIGNALLED = 128;

export interface PassedSignals {
  /** The exit code for a signal that has ended the session itself; undefined while none has. */
  readonly endedWith: () => number | undefined;
  readonly stop: () => void;
}

/** Passes signals to a session's command. A second SIGINT or SIGTERM ends the session, and with it the command; SIGHUP does so at once. */
export function passSignals(
  session: Pick<CallingSession, "send" | "cancel">,
  source: NodeJS.EventEmitter = process,
): PassedSignals {
  let isEnding = false;
  let endedWith: number | undefined;
  const end = (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => {
    endedWith = SIGNALLED + constants.signals[signal];
    session.cancel();
  };
  const pass = (signal: (typeof passed)[number]) => {
    const ends = signal === "SIGINT" || signal === "SIGTERM";
    if (ends && isEnding) end(signal);
    else void session.send({ type: "signal", signal });
    isEnding ||= ends;
  };
  const leave = () => end("SIGHUP");
  for (const signal of passed) source.on(signal, pass);
  source.on("SIGHUP", leave);
  return {
    endedWith: () => endedWith,
    stop: () => {
      for (const signal of passed) source.off(signal, pass);
      source.off("SIGHUP", leave);
    },
  };
}
