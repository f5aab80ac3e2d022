import { describe, expect, test } from "@jest/globals";
import { Gate } from "../../../executor/carrier/gate.ts";

const never = new AbortController().signal;

describe("a gate", () => {
  test("that is open lets work through, and its failures out", async () => {
    const gate = new Gate();
    expect(await gate.through(async () => "done", never)).toBe("done");
    await expect(gate.through(() => Promise.reject(new Error("disk full")), never)).rejects.toThrow("disk full");
  });

  test("that is closed holds work back until it opens", async () => {
    const gate = new Gate();
    gate.close("cut off");
    let ran = false;
    const work = gate.through(async () => {
      ran = true;
    }, never);
    await new Promise(setImmediate);
    expect(ran).toBe(false);
    gate.open();
    await work;
    expect(ran).toBe(true);
  });

  test("that is closed once more while work waits lets it through when it opens", async () => {
    const gate = new Gate();
    gate.close("cut off");
    const work = gate.through(async () => "done", never);
    gate.close("cut off again");
    gate.open();
    expect(await work).toBe("done");
  });

  test("that closes breaks off what is under way, which begins anew when it opens", async () => {
    const gate = new Gate();
    let begun = 0;
    const work = gate.through((signal) => {
      begun += 1;
      if (begun > 1) return Promise.resolve("whole");
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }, never);
    await new Promise(setImmediate);
    gate.close("cut off");
    await new Promise(setImmediate);
    expect(begun).toBe(1);
    gate.open();
    expect(await work).toBe("whole");
  });

  test("that is opened though it is open still breaks off what is under way when it closes", async () => {
    const gate = new Gate();
    const stop = new AbortController();
    let brokenOff = 0;
    const work = gate.through(
      (signal) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            brokenOff += 1;
            reject(signal.reason);
          }),
        ),
      stop.signal,
    );
    await new Promise(setImmediate);
    gate.open();
    gate.close("cut off");
    await new Promise(setImmediate);
    expect(brokenOff).toBe(1);
    stop.abort(new Error("replaced"));
    await expect(work).rejects.toThrow("replaced");
  });

  test("lets nothing through that is given up, open or closed", async () => {
    const stop = new AbortController();
    const gate = new Gate();
    gate.close("cut off");
    const waiting = gate.through(async () => "done", stop.signal);
    stop.abort(new Error("replaced"));
    await expect(waiting).rejects.toThrow("replaced");
    gate.open();
    await expect(gate.through(async () => "done", stop.signal)).rejects.toThrow("replaced");
  });
});
