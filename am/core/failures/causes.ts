import { type Consequence, consequenceWords, endingWords, type Relation } from "../../../src/job/reasons/endings.ts";
import { remedyWords } from "../../../src/job/reasons/remedies.ts";
import type { Cause } from "../../../src/job/status.ts";
import type { Ending } from "../state/failures.ts";
import { Strength } from "./strength.ts";

/** Consequences that are named; a gang of thousands fails together. */
const MOST_CONSEQUENCES = 20;
const MOST_LINES = 20;
const MOST_LINES_OF_LEAVER = 5;

/** The root of a failure as people are told of it; the other endings that it was found among follow. */
export function causeOf(root: Ending, endings: Readonly<Record<string, Ending>> = {}): Cause {
  const others = Object.values(endings).filter((ending) => ending.task !== root.task && !isSameHang(ending, root));
  const followed = others.slice(0, MOST_CONSEQUENCES).map((ending) => consequenceOf(ending, root));
  return {
    class: root.class,
    generation: root.generation,
    reason: root.reason,
    summary: endingWords(root.reason),
    ...(root.named ?? { task: root.task, host: root.host, containerId: root.containerId, exit: root.exit }),
    atMs: root.atMs,
    lines: linesOf(root, others),
    ...(root.remedy === undefined ? {} : { remedy: remedyWords(root.remedy), fix: root.remedy }),
    consequences: followed.map(consequenceWords),
    followed,
  };
}

/**
 * What the root's program said last. One that ended with 0 says little of a failure: the words of the first that failed after it follow,
 * which may name another cause.
 */
function linesOf(root: Ending, others: readonly Ending[]): readonly string[] {
  const failed = root.strength === Strength.earlyExit ? others.find(({ lines }) => lines.length > 0) : undefined;
  if (failed === undefined) return root.lines.slice(-MOST_LINES);
  const own = root.lines.slice(-MOST_LINES_OF_LEAVER);
  return [...own, `${failed.task} then said:`, ...failed.lines.slice(own.length + 1 - MOST_LINES)];
}

/** Tasks whose time is up together hang of one cause: it is told once. */
function isSameHang(ending: Ending, root: Ending): boolean {
  return root.named !== undefined && (ending.named !== undefined || ending.task === root.named.task);
}

/** YARN's completion status of the root often comes after what followed from it. */
function consequenceOf(ending: Ending, root: Ending): Consequence {
  const laterMs = ending.seenAtMs - root.seenAtMs;
  return { reason: ending.reason, relation: relationOf(ending, root, laterMs), laterMs };
}

/**
 * One cause may make several tasks fail, each by itself; only what followed from another's end, or from our order, is a consequence. A
 * lost connection does not say whose: where nobody failed it may be that of a task which ended well, or of something outside the job, and
 * who ended before the root's program may have lost another.
 */
function relationOf({ strength }: Ending, root: Ending, laterMs: number): Relation {
  if (strength === Strength.peerLost) {
    const isSure = root.strength !== Strength.earlyExit && (laterMs >= 0 || root.source !== "child");
    return isSure ? "consequence" : "possible-consequence";
  }
  if (strength < Strength.peerLost) {
    return "consequence";
  }
  return strength < Strength.exit ? "not-counted" : "also-failed";
}
