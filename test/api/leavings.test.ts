import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { type CollectedMemory, Leavings } from "../../src/api/leavings.ts";

const MIB = 1 << 20;

/** A process whose memory is what the test says. */
class Memory implements CollectedMemory {
  /** What is in use, what a collection of new objects frees, and what only one of all does. */
  #parts = { held: 10 * MIB, young: 0, old: 0 };
  collected: string[] = [];
  looks = 0;
  nowMs = 0;
  /** How long a collection of all takes. */
  takesMs = 15;

  add(mib: Partial<Record<"held" | "young" | "old", number>>): void {
    const { held = 0, young = 0, old = 0 } = mib;
    const parts = this.#parts;
    this.#parts = { held: parts.held + held * MIB, young: parts.young + young * MIB, old: parts.old + old * MIB };
  }

  bytes(): number {
    this.looks += 1;
    const { held, young, old } = this.#parts;
    return held + young + old;
  }

  collect(type: "minor" | "major"): void {
    this.collected.push(type);
    const { held, old } = this.#parts;
    this.#parts = { held, young: 0, old: type === "major" ? 0 : old };
    if (type === "major") this.nowMs += this.takesMs;
  }
}

let memory: Memory;
let leavings: Leavings;

beforeEach(() => {
  jest.useFakeTimers();
  memory = new Memory();
  leavings = new Leavings(memory, { nowMs: () => memory.nowMs });
  pass(100);
});
afterEach(() => {
  jest.useRealTimers();
});

/** Somebody comes or calls, and time passes. */
function pass(ms: number): void {
  leavings.notice();
  memory.nowMs += ms;
  jest.advanceTimersByTime(ms);
}

test("little is left alone", () => {
  memory.add({ young: 2 });
  pass(60_000);
  expect(memory.collected).toEqual([]);
});

test("what new objects have left is collected as soon as it is more than 2 MiB", () => {
  memory.add({ young: 3 });
  pass(20);
  expect(memory.collected).toEqual(["minor"]);
  pass(60_000);
  expect(memory.collected).toEqual(["minor"]);
});

test("what outlives that is collected when it is more than 4 MiB", () => {
  memory.add({ old: 3 });
  pass(100);
  expect(memory.collected).toEqual(["minor"]);
  memory.add({ old: 3 });
  pass(100);
  expect(memory.collected).toEqual(["minor", "minor", "major"]);
});

test("where it takes long to collect all, that is done for a twentieth of the time at most", () => {
  memory.takesMs = 200;
  memory.add({ old: 5 });
  pass(200);
  expect(memory.collected).toEqual(["minor", "major"]);
  memory.add({ old: 5 });
  pass(3_000);
  expect(memory.collected).toEqual(["minor", "major", "minor"]);
  pass(2_000);
  expect(memory.collected).toEqual(["minor", "major", "minor", "major"]);
});

test("what is in use is collected for once, and not again while it stays as it is", () => {
  memory.add({ held: 20 });
  pass(60_000);
  expect(memory.collected).toEqual(["minor", "major"]);
});

test("a process that holds much collects all only for a quarter more", () => {
  memory.add({ held: 90 });
  pass(1_000);
  memory.collected = [];
  memory.add({ old: 20 });
  pass(1_000);
  expect(memory.collected).toEqual(["minor"]);
  memory.add({ old: 10 });
  pass(1_000);
  expect(memory.collected).toEqual(["minor", "minor", "major"]);
});

test("in peace it is looked once a second, and at once when somebody comes or the memory moves", () => {
  pass(60_000);
  memory.looks = 0;
  jest.advanceTimersByTime(10_000);
  expect(memory.looks).toBe(10);
  memory.looks = 0;
  pass(20);
  expect(memory.looks).toBe(1);
  pass(60_000);
  memory.looks = 0;
  memory.add({ young: 1 });
  jest.advanceTimersByTime(2_000);
  expect(memory.looks).toBeGreaterThan(4);
});

test("objects count, and what lies outside their heap", () => {
  const collected: unknown[] = [];
  globalThis.gc = Object.assign(async (how: unknown) => void collected.push(how));
  new Leavings().notice();
  jest.advanceTimersByTime(20);
  const objects = Array.from({ length: 200_000 }, (_, index) => ({ index, text: `object ${index}` }));
  jest.advanceTimersByTime(100);
  expect(collected).not.toEqual([]);
  collected.length = 0;
  const outside = Buffer.alloc(16 * MIB);
  jest.advanceTimersByTime(100);
  expect(collected).not.toEqual([]);
  expect([objects.length, outside.length]).toEqual([200_000, 16 * MIB]);
});

test("a process that cannot collect does not look", () => {
  // Another test of this process may have exposed it.
  globalThis.gc = undefined;
  new Leavings().notice();
  expect(jest.getTimerCount()).toBe(1);
});
