import { waitsOf } from "../../am/core/status/waits.ts";
import type { Wait } from "../../src/job/status.ts";
import type { Master } from "./master.ts";

/** How long it may take, once a wait's time is up, until an event is read and a task's end is reported. */
const SLACK_MS = 3_000;
/**
 * After an ApplicationMaster stood still, it first reads what it missed; whatever is waited for gets this much more
 * time.
 */
const AWAKE_MS = 20_000;
const EVERY_STEPS = 8;

/** Every wait that people are shown ends at the time that they are shown. */
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
