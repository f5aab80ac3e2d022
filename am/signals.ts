/** Handlers of the signals that end a container's process, and of unexpected errors. */
export interface SignalHandlers {
  /** TERM from a NodeManager leaves 250 ms; with the local scheduler it asks for the job's end. */
  readonly terminate: (signal: "SIGTERM" | "SIGINT") => void;
  /** An error that nothing caught. */
  readonly defect: (error: unknown) => void;
}

export function handleSignals({ terminate, defect }: SignalHandlers): void {
  process.on("SIGTERM", () => terminate("SIGTERM"));
  process.on("SIGINT", () => terminate("SIGINT"));
  // The client's terminal may close: the job runs on.
  process.on("SIGHUP", () => {});
  process.on("uncaughtException", defect);
  process.on("unhandledRejection", defect);
}
