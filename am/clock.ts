/** Time as the ApplicationMaster knows it; tests give their own. */
export interface Clock {
  /** Milliseconds since the epoch, whole, and never less than before: a stepped system clock ends no wait early. */
  nowMs(): number;
  /** Makes the call once, after the delay. @returns cancels the call */
  after(delayMs: number, call: () => void): () => void;
}

/** The longest delay that `setTimeout` takes; beyond it, it fires at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => Math.floor(performance.timeOrigin + performance.now()),
  after(delayMs, call) {
    let timer: NodeJS.Timeout;
    const wait = (remainingMs: number): void => {
      const nextMs = Math.min(remainingMs, longestTimerMs);
      timer = setTimeout(() => (remainingMs > nextMs ? wait(remainingMs - nextMs) : call()), nextMs);
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
};
