import { durationWords } from "../reasons/words.ts";

/** For how long a search held containers, all together, and in which parts of that no program of a trial ran in them. */
export interface ContainerTime {
  readonly heldMs: number;
  /** From their allocation to their first program. */
  readonly startMs: number;
  /** From the end of one trial to the program of the next. */
  readonly handOverMs: number;
  /** Kept, while trials wait for what others come to. */
  readonly barrierMs: number;
  /** After their last trial, until YARN has them back. */
  readonly afterLastMs: number;
}

/** The share of the time in which they did nothing, in percent: `1.1 %`. */
export function idleShare({ heldMs, startMs, handOverMs, barrierMs, afterLastMs }: ContainerTime): string {
  const idleMs = startMs + handOverMs + barrierMs + afterLastMs;
  return `${(heldMs === 0 ? 0 : (100 * idleMs) / heldMs).toFixed(1)} %`;
}

/** `containers were held for 2 min 5 s in all, 3.1 % of it idle: start 3 s, hand-over 0.8 s, waiting for results 0 s, after their last trial 0.1 s` */
export function containerTimeWords(time: ContainerTime): string {
  const parts = [
    `start ${durationWords(time.startMs)}`,
    `hand-over ${durationWords(time.handOverMs)}`,
    `waiting for results ${durationWords(time.barrierMs)}`,
    `after their last trial ${durationWords(time.afterLastMs)}`,
  ];
  return `containers were held for ${durationWords(time.heldMs)} in all, ${idleShare(time)} of it idle: ${parts.join(", ")}`;
}
