import { describe, expect, test } from "@jest/globals";
import { systemClock } from "../../am/clock.ts";
import { NamedTimers } from "../../am/timers.ts";
import { SteppedClock } from "../support/stepped-clock.ts";

describe("timers by name", () => {
  function setUp() {
    const clock = new SteppedClock();
    const fired: string[] = [];
    return { clock, fired, timers: new NamedTimers(clock, (name) => fired.push(name)) };
  }

  test("each fires once", async () => {
    const { clock, fired, timers } = setUp();
    timers.set("a", 100);
    await clock.pass(99);
    expect(fired).toEqual([]);
    await clock.pass(1_000);
    expect(fired).toEqual(["a"]);
  });

  test("setting one again moves it", async () => {
    const { clock, fired, timers } = setUp();
    timers.set("a", 100);
    timers.set("a", 500);
    await clock.pass(400);
    expect(fired).toEqual([]);
    await clock.pass(100);
    expect(fired).toEqual(["a"]);
  });

  test("what is cleared does not fire, and clearing what is not set is no error", async () => {
    const { clock, fired, timers } = setUp();
    timers.set("a", 100);
    timers.set("b", 100);
    timers.clear("a");
    timers.clear("never set");
    await clock.pass(100);
    expect(fired).toEqual(["b"]);

    timers.set("c", 100);
    timers.clearAll();
    await clock.pass(100);
    expect(fired).toEqual(["b"]);
  });
});

describe("the system's clock", () => {
  test("a wait of months does not end at once, as setTimeout's would", async () => {
    const months = 100 * 24 * 3_600_000;
    const ended = new Promise((resolve) => {
      const cancel = systemClock.after(months, () => resolve("too early"));
      systemClock.after(20, () => {
        cancel();
        resolve("still waiting");
      });
    });
    expect(await ended).toBe("still waiting");
  });
});
