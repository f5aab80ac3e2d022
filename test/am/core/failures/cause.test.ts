import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { enter, rootOf } from "../../../../am/core/failures/cause.ts";
import { isCounted, Strength } from "../../../../am/core/failures/endings.ts";
import type { Ending, Verdict } from "../../../../am/core/state/failures.ts";

const strengths = Object.values(Strength);
/** What is heard of a gang's tasks, in that order; of some of them twice. */
const heard = fc.array(
  fc.record({ task: fc.integer({ min: 0, max: 4 }), strength: fc.constantFrom(...strengths), seenAtMs: fc.nat(3) }),
  { minLength: 1, maxLength: 8 },
);

function endingOf({ task, strength, seenAtMs }: { task: number; strength: number; seenAtMs: number }): Ending {
  return {
    task: `worker:${task}`,
    containerId: `c${task}`,
    host: "h",
    generation: 1,
    atMs: seenAtMs,
    seenAtMs,
    strength,
    class: "program",
    machine: false,
    source: "child",
    reason: { code: "left-node", task: `worker:${task}`, host: "h" },
    exit: "1",
    lines: [],
  };
}

function verdictOn(endings: readonly Ending[]): Verdict {
  const verdict: Verdict = {
    ...{ generation: 1, scope: "", deadline: undefined, endings: {}, root: "", lives: {}, unaccounted: {} },
    charged: undefined,
    phase: "held",
  };
  for (const ending of endings) enter(verdict, ending);
  return verdict;
}

const rankOf = (ending: Ending | undefined) => ending && [ending.strength, ending.seenAtMs];

test("the root is the strongest ending and, among equals, the earliest, whatever is heard first", () => {
  fc.assert(
    fc.property(heard, (all) => {
      const once = all.filter(({ task }, at) => all.findIndex((one) => one.task === task) === at).map(endingOf);
      const best = [...once].sort((a, b) => b.strength - a.strength || a.seenAtMs - b.seenAtMs)[0];
      expect(rankOf(rootOf(verdictOn(once)))).toEqual(rankOf(best));
    }),
  );
});

test("an ending that turned out to follow from our own order is no root while any other ending is known", () => {
  fc.assert(
    fc.property(heard, (all) => {
      const verdict = verdictOn(all.map(endingOf));
      const known = Object.values(verdict.endings);
      const root = rootOf(verdict);
      expect(root !== undefined && isCounted(root)).toBe(known.some(isCounted));
    }),
  );
});
