import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { MasterAbsence } from "../../../executor/master/master-absence.ts";
import type { StagingNews } from "../../../executor/master/staging-folder.ts";

const LIMITS = { orphanMs: 780_000, isolationMs: 30_000 };
const OURS: StagingNews = { isReplaced: false };

/** As a job of 10,000 tasks has it (src/job/build/build-spec.ts). */
const TASKS = 10_000;
const LIMITS_OF_MANY = { orphanMs: 780_000, isolationMs: 700_000 };

/** An executor that has just lost its ApplicationMaster. */
function lost(random: number | (() => number) = 0.5, limits = LIMITS) {
  const heard: string[] = [];
  const world: { staging: StagingNews | undefined; looks: number } = { staging: OURS, looks: 0 };
  const startedAtMs = Date.now();
  const note = (what: string) => heard.push(`${what} at ${(Date.now() - startedAtMs) / 1000} s`);
  const absence = new MasterAbsence({
    limits,
    random: typeof random === "number" ? () => random : random,
    monotonicMs: Date.now,
    lookIntoStaging: async () => {
      world.looks += 1;
      return world.staging;
    },
    found: ({ attempt }) => note(`attempt ${attempt}`),
    reached: () => note("reached"),
    replaced: () => note("replaced"),
    isolated: (silentMs) => note(`isolated for ${silentMs / 1000} s`),
    orphaned: () => note("orphaned"),
  });
  absence.begin();
  return { absence, heard, world };
}

describe("an executor without an ApplicationMaster", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const pass = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000);

  it.each([0, 0.99])(
    "is not cut off while it reaches the staging folder, however long, by chance %d",
    async (random) => {
      const { heard } = lost(random);
      await pass(700);
      expect(heard.filter((one) => one.startsWith("isolated"))).toEqual([]);
      expect(heard.length).toBeGreaterThan(40);
    },
  );

  it("is cut off when it has reached nobody for the time, of which a broken connection may have hidden 15 s", async () => {
    const { heard, world } = lost();
    world.staging = undefined;
    await pass(14.9);
    expect(heard).toEqual([]);
    await pass(700);
    expect(heard).toEqual(["isolated for 30 s at 15 s"]);
  });

  it("is cut off so long after the last look that was answered was begun, and tries often before", async () => {
    const { heard, world } = lost();
    await pass(2.5);
    expect(heard).toEqual(["reached at 2.5 s"]);
    world.staging = undefined;
    world.looks = 0;
    await pass(29.9);
    expect(world.looks).toBeGreaterThan(5);
    expect(heard).toHaveLength(1);
    await pass(0.1);
    expect(heard.at(-1)).toBe("isolated for 30 s at 32.5 s");
  });

  it("says so when it reaches the staging folder again, and when it is cut off again", async () => {
    const { heard, world } = lost();
    world.staging = undefined;
    await pass(60);
    world.staging = OURS;
    await pass(3);
    world.staging = undefined;
    await pass(60);
    expect(heard.map((one) => one.replace(/ .*/, ""))).toEqual(["isolated", "reached", "isolated"]);
  });

  it("learns within the time that its task lives on elsewhere, and then asks no more", async () => {
    const { heard, world } = lost(0.99);
    await pass(10);
    world.staging = { isReplaced: true };
    await pass(700);
    expect(heard.at(-1)).toMatch(/^replaced at (1\d|2[0-5])/);
    expect(heard.filter((one) => one.startsWith("replaced"))).toHaveLength(1);
  });

  it("finds a later attempt", async () => {
    const { heard, world } = lost();
    world.staging = { isReplaced: false, master: { attempt: 2, address: "node-2:4000" } };
    await pass(2.5);
    expect(heard).toEqual(["reached at 2.5 s", "attempt 2 at 2.5 s"]);
  });

  it("looks so seldom that 10,000 of them ask a NameNode 50 times a second at most", async () => {
    const sample = TASKS / 20;
    const draw = linearCongruence();
    const worlds = Array.from({ length: sample }, () => lost(draw, LIMITS_OF_MANY).world);
    const looks = () => worlds.reduce((sum, world) => sum + world.looks, 0) * (TASKS / sample);
    for (let minute = 0; minute < 12; minute += 1) {
      const before = looks();
      await pass(60);
      expect((looks() - before) / 60).toBeLessThanOrEqual(50);
    }
    expect(looks()).toBeGreaterThan(TASKS);
  });

  it("is orphaned after its time, whoever it reached", async () => {
    const { heard } = lost();
    await pass(780);
    expect(heard.at(-1)).toBe("orphaned at 780 s");
  });

  it("counts nothing and looks no more once an ApplicationMaster is heard", async () => {
    const { absence, heard, world } = lost();
    absence.end();
    await pass(2000);
    expect(heard).toEqual([]);
    expect(world.looks).toBe(0);
  });

  it("does not believe a look that was begun in an absence that is over", async () => {
    const { absence, heard, world } = lost();
    world.staging = { isReplaced: true };
    jest.advanceTimersByTime(2500);
    expect(world.looks).toBe(1);
    absence.end();
    await pass(1);
    expect(heard).toEqual([]);
  });
});

/** The same draws from 0 to 1 in every run. */
function linearCongruence(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
