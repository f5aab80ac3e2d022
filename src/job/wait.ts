import { type Remedy, remedyWords } from "./reasons/remedies.ts";
import { type DelayReason, delayWords, type WaitReason, waitReasons } from "./reasons/waits.ts";
import { settingWords } from "./reasons/words.ts";
import type { Wait } from "./status.ts";

/** A wait without its words. */
export interface WaitFacts {
  readonly reason: WaitReason;
  readonly delays?: readonly DelayReason[];
  readonly fix?: Remedy;
  readonly sinceMs: number;
  readonly endsAtMs?: number | undefined;
}

/** The wait with its words. */
export function waitOf({ reason: awaited, delays = [], fix, sinceMs, endsAtMs }: WaitFacts): Wait {
  const atEnd = atEndWords(awaited);
  return {
    reason: awaited,
    cause: causeWords(awaited),
    what: waitReasons[awaited.code].words(awaited),
    sinceMs,
    delays,
    reasons: delays.map(delayWords),
    ...(fix === undefined ? {} : { fix, remedy: remedyWords(fix) }),
    ...(endsAtMs === undefined ? {} : { endsAtMs }),
    ...(atEnd === undefined ? {} : { atEnd }),
  };
}

/** The awaited thing and why it is missing, in one phrase: `1 container of worker: 4 GiB (no node has so much free)`. */
export function awaitedWords({ reason: awaited, delays = [] }: Pick<WaitFacts, "reason" | "delays">): string {
  const what = waitReasons[awaited.code].words(awaited);
  return delays.length === 0 ? what : `${what} (${delays.map(delayWords).join("; ")})`;
}

/** Words that stay the same while the wait lasts. */
function causeWords(awaited: WaitReason): string {
  switch (awaited.code) {
    case "containers":
    case "executors":
      return `${awaited.code} of ${awaited.role}`;
    case "joiners":
      return `further containers of ${awaited.role}`;
    case "programs":
      return `programs of ${awaited.role} to stop`;
    case "others":
      return "tasks that run on after the main ones";
    case "proposal":
      return "what Optuna proposes";
    case "trial":
      return "the next trial";
    default:
      return waitReasons[awaited.code].words(awaited);
  }
}

/** What happens when its time is up, if it is not just the end of the job or of the wait. */
function atEndWords(awaited: WaitReason): string | undefined {
  if (awaited.code === "gang") {
    const so = "its containers are returned and requested again, so that another job can go on";
    return `${so} (${settingWords(awaited.setting)})`;
  }
  if (awaited.code === "rest") {
    return `the gang starts without them, and they join it later (${settingWords(awaited.setting)})`;
  }
  if (awaited.code === "trial") {
    return `what no trial has taken is returned (${settingWords(awaited.setting)})`;
  }
  if (awaited.code === "others") {
    return `they are stopped (${settingWords(awaited.setting)})`;
  }
  if (awaited.code === "departure") {
    return "they are stopped and start again on other nodes";
  }
  if (awaited.code !== "role") {
    return undefined;
  }
  return awaited.failsJob ? "the job fails" : `the job does not wait for ${awaited.role} any more`;
}
