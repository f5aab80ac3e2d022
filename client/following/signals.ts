/** What a person's signals lead to while a job is followed. */
export interface SignalActions {
  /** The first SIGINT or SIGTERM. */
  readonly stop: (signal: string) => void;
  /** The second: leave at once. */
  readonly leave: () => void;
  /** SIGHUP: the terminal is gone, the job runs on. */
  readonly detach: () => void;
}

/** Installs the handlers; the function that comes back removes them. */
export function watchSignals(actions: SignalActions, source: NodeJS.EventEmitter = process): () => void {
  let stopping = false;
  const interrupted = (signal: string) => {
    if (stopping) return actions.leave();
    stopping = true;
    actions.stop(signal === "SIGINT" ? "Ctrl-C" : signal);
  };
  const hungUp = () => actions.detach();
  source.on("SIGINT", interrupted);
  source.on("SIGTERM", interrupted);
  source.on("SIGHUP", hungUp);
  return () => {
    source.off("SIGINT", interrupted);
    source.off("SIGTERM", interrupted);
    source.off("SIGHUP", hungUp);
  };
}
