import { describe, expect, test } from "@jest/globals";
import type { Ask } from "../../../am/core/state/effects.ts";
import { UntoldAsks } from "../../../am/scheduler/yarn/untold-asks.ts";

const small = { memoryMiB: 256, vcores: 1, others: {} };
const ask = (role: string, priority: number, count = 1): Ask => ({
  role,
  priority,
  resource: small,
  count,
  hosts: [],
  racks: [],
});
const chief = ask("chief", 1);
const worker = ask("worker", 2, 8);
const scorer = ask("scorer", 3);

function holding(...asks: readonly Ask[]): UntoldAsks {
  const untold = new UntoldAsks();
  for (const one of asks) untold.add(one);
  return untold;
}
const rolesOf = (untold: UntoldAsks) => untold.take().map(({ ask: { role } }) => role);

test("all that is asked goes together, of each role the newest, with the one that it replaces", () => {
  const untold = holding(chief, worker, ask("worker", 2, 7));
  expect(untold.take()).toMatchObject([{ ask: chief, before: undefined }, { ask: { role: "worker", count: 7 } }]);
  expect(untold.answered()).toBe(false);
  untold.add(ask("chief", 1, 0));
  expect(untold.take()).toEqual([{ ask: ask("chief", 1, 0), before: chief }]);
});

describe("when something is refused", () => {
  test("it is not taken by an answer to what was told without it", () => {
    const untold = holding(chief, worker);
    untold.take();
    untold.refused();
    untold.answered();
    expect(untold.take()).toEqual([{ ask: chief, before: undefined }]);
  });

  test("what was taken of its role before counts for nothing: it is told as if it were the first", () => {
    const untold = holding(worker);
    untold.take();
    untold.answered();
    untold.add(ask("worker", 2, 9));
    untold.take();
    untold.refused();
    untold.add(ask("worker", 2, 7));
    expect(untold.take()).toEqual([{ ask: ask("worker", 2, 7), before: undefined }]);
  });

  test("it is the only one that was told", () => {
    const untold = holding(worker);
    untold.take();
    expect(untold.refused()).toEqual(worker);
    expect(untold.take()).toEqual([]);
  });

  test("several are told again one by one; those that are not refused stay", () => {
    const untold = holding(chief, worker, scorer);
    untold.take();
    expect(untold.refused()).toBeUndefined();
    expect(rolesOf(untold)).toEqual(["chief"]);
    expect(untold.answered()).toBe(true);
    expect(rolesOf(untold)).toEqual(["worker"]);
    expect(untold.refused()).toEqual(worker);
    expect(rolesOf(untold)).toEqual(["scorer"]);
    expect(untold.answered()).toBe(false);
    untold.add(chief);
    untold.add(scorer);
    expect(rolesOf(untold)).toEqual(["chief", "scorer"]);
  });

  test("what was asked anew meanwhile counts, not what was refused with others", () => {
    const untold = holding(chief, worker);
    untold.take();
    untold.add(ask("worker", 2, 3));
    untold.refused();
    expect(untold.take()).toMatchObject([{ ask: { count: 3 } }]);
    untold.answered();
    expect(rolesOf(untold)).toEqual(["chief"]);
  });

  test("after a resync it may be what was taken long ago", () => {
    const untold = holding(chief, worker);
    untold.take();
    untold.answered();
    expect(untold.refused()).toBeUndefined();
    expect(rolesOf(untold)).toEqual(["chief"]);
  });
});
