import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import { linkedSignal } from "../src/linked-signal.ts";
import { eventually } from "./support/eventually.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

describe("a signal that is linked to another", () => {
  test("fires with it, for its reason", () => {
    const other = new AbortController();
    const { signal } = linkedSignal(other.signal);
    expect(signal.aborted).toBe(false);
    other.abort("enough");
    expect(signal).toMatchObject({ aborted: true, reason: "enough" });
  });

  test("has fired where the other had before", () => {
    expect(linkedSignal(AbortSignal.abort("enough")).signal).toMatchObject({ aborted: true, reason: "enough" });
  });

  test("fires with a time limit that nobody else holds", async () => {
    const { signal } = linkedSignal(AbortSignal.timeout(100));
    // What nobody holds any more is collected after the turn that made it.
    await nextTurn();
    if (typeof collectGarbage === "function") collectGarbage();
    await eventually("the time limit", () => signal.aborted);
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });

  test("does not fire once it is released, nor without another", () => {
    const other = new AbortController();
    const { signal, release } = linkedSignal(other.signal);
    release();
    other.abort();
    expect(signal.aborted).toBe(false);
    expect(linkedSignal(undefined).signal.aborted).toBe(false);
  });
});
