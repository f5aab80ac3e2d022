import { durationWords } from "../reasons/words.ts";

/** How long a search held containers, in total, and in which parts of that time no trial's program ran in them. */
export interface ContainerTime {
  readonly heldMs: number;
  /** From their allocation to the start of their first program. */
  readonly startMs: number;
  /** From the end of one trial to the start of the next one's program. */
  readonly handOverMs: number;
  /** Kept while trials wait for the results of others. */
  readonly barrierMs: number;
  /** After their last trial, until they are returned to YARN. */
  readonly afterLastMs: number;
}

/** The share of idle time, in percent: `1.1 %`. */
export function idleShare({ heldMs, startMs, handOverMs, barrierMs, afterLastMs }: ContainerTime): string {
  return shareWords(startMs + handOverMs + barrierMs + afterLastMs, heldMs);
}

function shareWords(ms: number, heldMs: number): string {
  return `${(heldMs === 0 ? 0 : (100 * ms) / heldMs).toFixed(1)} %`;
}

/** The same with its parts, in words that do not change every second: `1.6 % of its containers' time was idle: start 1.0 %, …` */
export function idleWords(time: ContainerTime): string {
  return `${idleShare(time)} of its containers' time was idle: ${partsWords(time, (ms) => shareWords(ms, time.heldMs))}`;
}

function partsWords({ startMs, handOverMs, barrierMs, afterLastMs }: ContainerTime, words: (ms: number) => string) {
  const parts = [
    `start ${words(startMs)}`,
    `hand-over ${words(handOverMs)}`,
    `waiting for results ${words(barrierMs)}`,
    `after their last trial ${words(afterLastMs)}`,
  ];
  return parts.join(", ");
}

/** `containers were held for 2 min 5 s in all, 3.1 % of it idle: start 3 s, hand-over 0.8 s, waiting for results 0 s, after their last trial 0.1 s` */
export function containerTimeWords(time: ContainerTime): string {
  const parts = partsWords(time, durationWords);
  return `containers were held for ${durationWords(time.heldMs)} in all, ${idleShare(time)} of it idle: ${parts}`;
}
