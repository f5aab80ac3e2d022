import { callAfter } from "../src/timer.ts";

/** Time as the ApplicationMaster knows it; tests give their own. */
export interface Clock {
  /** Milliseconds since the epoch, whole, and never less than before: a stepped system clock ends no wait early. */
  nowMs(): number;
  /** Makes the call once, after the delay. @returns cancels the call */
  after(delayMs: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Math.floor(performance.timeOrigin + performance.now()),
  after: callAfter,
};
