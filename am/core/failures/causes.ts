import { type Consequence, consequenceWords, endingWords, type Relation } from "../../../src/job/reasons/endings.ts";
import { remedyWords } from "../../../src/job/reasons/remedies.ts";
import type { Cause } from "../../../src/job/status.ts";
import type { Ending } from "../state/failures.ts";
import { Strength } from "./strength.ts";

/** Consequences that are named; a gang of thousands fails together. */
const MOST_CONSEQUENCES = 20;

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
    lines: root.lines.slice(-20),
    ...(root.remedy === undefined ? {} : { remedy: remedyWords(root.remedy), fix: root.remedy }),
    consequences: followed.map(consequenceWords),
    followed,
  };
}

/** Tasks whose time is up together hang of one cause: it is told once. */
function isSameHang(ending: Ending, root: Ending): boolean {
  return root.named !== undefined && (ending.named !== undefined || ending.task === root.named.task);
}

/** YARN's completion status of the root often comes after what followed from it. */
function consequenceOf(ending: Ending, root: Ending): Consequence {
  return { reason: ending.reason, relation: relationOf(ending), laterMs: ending.seenAtMs - root.seenAtMs };
}

/** One cause may make several tasks fail, each by itself; only what followed from another's end, or from our order, is a consequence. */
function relationOf({ strength }: Ending): Relation {
  if (strength <= Strength.peerLost) {
    return "consequence";
  }
  return strength < Strength.exit ? "not-counted" : "also-failed";
}
