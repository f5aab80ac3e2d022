import { beforeEach, describe, expect, test } from "@jest/globals";
import { Idleness, type IdlenessOptions } from "../../am/idleness.ts";
import { idleWords } from "../../src/job/idle.ts";
import type { JobStatus, TaskStatus } from "../../src/job/status.ts";
import { aJobStatus } from "../client/job-status.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const sampleMs = 5 * secondMs;

const task = (index: number, changes: Partial<TaskStatus> = {}): TaskStatus => ({
  ...{ task: `worker:${index}`, state: "running", containerId: `c${index}`, restarts: 0, startedAtMs: 0 },
  ...changes,
});
const status = (...tasks: readonly TaskStatus[]) => aJobStatus({ tasks });

/** A job of which executors tell every five seconds, and what is said of it, by the minute. */
class Job {
  readonly said: Record<number, string> = {};
  readonly idleness: Idleness;
  nowMs = 0;
  current: JobStatus = status(task(0), task(1));
  readonly #cpuMs: Record<string, number> = {};

  constructor(options: Partial<IdlenessOptions> = {}) {
    this.idleness = new Idleness({
      ...{ afterMs: 10 * minuteMs, metricsIntervalMs: sampleMs, gpusOf: () => 0, othersRun: () => false },
      ...options,
    });
  }

  /** Time passes, in which the programs use so much in each sample. */
  passes(minutes: number, usedMs: Readonly<Record<string, number>> = {}, utilization?: number): void {
    for (const untilMs = this.nowMs + minutes * minuteMs; this.nowMs < untilMs; ) {
      this.nowMs += sampleMs;
      for (const { task, containerId = "" } of this.current.tasks) this.tells(task, containerId, usedMs, utilization);
      this.looks();
    }
  }

  looks(): void {
    const idle = this.idleness.look(this.nowMs, () => this.current);
    if (idle !== undefined) this.said[Math.round(this.nowMs / minuteMs)] = idleWords(idle);
  }

  /** What people are shown now. */
  get shown(): string | undefined {
    const { idle } = this.idleness.addTo(this.current);
    return idle && idleWords(idle);
  }

  tells(id: string, containerId: string, usedMs: Readonly<Record<string, number>>, utilization?: number): void {
    const cpuMs = (this.#cpuMs[containerId] ?? 500) + (usedMs[id] ?? 0);
    this.#cpuMs[containerId] = cpuMs;
    const memory = { memoryBytes: 1, maxMemoryBytes: 1, averageMemoryBytes: 1 };
    const gauge = utilization === undefined ? {} : { utilization: { current: utilization, max: 100, average: 50 } };
    const gpus = utilization === undefined ? {} : { gpus: { count: 1, ...gauge } };
    this.idleness.heard(containerId, id, { ...memory, cpuCores: 0, cpuMs, processes: 1, ...gpus }, this.nowMs);
  }
}

let job: Job;
beforeEach(() => {
  job = new Job();
});

describe("a job whose programs use nothing", () => {
  test("is shown as such no more as soon as one of its executors is not heard", () => {
    job.passes(11);
    expect(job.shown).toBeDefined();
    job.idleness.forget("c0");
    expect(job.shown).toBeUndefined();
  });

  test("is told of once, with what was measured, and shown as long as it lasts", () => {
    job.passes(9);
    expect(job.shown).toBeUndefined();
    job.passes(31);
    expect(job.said).toEqual({ 10: "worker:0, worker:1 used no CPU for 10 min" });
    expect(job.shown).toBe("worker:0, worker:1 used no CPU for 39 min 50 s");
  });

  test("a program that only looks whether something has come is idle; how much it used is said", () => {
    job.passes(11, { "worker:0": 50 });
    expect(job.said).toEqual({ 10: "worker:0, worker:1 used 6 s of CPU in 10 min" });
  });

  test("what one of them does ends it, and is told of anew when it has stopped", () => {
    job.passes(12);
    job.passes(1, { "worker:1": 400 });
    expect(job.shown).toBeUndefined();
    job.passes(12);
    expect(Object.keys(job.said)).toEqual(["10", "23"]);
  });

  test("is shown as such no more from the first sample on that found one at work", () => {
    job.passes(11);
    job.tells("worker:1", "c1", { "worker:1": 400 });
    expect(job.shown).toBeUndefined();
  });

  test("the kernel's own tick or two between samples that follow each other soon are no work", () => {
    job.passes(11);
    job.nowMs += 100;
    job.tells("worker:1", "c1", { "worker:1": 20 });
    expect(job.shown).toBeDefined();
    job.nowMs += 100;
    job.tells("worker:1", "c1", { "worker:1": 21 });
    expect(job.shown).toBeUndefined();
  });

  test("is looked at every ten seconds, and more often where it is told of sooner", () => {
    const looksIn30s = (afterMs: number) => {
      const { idleness, current } = new Job({ afterMs });
      let looks = 0;
      const look = () => {
        looks += 1;
        return current;
      };
      for (let nowMs = 0; nowMs < 30 * secondMs; nowMs += secondMs) idleness.look(nowMs, look);
      return looks;
    };
    expect([60 * minuteMs, 20 * secondMs].map(looksIn30s)).toEqual([3, 6]);
  });

  test("is shown no more while the job waits", () => {
    job.passes(11);
    job.current = { ...job.current, state: "gathering" };
    expect(job.shown).toBeUndefined();
  });

  test("lasts until the oldest of the programs' last samples", () => {
    job.passes(11);
    job.nowMs += 30 * secondMs;
    job.tells("worker:0", "c0", {});
    job.looks();
    expect(job.shown).toBe("worker:0, worker:1 used no CPU for 10 min 55 s");
  });

  test("one that works is enough for silence, as is one that waits for nobody but the others", () => {
    job.passes(30, { "worker:1": 400 });
    expect(job.said).toEqual({});
  });

  test("only what runs counts: neither what has ended, nor a job that waits", () => {
    job.current = status(task(0), task(1, { state: "succeeded" }));
    job.passes(11);
    expect(job.said).toEqual({ 10: "worker:0 used no CPU for 10 min" });
    const waiting = new Job();
    waiting.current = { ...status(task(0)), state: "gathering" };
    waiting.passes(11);
    expect(waiting.said).toEqual({});
  });

  test("a program that was started again in its container has been idle since then", () => {
    job.passes(9);
    job.current = status(task(0, { startedAtMs: job.nowMs }), task(1));
    job.passes(9);
    expect(job.said).toEqual({});
    job.passes(2);
    expect(Object.keys(job.said)).toEqual(["19"]);
  });

  test("nobody is told where the time is 0", () => {
    const job = new Job({ afterMs: undefined });
    job.passes(60);
    expect(job.said).toEqual({});
    expect(job.shown).toBeUndefined();
  });
});

describe("what is not measured is not said", () => {
  test("of a program of which no sample came", () => {
    job.passes(9);
    job.current = status(task(0), task(1), task(2, { containerId: "" }));
    job.passes(9);
    expect(job.said).toEqual({});
  });

  test("while an executor is silent, and of the time in which its stream was broken", () => {
    job.passes(12);
    job.nowMs += 5 * minuteMs;
    job.looks();
    expect(job.shown).toBeUndefined();
    const broken = new Job();
    broken.passes(9);
    broken.idleness.forget("c1");
    broken.passes(9);
    expect(broken.said).toEqual({});
  });

  test("of a program whose samples come once a minute, when four of them have not come", () => {
    const job = new Job({ metricsIntervalMs: minuteMs });
    job.passes(11);
    job.nowMs += 4 * minuteMs;
    job.looks();
    expect(job.shown).toBeDefined();
    job.nowMs += minuteMs;
    job.looks();
    expect(job.shown).toBeUndefined();
  });

  test("of processes that people or MPI's launcher start beside the programs", () => {
    let run = true;
    const job = new Job({ othersRun: () => run });
    job.passes(30);
    expect(job.said).toEqual({});
    run = false;
    job.idleness.othersRan();
    job.passes(9);
    expect(job.said).toEqual({});
    job.passes(2);
    expect(Object.keys(job.said)).toEqual(["40"]);
  });
});

describe("a job that has GPUs", () => {
  test("is idle when every sample found them at 0%", () => {
    const job = new Job({ gpusOf: () => 1 });
    job.passes(11, {}, 0);
    expect(job.said).toEqual({
      10: "worker:0, worker:1 used no CPU for 10 min, and their GPUs were at 0% in every sample",
    });
    job.passes(1, {}, 3);
    expect(job.shown).toBeUndefined();
  });

  test("is shown as idle no more from the first sample on that found one at work, and begins anew with the next", () => {
    const job = new Job({ gpusOf: () => 1 });
    job.passes(11, {}, 0);
    job.tells("worker:1", "c1", {}, 3);
    expect(job.shown).toBeUndefined();
    job.passes(9, {}, 0);
    expect(job.shown).toBeUndefined();
    job.passes(2, {}, 0);
    expect(Object.keys(job.said)).toEqual(["10", "21"]);
  });

  test("nothing is said while they work, though no processor does, nor where they are not measured", () => {
    const busy = new Job({ gpusOf: () => 1 });
    busy.passes(30, {}, 100);
    expect(busy.said).toEqual({});
    const unmeasured = new Job({ gpusOf: () => 1 });
    unmeasured.passes(30);
    expect(unmeasured.said).toEqual({});
  });
});
