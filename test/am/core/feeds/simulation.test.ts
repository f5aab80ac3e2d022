import { describe, expect, test } from "@jest/globals";
import { feedLife, problemsOf, usedOtherwise } from "./lives.ts";

const SEEDS = 60;

describe("a feed under faults", () => {
  test("is in the model once, each record, where tasks that train together begin with the cursor of their checkpoint", () => {
    const seen = { restarts: 0, masters: 0, leftOut: 0, overlap: 0, infinite: 0, grown: 0 };
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const world = feedLife(seed, "together");
      expect([seed, problemsOf(world, "together")]).toEqual([seed, []]);
      seen.restarts += world.restarts;
      seen.masters += world.masters - 1;
      seen.leftOut += world.leftOut.size;
      seen.grown += world.feed.growth?.batches.length ?? 0;
      if (world.feed.boundary !== undefined) seen[world.feed.boundary] += 1;
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  test("is used at least once, each record, where tasks come back alone", () => {
    let doubled = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const world = feedLife(seed, "alone");
      expect([seed, problemsOf(world, "alone")]).toEqual([seed, []]);
      doubled += usedOtherwise(world, (times) => times <= 1).length;
    }
    expect(doubled).toBeGreaterThan(0);
  });
});

describe("an undisturbed feed", () => {
  test("gives its splits out in one order, however many tasks there are and however quick they are", () => {
    for (let seed = 1; seed <= 25; seed += 1) {
      const world = feedLife(seed, "together", false);
      expect(problemsOf(world, "together")).toEqual([]);
      const inOrder = [...world.given].sort((left, right) => left.number - right.number);
      const { splits, epochs = 0 } = world.feed;
      const expected = Array.from({ length: epochs * splits }, (_, place) => [
        Math.floor(place / splits),
        place % splits,
      ]);
      expect(inOrder.map(({ epoch, position }) => [epoch, position])).toEqual(expected);
    }
  });
});
