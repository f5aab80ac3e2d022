import type { Cause } from "../../src/job/status.ts";
import type { Ending } from "./state.ts";

/** Consequences that are named; a gang of thousands fails together. */
const MOST_CONSEQUENCES = 20;

/** The root of a failure as people are told of it; of the endings that it was found among the others are its consequences. */
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
    consequences: others.slice(0, MOST_CONSEQUENCES).map((ending) => consequenceWords(ending, root)),
  };
}

/** YARN's word on the root often comes after what followed from it. */
function consequenceWords(ending: Ending, root: Ending): string {
  const laterMs = ending.seenAtMs - root.seenAtMs;
  const when = `${(Math.abs(laterMs) / 1000).toFixed(1)} s ${laterMs < 0 ? "earlier" : "later"}`;
  return `${ending.summary}, ${when} (a consequence, not counted)`;
}
