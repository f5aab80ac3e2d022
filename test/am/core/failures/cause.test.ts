import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { causeOf, enter, enterGivenUp, mayBeExplained, replaces, rootOf } from "../../../../am/core/failures/cause.ts";
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

/** How a worker ended; what is not said is of no matter to the test. */
function ended(task: number, change: Partial<Ending> = {}): Ending {
  return { ...endingOf({ task, strength: Strength.exit, seenAtMs: 1_000 }), ...change };
}

function amongEachOther(endings: readonly Ending[]): Record<string, Ending> {
  return Object.fromEntries(endings.map((ending) => [ending.task, ending]));
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`);

describe("the cause as people are told of it", () => {
  test("says where and when its program ended, what it said and how to mend it", () => {
    const root = ended(1, { atMs: 700, exit: "3", generation: 4, lines: ["bad"], remedy: { code: "end-together" } });
    expect(causeOf(root)).toEqual({
      class: "program",
      generation: 4,
      reason: { code: "left-node", task: "worker:1", host: "h" },
      summary: expect.stringContaining("worker:1"),
      task: "worker:1",
      host: "h",
      containerId: "c1",
      exit: "3",
      atMs: 700,
      lines: ["bad"],
      remedy: expect.stringContaining("the same number of steps"),
      fix: { code: "end-together" },
      consequences: [],
      followed: [],
    });
  });

  test("names the first 20 of the others, with how much later each ended", () => {
    const root = ended(0);
    const others = Array.from({ length: 25 }, (_, at) => ended(at + 1, { seenAtMs: 1_000 + 100 * (at + 1) }));
    const { consequences, followed } = causeOf(root, amongEachOther([root, ...others]));
    expect(consequences).toHaveLength(20);
    expect(followed?.map(({ laterMs }) => laterMs)).toEqual(Array.from({ length: 20 }, (_, at) => 100 * (at + 1)));
    expect(followed?.[0]).toEqual({ reason: others[0]?.reason, relation: "also-failed", laterMs: 100 });
  });

  test("has the last 20 lines of its program", () => {
    expect(causeOf(ended(1, { lines: numbered(25) })).lines).toEqual(numbered(25).slice(5));
  });

  test("has of a program that ended with 0 the last 5 lines, and as many of the first that then said anything as make 20", () => {
    const left = ended(0, { strength: Strength.earlyExit, lines: numbered(7) });
    const silent = ended(1);
    const failed = ended(2, { lines: ["early", ...numbered(14)] });
    const later = ended(3, { lines: ["later"] });
    const { lines } = causeOf(left, amongEachOther([left, silent, failed, later]));
    expect(lines).toEqual([...numbered(7).slice(2), "worker:2 then said:", ...numbered(14)]);
    expect(lines).toHaveLength(20);
  });

  test("has of a program that ended with 0 all of its last 20 lines where no other said anything", () => {
    const left = ended(0, { strength: Strength.earlyExit, lines: numbered(7) });
    expect(causeOf(left, amongEachOther([left, ended(1)])).lines).toEqual(numbered(7));
  });

  test("has no other's words where its program failed", () => {
    const root = ended(0, { lines: ["own"] });
    expect(causeOf(root, amongEachOther([root, ended(1, { lines: ["other"] })])).lines).toEqual(["own"]);
  });

  test("is the task that the others wait for, and tells a hang of several once", () => {
    const named = { task: "worker:3", host: "n3", containerId: "c3" };
    const root = ended(0, { named });
    const others = [ended(1, { named }), ended(2), ended(3)];
    const cause = causeOf(root, amongEachOther([root, ...others]));
    expect(cause).toMatchObject(named);
    expect(cause.exit).toBeUndefined();
    expect(cause.followed).toHaveLength(1);
  });
});

describe("an ending beside the root", () => {
  const relation = (root: Partial<Ending>, other: Partial<Ending>) => {
    const endings = [ended(0, { seenAtMs: 1_000, ...root }), ended(1, { seenAtMs: 1_000, ...other })] as const;
    return causeOf(endings[0], amongEachOther(endings)).followed?.[0]?.relation;
  };
  const lost = { strength: Strength.peerLost };

  test.each<[string, Partial<Ending>, Partial<Ending>, string]>([
    ["a connection lost at the same time", {}, lost, "consequence"],
    ["a connection lost before the root's program ended", {}, { ...lost, seenAtMs: 999 }, "possible-consequence"],
    ["a connection lost before YARN's word", { source: "yarn" }, { ...lost, seenAtMs: 999 }, "consequence"],
    ["a connection lost after an exit with 0", { strength: Strength.earlyExit }, lost, "possible-consequence"],
    ["what we ordered", {}, { strength: Strength.consequence }, "consequence"],
    ["a cut-off", {}, { strength: Strength.cutOff }, "not-counted"],
    ["an exit with 0", {}, { strength: Strength.earlyExit }, "not-counted"],
    ["an exit", {}, { strength: Strength.exit }, "also-failed"],
  ])("%s", (_what, root, other, expected) => {
    expect(relation(root, other)).toBe(expected);
  });
});

describe("a container that an earlier attempt had given up", () => {
  const byYarn = ended(1, {
    strength: Strength.consequence,
    source: "yarn",
    reason: { code: "stopped-by-earlier-attempt", task: "worker:1", host: "h", why: "exit 0" },
  });
  const rootAfter = (others: readonly Ending[]) => {
    const verdict = verdictOn(others);
    enterGivenUp(verdict);
    return rootOf(verdict)?.task;
  };

  test.each([Strength.peerLost, Strength.earlyExit])(
    "is the cause where nothing stronger than %i is known",
    (strength) => {
      expect(rootAfter([ended(0, { strength }), byYarn])).toBe("worker:1");
    },
  );

  test.each([Strength.cutOff, Strength.exit, Strength.signal, Strength.outside])(
    "is not the cause where an ending of strength %i is known",
    (strength) => {
      expect(rootAfter([ended(0, { strength }), byYarn])).toBe("worker:0");
    },
  );

  test.each<[string, Partial<Ending>]>([
    ["the executor's own word", { source: "child" }],
    ["another end by YARN", { reason: { code: "left-node", task: "worker:1", host: "h" } }],
  ])("is not meant by %s", (_what, change) => {
    expect(rootAfter([ended(0, { strength: Strength.peerLost }), { ...byYarn, ...change }])).toBe("worker:0");
  });
});

describe("YARN may still explain", () => {
  test.each(["SIGTERM", "SIGKILL", "143", "137"])("a program that ended by %s", (exit) => {
    expect(mayBeExplained(ended(1, { exit }))).toBe(true);
    expect(mayBeExplained(ended(1, { exit, source: "core" }))).toBe(false);
  });

  test("an executor that is not heard, and no other exit", () => {
    expect(mayBeExplained(ended(1, { exit: "", source: "link" }))).toBe(true);
    expect(mayBeExplained(ended(1, { exit: "1" }))).toBe(false);
    expect(mayBeExplained(ended(1, { exit: "SIGSEGV" }))).toBe(false);
  });
});

describe("what is heard of a task again", () => {
  const outside = { strength: Strength.outside } as const;
  const ordered = { strength: Strength.consequence } as const;
  const lost = { strength: Strength.peerLost } as const;

  test.each<[string, Partial<Ending>, Partial<Ending>, boolean]>([
    ["YARN's word counts for more than an exit", outside, {}, true],
    ["YARN's first word stays", outside, { ...outside, source: "yarn" }, false],
    ["an end by order replaces no exit", ordered, {}, false],
    ["an end by order replaces what a link showed", ordered, { ...outside, source: "link" }, true],
    ["the program's use of memory ended none that had ended by itself", { ...outside, class: "program" }, lost, false],
    ["it may have ended one that was killed", { ...outside, class: "program" }, { ...lost, exit: "137" }, true],
    ["the infrastructure may have cut the connection as well", { ...outside, class: "infrastructure" }, lost, true],
    ["memory counts for more than a failure of the program's own", { ...outside, class: "program" }, {}, true],
  ])("%s", (_what, ofYarn, earlier, expected) => {
    expect(replaces(ended(1, { source: "yarn", ...ofYarn }), ended(1, earlier))).toBe(expected);
  });

  test("replaces only that its node had been cut off, unless it ended by order", () => {
    const cutOff = ended(1, { source: "core", strength: Strength.cutOff });
    expect(replaces(ended(1, lost), cutOff)).toBe(true);
    expect(replaces(ended(1, ordered), cutOff)).toBe(false);
    expect(replaces(ended(1), ended(1, lost))).toBe(false);
  });
});

test("a root that turned out to follow from our own order gives its place to the strongest that counts, and there to the earliest", () => {
  const verdict = verdictOn([
    ended(0, { strength: Strength.outside }),
    ended(1, { strength: Strength.exit, seenAtMs: 3_000 }),
    ended(2, { strength: Strength.exit, seenAtMs: 2_000 }),
    ended(3, { strength: Strength.peerLost, seenAtMs: 500 }),
  ]);
  enter(verdict, ended(0, { strength: Strength.consequence, seenAtMs: 100 }));
  expect(rootOf(verdict)?.task).toBe("worker:2");
});
