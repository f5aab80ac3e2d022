/** The longest delay that `setTimeout` takes, 24.8 days; beyond it, it fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Makes the call once, after the delay, however long that is. @returns cancels the call */
export function callAfter(delayMs: number, call: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (remainingMs: number): void => {
    const nextMs = Math.min(remainingMs, longestTimerMs);
    timer = setTimeout(() => (remainingMs > nextMs ? wait(remainingMs - nextMs) : call()), nextMs);
  };
  wait(delayMs);
  return () => clearTimeout(timer);
}
