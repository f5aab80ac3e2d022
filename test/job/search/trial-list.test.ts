import { describe, expect, test } from "@jest/globals";
import { bestOf, countsLine, isBetter, standing, trialsOf } from "../../../src/job/search/trial-list.ts";
import type { SearchStatus, TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus } from "../../client/job-status.ts";

const search: SearchStatus = { metric: "loss", direction: "minimize", parameters: ["lr", "depth"], command: "" };

/** A trial of one task. */
function task(
  number: number,
  state: NonNullable<TaskStatus["trial"]>["state"],
  { loss, ...changes }: Partial<TaskStatus> & { readonly loss?: number } = {},
): TaskStatus {
  const metrics = loss === undefined ? {} : { metrics: { loss, accuracy: 7 } };
  return { task: `worker:${number}`, state: "running", restarts: 0, trial: { state }, ...metrics, ...changes };
}

const numbersOf = (tasks: readonly TaskStatus[], of = search) => trialsOf({ tasks }, of).map(({ number }) => number);

describe("the trials of a search", () => {
  test("are listed the best first, then those without a value, and last what failed", () => {
    const tasks = [
      task(0, "failed", { loss: 0 }),
      task(1, "running"),
      task(2, "completed", { loss: 3 }),
      task(3, "stopped", { loss: 1 }),
      task(4, "paused", { loss: 2 }),
    ];
    expect(numbersOf(tasks)).toEqual([3, 4, 2, 1, 0]);
    expect(numbersOf(tasks, { ...search, direction: "maximize" })).toEqual([2, 4, 3, 1, 0]);
  });

  test("are those that were given parameters, by the number that each has", () => {
    const { trial: _, ...waiting } = task(1, "running");
    const tasks = [task(0, "running"), waiting, task(2, "running")];
    expect(numbersOf(tasks)).toEqual([0, 2]);
    // Of gangs the leads alone have a trial.
    expect(numbersOf(tasks, { ...search, trials: 2 })).toEqual([0, 1]);
  });

  test("have as the best one that has ended with a value, or pauses", () => {
    const best = (...tasks: readonly TaskStatus[]) => bestOf(trialsOf({ tasks }, search))?.number;
    const [running, failed] = [task(0, "running", { loss: 0 }), task(1, "failed", { loss: 0 })];
    for (const state of ["completed", "stopped", "paused"] as const)
      expect(best(running, failed, task(2, state, { loss: 5 }))).toBe(2);
    expect(best(running, failed, task(2, "completed"))).toBeUndefined();
    expect(
      best(running, failed, task(2, "completed", { trial: { state: "completed", nonFinite: "NaN" } })),
    ).toBeUndefined();
  });

  test("are better than none, and than what is worse, not than an equal one", () => {
    const [first, second, third] = trialsOf(
      { tasks: [1, 1, 2].map((loss, at) => task(at, "completed", { loss })) },
      search,
    );
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
    expect(isBetter(third, undefined, search)).toBe(true);
    expect([isBetter(first, third, search), isBetter(third, first, search)]).toEqual([true, false]);
    expect([isBetter(first, second, search), isBetter(second, first, search)]).toEqual([false, false]);
  });

  test.each<[string, Partial<TaskStatus> & { readonly loss?: number }]>([
    ["loss 0.12346 at step 81 · lr=0.0031 depth=4", { loss: 0.123456, step: 81, params: { depth: "4", lr: "0.0031" } }],
    ["loss – · depth=4", { params: { depth: "4", other: "1" } }],
    ["loss NaN at step 0 · ", { step: 0, trial: { state: "running", nonFinite: "NaN" } }],
  ])("stand as: %s", (words, changes) => {
    expect(trialsOf({ tasks: [task(0, "running", changes)] }, search).map((trial) => standing(trial, search))).toEqual([
      words,
    ]);
  });
});

describe("how a search stands", () => {
  const line = (tasks: readonly TaskStatus[], of: Partial<SearchStatus> = {}, waiting = 0) => {
    const { trial: _, ...none } = task(99, "running");
    const status = aJobStatus({ tasks: [...tasks, ...Array.from({ length: waiting }, () => none)] });
    const all = { ...search, ...of };
    return countsLine(status, all, trialsOf(status, all));
  };
  const took = (startedAtMs: number, endedAtMs: number) => ({ startedAtMs, endedAtMs });

  test("is told by the numbers of those that ended, run, pause and are to come; what is none is left out", () => {
    expect(line([], {}, 2)).toBe("0 ended · 0 running · 2 to come");
    expect(line([task(0, "completed"), task(1, "running")], { trials: 5 })).toBe("1 ended · 1 running · 3 to come");
    const tasks = [task(0, "stopped"), task(1, "failed"), task(2, "paused"), task(3, "completed"), task(4, "running")];
    expect(line(tasks)).toBe("3 ended (1 stopped early, 1 failed) · 1 running · 1 paused · 0 to come");
    expect(line(tasks.slice(1, 2))).toBe("1 ended (1 failed) · 0 running · 0 to come");
  });

  test("is told by those that wait for a container, too: they do not run", () => {
    const waits = task(1, "running", { state: "waiting" });
    expect(line([task(0, "running"), waits], {}, 2)).toBe("0 ended · 1 running · 1 waiting · 2 to come");
  });

  test("is told by the time that is left, where three have ended, some run, and that is a second or more", () => {
    const ended = [10, 20, 60].map((seconds, at) => task(at, "completed", took(1_000, 1_000 + seconds * 1_000)));
    const [running, another] = [task(8, "running", { startedAtMs: 0 }), task(9, "running", took(0, 9))];
    // 30 s each, two at a time: half of those that run, and what is to come.
    expect(line([...ended, running, another], {}, 3)).toBe("3 ended · 2 running · 3 to come · about 1 min left");
    for (const tasks of [
      ended,
      [...ended.slice(1), running],
      [...ended.slice(1), task(2, "paused", took(0, 9)), running],
    ])
      expect(line(tasks, {}, 3)).not.toContain("left");
    const quick = [0, 1, 2].map((at) => task(at, "completed", took(0, 1_999)));
    expect(line([...quick, running])).not.toContain("left");
    expect(line([...quick.slice(1), task(3, "completed", took(0, 2_002)), running])).toContain("about 1 s left");
  });

  test("is told by the share of time in which containers did nothing, where that is known", () => {
    const containerTime = { heldMs: 1_000, startMs: 2, handOverMs: 3, barrierMs: 5, afterLastMs: 1 };
    expect(line([task(0, "failed")], { containerTime })).toMatch(/ · idle 1\.1 % of container time$/);
    // They have done nothing but start.
    const starting = { ...containerTime, startMs: 991 };
    expect(line([task(0, "running")], { containerTime: starting })).not.toContain("idle");
  });
});
