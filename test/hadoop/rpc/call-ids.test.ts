import { describe, expect, test } from "@jest/globals";
import { CallIds } from "../../../src/hadoop/rpc/call-ids.ts";

const largest = 2 ** 31 - 1;

describe("the numbers of calls", () => {
  test("count up, and begin again after the largest that 32 bits can say", () => {
    const callIds = new CallIds(largest - 2);
    const given = Array.from({ length: 4 }, () => callIds.next(() => false));
    expect(given).toEqual([largest - 1, largest, 0, 1]);
  });

  test("pass over those whose answers are still out", () => {
    const out = new Set([largest, 0, 1]);
    expect(new CallIds(largest - 1).next((callId) => out.has(callId))).toBe(2);
  });
});
