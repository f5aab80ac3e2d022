import { describe, expect, test } from "@jest/globals";
import type { Feed } from "../../../../am/core/feeds/records.ts";
import { Random } from "../../../simulation/random.ts";
import { FeedWorld, type Kind, type Troubles } from "./world.ts";

const CALM: Troubles = { masterDies: 0, taskDies: 0, taskSleeps: 0, callLost: 0, taskIdles: 0 };
const STEPS = 40_000;
const SEEDS = 60;

function feedOf(random: Random): Feed {
  return {
    ...(random.chance(0.5) ? { seed: random.integer(0, 9) } : {}),
    ...{ name: "train", plan: "a1", splits: random.integer(1, 30), epochs: random.integer(1, 3) },
    ...{ window: random.integer(1, 4), leaseMs: random.integer(200, 600), maxAttempts: random.integer(4, 8) },
  };
}

function worldOf(seed: number, kind: Kind, troubled = true): FeedWorld & { readonly feed: Feed } {
  const random = new Random(seed);
  const feed = feedOf(random);
  const troubles: Troubles = {
    masterDies: random.pick([0, 0.002, 0.01]),
    taskDies: random.pick([0, 0.0005, 0.002]),
    taskSleeps: random.pick([0, 0.001, 0.005]),
    callLost: random.pick([0, 0.05]),
    taskIdles: random.pick([0, 0.5, 1]),
    ...(random.chance(0.2) ? { deadly: random.integer(0, feed.splits - 1) } : {}),
  };
  const world = new FeedWorld(random, feed, random.integer(1, 5), kind, troubled ? troubles : CALM);
  return Object.assign(world, { feed });
}

/** How often each record was used that the feed has, beside what it should be. */
function judge(
  world: FeedWorld & { readonly feed: Feed },
  isRight: (times: number, isLeftOut: boolean) => boolean,
): readonly string[] {
  const model = world.model();
  const wrong: string[] = [];
  for (let epoch = 0; epoch < (world.feed.epochs ?? 0); epoch += 1) {
    for (let split = 0; split < world.feed.splits; split += 1) {
      for (let record = 0; record < world.recordsOf(split); record += 1) {
        const times = model.get(`${epoch}/${split}/${record}`) ?? 0;
        if (!isRight(times, world.leftOut.has(split))) wrong.push(`${epoch}/${split}/${record}: ${times}`);
      }
    }
  }
  return wrong;
}

describe("a feed under faults", () => {
  test("is in the model once, each record, where tasks that train together begin with the cursor of their checkpoint", () => {
    const seen = { restarts: 0, masters: 0, leftOut: 0 };
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const world = worldOf(seed, "together");
      expect([seed, world.run(STEPS)]).toEqual([seed, true]);
      expect([seed, judge(world, (times, isLeftOut) => times === 1 || (isLeftOut && times === 0))]).toEqual([seed, []]);
      seen.restarts += world.restarts;
      seen.masters += world.masters - 1;
      seen.leftOut += world.leftOut.size;
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  test("is used at least once, each record, where tasks come back alone", () => {
    let doubled = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const world = worldOf(seed, "alone");
      expect([seed, world.run(STEPS)]).toEqual([seed, true]);
      expect([seed, judge(world, (times, isLeftOut) => times >= 1 || isLeftOut)]).toEqual([seed, []]);
      doubled += judge(world, (times) => times <= 1).length;
    }
    expect(doubled).toBeGreaterThan(0);
  });
});

describe("an undisturbed feed", () => {
  test("gives its splits out in one order, however many tasks there are and however quick they are", () => {
    for (let seed = 1; seed <= 25; seed += 1) {
      const world = worldOf(seed, "together", false);
      expect(world.run(STEPS)).toBe(true);
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
