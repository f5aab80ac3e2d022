import type { Cause } from "../../../src/job/status.ts";
import type { Ending } from "../state/state.ts";
import { Strength } from "./strength.ts";

/** Consequences that are named; a gang of thousands fails together. */
const MOST_CONSEQUENCES = 20;

/** The root of a failure as people are told of it; the other endings that it was found among follow in words. */
export function causeOf(root: Ending, endings: Readonly<Record<string, Ending>> = {}): Cause {
  const others = Object.values(endings).filter((ending) => ending.task !== root.task);
  return {
    class: root.class,
    generation: root.generation,
    summary: root.summary,
    task: root.task,
    host: root.host,
    containerId: root.containerId,
    exit: root.exit,
    atMs: root.atMs,
    lines: root.lines.slice(-20),
    ...(root.remedy === "" ? {} : { remedy: root.remedy }),
    consequences: others.slice(0, MOST_CONSEQUENCES).map((ending) => otherWords(ending, root)),
  };
}

/** YARN's word on the root often comes after what followed from it. */
function otherWords(ending: Ending, root: Ending): string {
  const laterMs = ending.seenAtMs - root.seenAtMs;
  const when = `${(Math.abs(laterMs) / 1000).toFixed(1)} s ${laterMs < 0 ? "earlier" : "later"}`;
  return `${ending.summary}, ${when} (${relationOf(ending)})`;
}

/** One cause may make several tasks fail, each by itself; only what followed from another's end, or from our order, is a consequence. */
function relationOf({ strength }: Ending): string {
  if (strength <= Strength.peerLost) {
    return "a consequence, not counted";
  }
  return strength === Strength.earlyExit ? "not counted" : "also failed";
}
