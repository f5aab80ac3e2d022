import { describe, expect, test } from "@jest/globals";
import { sleep, within } from "../../src/hadoop/clock.ts";

const aMinuteMs = 60_000;
const never = new Promise<void>(() => undefined);

describe("sleep", () => {
  test("ends at once when its signal fires, or has fired before", async () => {
    const stop = new AbortController();
    const asleep = sleep(aMinuteMs, stop.signal);
    stop.abort();
    await expect(asleep).resolves.toBeUndefined();
    await expect(sleep(aMinuteMs, stop.signal)).resolves.toBeUndefined();
  });
});

describe("a bounded wait", () => {
  test("says that the work was done, and throws what it threw", async () => {
    expect(await within(aMinuteMs, Promise.resolve("done"))).toBe(true);
    await expect(within(aMinuteMs, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  });

  test("is over in its time, whatever becomes of the work", async () => {
    expect(await within(1, never)).toBe(false);
  });
});
