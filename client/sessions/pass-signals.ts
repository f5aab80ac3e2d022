import type { CallingSession } from "../../src/api/session-stream.ts";

const passed = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/**
 * Passes signals on to a session's command. A second SIGINT or SIGTERM ends the session, and with it the command, as SIGHUP does at once.
 * @returns stops it
 */
export function passSignals(session: CallingSession, source: NodeJS.EventEmitter = process): () => void {
  let isEnding = false;
  const pass = (signal: string) => {
    const ends = signal === "SIGINT" || signal === "SIGTERM";
    if (ends && isEnding) session.cancel();
    else void session.send({ type: "signal", signal });
    isEnding ||= ends;
  };
  const leave = () => session.cancel();
  for (const signal of passed) source.on(signal, pass);
  source.on("SIGHUP", leave);
  return () => {
    for (const signal of passed) source.off(signal, pass);
    source.off("SIGHUP", leave);
  };
}
