/** What a person's signals do while a job is followed. */
export interface SignalActions {
  /** The first SIGINT or SIGTERM. */
  readonly stop: (signal: string) => void;
  /** A further one: leave at once. */
  readonly leave: () => void;
  /** SIGHUP: the terminal is gone, the job continues. */
  readonly detach: () => void;
}

/** timeout(1), npm and shells send one signal both to the process and to its group: a repetition this soon is not a second signal. */
export const SAME_SIGNAL_MS = 500;

/** Installs the handlers; returns the function that removes them. */
export function watchSignals(actions: SignalActions, source: NodeJS.EventEmitter = process): () => void {
  let stoppedAtMs: number | undefined;
  const interrupted = (signal: string) => {
    const nowMs = performance.now();
    if (stoppedAtMs !== undefined) return nowMs - stoppedAtMs < SAME_SIGNAL_MS ? undefined : actions.leave();
    stoppedAtMs = nowMs;
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
