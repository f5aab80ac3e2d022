import { describe, expect, it } from "@jest/globals";
import { createExecutorCore } from "../../../executor/core/core.ts";
import type { Effect } from "../../../executor/core/effects.ts";
import type { Event } from "../../../executor/core/events.ts";
import type { StagingNews } from "../../../executor/core/master.ts";

const LIMITS = { orphanMs: 780_000, isolationMs: 30_000 };
const OURS: StagingNews = { isReplaced: false };

/** As a job of 10,000 tasks has it (src/job/build/build-spec.ts). */
const TASKS = 10_000;
const LIMITS_OF_MANY = { orphanMs: 780_000, isolationMs: 700_000 };

/** An executor that has just lost its ApplicationMaster, which answers nothing. */
function lost(random: number | (() => number) = 0.5, limits = LIMITS) {
  const heard: string[] = [];
  const world: { staging: StagingNews | undefined; looks: number; answers: boolean } = {
    staging: OURS,
    looks: 0,
    answers: true,
  };
  const core = createExecutorCore({ attempt: 1, address: "node-1:4000" }, limits);
  const draw = typeof random === "number" ? () => random : random;
  let nowMs = 0;
  const note = (what: string) => heard.push(`${what} at ${nowMs / 1000} s`);
  const post = (event: Event) => {
    for (const effect of core.step(event, { nowMs, random: draw() })) follow(effect);
  };
  const follow = (effect: Effect) => {
    if (effect.type === "replaced" || effect.type === "orphaned") note(effect.type);
    else if (effect.type === "hold-uploads") note(`isolated for ${/ (\d+) s/.exec(effect.why)?.[1]} s`);
    else if (effect.type === "connect" && effect.target.attempt > 1) note(`attempt ${effect.target.attempt}`);
    else if (effect.type === "look") {
      world.looks += 1;
      if (world.answers && world.staging?.isReplaced === false) note("reached");
      if (world.answers) post({ type: "looked", absence: effect.absence, news: world.staging });
    }
  };
  const pass = (seconds: number) => {
    const untilMs = nowMs + seconds * 1000;
    for (let dueMs = core.wakeAtMs; dueMs !== undefined && dueMs <= untilMs; dueMs = core.wakeAtMs) {
      nowMs = dueMs;
      post({ type: "woken" });
    }
    nowMs = untilMs;
  };
  const sleep = (seconds: number) => {
    nowMs += seconds * 1000;
    post({ type: "woken" });
  };
  const welcome = () => {
    const connection = core.state.link.trying?.id ?? 0;
    const none = new Uint8Array();
    const hello = { protocol: 1, build: "test" };
    const body = { type: "welcome", hello, heartbeatIntervalMs: 1_000, job: none, attemptProof: none } as const;
    post({ type: "message", connection, generation: 1, message: { attempt: 1, generation: 1, body } });
  };
  post({ type: "begun" });
  return { core, heard, world, pass, sleep, post, welcome };
}

describe("an executor without an ApplicationMaster", () => {
  it.each([0, 0.99])("is not cut off while it reaches the staging folder, however long, by chance %d", (random) => {
    const { heard, pass } = lost(random);
    pass(700);
    expect(heard.filter((one) => one.startsWith("isolated"))).toEqual([]);
    expect(heard.length).toBeGreaterThan(40);
  });

  it("is cut off when it has reached nobody for the time, of which a broken connection may have hidden 15 s", () => {
    const { heard, world, pass } = lost();
    world.staging = undefined;
    pass(14.9);
    expect(heard).toEqual([]);
    pass(700);
    expect(heard).toEqual(["isolated for 30 s at 15 s"]);
  });

  it("is cut off so long after the last look that was answered was begun, and tries often before", () => {
    const { heard, world, pass } = lost();
    pass(2.5);
    expect(heard).toEqual(["reached at 2.5 s"]);
    world.staging = undefined;
    world.looks = 0;
    pass(29.9);
    expect(world.looks).toBeGreaterThan(5);
    expect(heard).toHaveLength(1);
    pass(0.1);
    expect(heard.at(-1)).toBe("isolated for 30 s at 32.5 s");
  });

  it("says so when it reaches the staging folder again, and when it is cut off again", () => {
    const { heard, world, pass } = lost();
    world.staging = undefined;
    pass(60);
    world.staging = OURS;
    pass(3);
    world.staging = undefined;
    pass(60);
    expect(heard.map((one) => one.replace(/ .*/, ""))).toEqual(["isolated", "reached", "isolated"]);
  });

  it("learns within the time that its task lives on elsewhere, and then asks no more", () => {
    const { heard, world, pass } = lost(0.99);
    pass(10);
    world.staging = { isReplaced: true };
    pass(700);
    expect(heard.at(-1)).toMatch(/^replaced at (1\d|2[0-5])/);
    expect(heard.filter((one) => one.startsWith("replaced"))).toHaveLength(1);
  });

  it("finds a later attempt", () => {
    const { heard, world, pass } = lost();
    world.staging = { isReplaced: false, master: { attempt: 2, address: "node-2:4000" } };
    pass(2.5);
    expect(heard).toEqual(["reached at 2.5 s", "attempt 2 at 2.5 s"]);
  });

  it("looks so seldom that 10,000 of them ask a NameNode 50 times a second at most", () => {
    const sample = TASKS / 2;
    const draw = linearCongruence();
    const executors = Array.from({ length: sample }, () => lost(draw, LIMITS_OF_MANY));
    const looks = () => executors.reduce((sum, { world }) => sum + world.looks, 0) * (TASKS / sample);
    for (let minute = 0; minute < 12; minute += 1) {
      const before = looks();
      for (const { pass } of executors) pass(60);
      expect((looks() - before) / 60).toBeLessThanOrEqual(50);
    }
    expect(looks()).toBeGreaterThan(TASKS);
  });

  it("is orphaned after its time, whoever it reached", () => {
    const { heard, pass } = lost();
    pass(780);
    expect(heard.at(-1)).toBe("orphaned at 780 s");
  });

  it("searches for a minute more before it is orphaned, where it stood still meanwhile; cut off it is at once", () => {
    const { heard, pass, sleep } = lost();
    sleep(1000);
    expect(heard.map((one) => one.replace(/ .*/, ""))).toEqual(["reached", "isolated"]);
    pass(59);
    expect(heard.at(-1)).not.toContain("orphaned");
    pass(1);
    expect(heard.at(-1)).toBe("orphaned at 1060 s");
  });

  it("counts nothing and looks no more once an ApplicationMaster is heard", () => {
    const { welcome, heard, world, pass } = lost();
    welcome();
    pass(2000);
    expect(heard).toEqual([]);
    expect(world.looks).toBe(0);
  });

  it("does not believe a look that was begun in an absence that is over", () => {
    const { core, welcome, heard, world, pass, post } = lost();
    world.answers = false;
    pass(2.5);
    expect(world.looks).toBe(1);
    const absence = core.state.absences;
    welcome();
    post({ type: "looked", absence, news: { isReplaced: true } });
    pass(1);
    expect(heard).toEqual([]);
  });

  it("does not take a look of the absence before for its own that is under way", () => {
    const { core, welcome, heard, world, pass, post } = lost();
    world.answers = false;
    pass(2.5);
    const absence = core.state.absences;
    welcome();
    post({ type: "ended", connection: core.state.link.active?.id ?? 0, cause: "the stream ended" });
    pass(2.5);
    expect(world.looks).toBe(2);
    post({ type: "looked", absence, news: { isReplaced: true } });
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
