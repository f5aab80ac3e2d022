import { waitsOf } from "../../am/core/status/waits.ts";
import type { Wait } from "../../src/job/status.ts";
import type { Master } from "./master.ts";

/** What an event takes to be read, and a task's end to be told, once a wait's time is up. */
const SLACK_MS = 3_000;
/** After it stood still an ApplicationMaster reads first what it missed; what is waited for has that time too. */
const AWAKE_MS = 20_000;
const EVERY_STEPS = 8;

/** Every wait that people are told of ends when they are told that it does. */
export class WaitWatch {
  #steps = 0;

  check(master: Master, nowMs: number): string[] {
    const { core } = master;
    this.#steps++;
    if (this.#steps % EVERY_STEPS !== 0 || nowMs < master.wokeAtMs + AWAKE_MS) {
      return [];
    }
    return waitsOf(core, nowMs)
      .filter(({ endsAtMs }) => endsAtMs !== undefined && nowMs > endsAtMs + SLACK_MS)
      .map((wait) => overdue(wait, nowMs));
  }
}

function overdue({ what, endsAtMs = 0 }: Wait, nowMs: number): string {
  return `the wait for ${what} was to end ${nowMs - endsAtMs} ms ago`;
}
