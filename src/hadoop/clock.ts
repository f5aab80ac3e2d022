/** Time and chance, passed in so that tests decide both. */
export interface Clock {
  /** Milliseconds that never run backwards; only differences mean something. */
  nowMs(): number;
  /** Resolves after the delay, or at once when the signal is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** The machine's own. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  random: () => Math.random(),
  sleep,
};

/** Resolves after the delay, or at once when the signal is aborted. */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal?.addEventListener("abort", done, { once: true });
  });
}
