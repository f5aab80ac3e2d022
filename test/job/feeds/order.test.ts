import { describe, expect, test } from "@jest/globals";
import { orderOf } from "../../../src/job/feeds/order.ts";

describe("the order of an epoch", () => {
  test("is that of the plan without a seed", () => {
    expect([...orderOf(4, undefined, 7)]).toEqual([0, 1, 2, 3]);
    expect([...orderOf(0, 1, 0)]).toEqual([]);
  });

  test("has each split once, and is the same for the same seed and epoch only", () => {
    const order = orderOf(1_000, 1, 0);
    expect([...order].sort((left, right) => left - right)).toEqual([...orderOf(1_000, undefined, 0)]);
    expect(orderOf(1_000, 1, 0)).toEqual(order);
    expect(orderOf(1_000, 1, 1)).not.toEqual(order);
    expect(orderOf(1_000, 2, 0)).not.toEqual(order);
  });

  test("stays as it is: a checkpoint of today is read by a later release", () => {
    expect([...orderOf(8, 42, 3)]).toMatchInlineSnapshot(`
[
  3,
  2,
  5,
  7,
  6,
  4,
  0,
  1,
]
`);
  });

  test("is each of those there are about as often", () => {
    const seen = new Map<string, number>();
    for (let seed = 0; seed < 6_000; seed += 1) {
      const order = orderOf(3, seed, 0).join("");
      seen.set(order, (seen.get(order) ?? 0) + 1);
    }
    const counts = [...seen.values()];
    expect(counts).toHaveLength(6);
    // 1,000 expected of each: five standard deviations are 145.
    expect(Math.max(...counts.map((count) => Math.abs(count - 1_000)))).toBeLessThan(145);
  });
});
