import { describe, expect, test } from "@jest/globals";
import { Suspension } from "../../../executor/generation/suspension.ts";

function suspension() {
  const clock = { nowMs: 1_000 };
  return { clock, suspension: new Suspension(() => clock.nowMs) };
}

describe("the suspension of a program", () => {
  test("is as long as it lasts, and was, until the ApplicationMaster is told", () => {
    const { clock, suspension: own } = suspension();
    expect([own.lasts, own.untoldMs]).toEqual([false, 0]);
    own.begin();
    clock.nowMs += 500;
    expect([own.lasts, own.untoldMs]).toEqual([true, 500]);
    own.end();
    clock.nowMs += 10_000;
    expect([own.lasts, own.untoldMs]).toEqual([false, 500]);
    own.told();
    expect(own.untoldMs).toBe(0);
  });

  test("adds up where there are several", () => {
    const { clock, suspension: own } = suspension();
    for (const lengthMs of [300, 200]) {
      own.begin();
      clock.nowMs += lengthMs;
      own.end();
    }
    expect(own.untoldMs).toBe(500);
  });

  test("that has just begun is one", () => {
    const { suspension: own } = suspension();
    own.begin();
    expect(own.untoldMs).toBe(1);
  });
});
