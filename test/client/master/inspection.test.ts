import { describe, expect, test } from "@jest/globals";
import { inspect, inspectionJson, inspectionLines } from "../../../client/master/inspection.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";
import { aPlace } from "../place.ts";

const nowMs = noonishMs + 60_000;

describe("what status shows of a job", () => {
  test("the age of its checkpoint, and where it can be watched", () => {
    const checkpoint = { path: "/ckpt/5", step: 5, atMs: nowMs - 12_000 };
    const services = [{ name: "tensorboard", url: "http://127.0.0.11:41877", task: "worker:0" }];
    const running = aJobStatus({ checkpoint, services });
    expect(inspectionLines({ report: aReport({ state: "RUNNING" }), status: running }, nowMs)).toEqual(
      expect.arrayContaining([
        "  tensorboard of worker:0: http://127.0.0.11:41877",
        "  checkpoint step 5, 12 s old: /ckpt/5",
      ]),
    );
  });

  test("how long before its end the checkpoint of a job that has ended was saved, whenever it is asked", () => {
    const outcome = { ...allSucceeded, endedAtMs: noonishMs };
    const ended = aJobStatus({ checkpoint: { path: "/ckpt/5", step: 5, atMs: noonishMs - 12_000 }, outcome });
    for (const askedMs of [nowMs, nowMs + 3_600_000]) {
      expect(inspectionLines({ report: aReport({ state: "FINISHED" }), status: ended }, askedMs)).toContain(
        "  checkpoint step 5, saved 12 s before the end: /ckpt/5",
      );
    }
  });

  test("what its time went to, of a job in stages for each of them, as text and as data", () => {
    const at = (seconds: number) => noonishMs + seconds * 1_000;
    const only = {
      generation: 1,
      startedAtMs: at(4),
      allocatedAtMs: at(9),
      localizedAtMs: at(24),
      runningAtMs: at(26),
    };
    const report = aReport({ state: "RUNNING", startTimeMs: at(0) });
    const shown = (status: JobStatus) => inspectionLines({ report, status }, at(60));
    const status = aJobStatus({ startedAtMs: at(4), nowMs: at(60), generations: [only] });
    const words = "  queued 4.0 s · containers 5.0 s · files 15 s · programs 2.0 s · running 34 s";
    expect(shown(status)).toContain(words);
    expect(inspectionJson({ report, status }, at(60)).timeline).toMatchObject({
      fromMs: at(0),
      toMs: at(60),
      start: [{ phase: "queued", fromMs: at(0), toMs: at(4) }],
    });
    const stages = [
      { ...only, endedAtMs: at(40), roles: ["prepare"] },
      { generation: 2, startedAtMs: at(40), roles: ["train"] },
    ];
    expect(shown({ ...status, generations: stages })).toEqual(
      expect.arrayContaining([
        "  queued 4.0 s",
        "  prepare: containers 5.0 s · files 15 s · programs 2.0 s · running 14 s",
        "  train: containers 20 s",
      ]),
    );
  });

  test("many tasks of a role that wait as one row, those of which more is known for themselves", () => {
    const waiting = (role: string, count: number) =>
      Array.from(
        { length: count },
        (_, index) => ({ task: `${role}:${index}`, state: "waiting", restarts: 0 }) as const,
      );
    const [first, ...others] = waiting("worker", 40);
    const lost = {
      ...waiting("worker", 1)[0],
      task: "worker:0",
      state: "waiting",
      restarts: 1,
      host: "n1",
      exit: "1",
    } as const;
    const rows = (tasks: JobStatus["tasks"]) =>
      inspectionLines({ report: aReport({ state: "RUNNING" }), status: aJobStatus({ tasks }) }, nowMs)
        .filter((line) => line.includes("waiting"))
        .map((line) => line.split(/ {2,}/)[0]);
    expect(rows([first, ...others, ...waiting("ps", 3)].flatMap((one) => one ?? []))).toEqual([
      "worker:0 to worker:39",
      "ps:0",
      "ps:1",
      "ps:2",
    ]);
    expect(rows([lost, ...others])).toEqual(["worker:0", "worker:1 to worker:39"]);
  });

  test("who is slow, in the words of the advice, and where", () => {
    const task = (number: number, rate: number) =>
      ({ task: `worker:${number}`, state: "running", restarts: 0, host: `n${number}`, rate }) as const;
    const shown = (...rates: number[]) =>
      inspectionLines(
        {
          report: aReport({ state: "RUNNING" }),
          status: aJobStatus({ tasks: rates.map((rate, number) => task(number, rate)) }),
        },
        nowMs,
      );
    expect(shown(1, 0.32, 0.75)).toEqual(
      expect.arrayContaining(["slow:", "  worker:1 goes at 32 % of the others' rate, on n1"]),
    );
    expect(shown(1, 0.75)).not.toContain("slow:");
  });

  test("what the GPUs of its tasks do", () => {
    const gauge = (current: number, max: number) => ({ current, max, average: current });
    const gpus = { count: 2, utilization: gauge(83.4, 97), memory: gauge(41, 60), bar1Memory: gauge(1, 1) };
    const status = aJobStatus({ tasks: [{ task: "worker:0", state: "running", restarts: 0, gpus }] });
    expect(inspectionLines({ report: aReport({ state: "RUNNING" }), status }, nowMs)).toEqual(
      expect.arrayContaining([
        "GPUs:",
        "  worker:0: 2 GPUs, 83% busy (at most 97%), 41% of their memory used (at most 60%)",
      ]),
    );
  });

  test("what the GPUs of a task that has ended did at most: now they do nothing", () => {
    const gpus = { count: 2, utilization: { current: 83, max: 97, average: 83 } };
    const status = aJobStatus({ tasks: [{ task: "worker:0", state: "succeeded", restarts: 0, gpus }] });
    const lines = inspectionLines({ report: aReport({ state: "RUNNING" }), status }, nowMs);
    expect(lines).toContain("  worker:0: 2 GPUs, at most 97% busy");
  });

  test("a failure lasted from its submission to its end, as tony-ts list says", () => {
    const outcome = {
      ...endedBecause("killed", { code: "stop-requested", words: "enough" }),
      endedAtMs: nowMs - 30_000,
    };
    const status = aJobStatus({ state: "killed", outcome });
    const report = aReport({ state: "KILLED", startTimeMs: nowMs - 38_000, finishTimeMs: nowMs });
    expect(inspectionLines({ report, status }, nowMs)[0]).toContain(" · 38 s · ");
  });

  test("of another one's job that has ended, that its tasks are kept for that one alone", async () => {
    const report = aReport({ state: "FINISHED", finalStatus: "FAILED", user: "bob", diagnostics: "worker:0 exited 1" });
    const connect = () => {
      throw new RangeError("there is no AM");
    };
    const found = await inspect(report.id, aPlace({ report: async () => report }), connect);
    const said = "only bob can see what became of its tasks";
    expect(inspectionLines(found, nowMs)).toEqual(expect.arrayContaining([`  ${said}`, "  worker:0 exited 1"]));
    expect(inspectionJson(found, nowMs).remark).toBe(said);
  });

  test("of a job that uses nothing, since when and how to find out why", () => {
    const idle = { tasks: ["worker:0", "worker:1", "ps:0"], sinceMs: 0, untilMs: 600_000, cpuMs: 0, gpus: 0 };
    const status = aJobStatus({ idle });
    expect(inspectionLines({ report: aReport({ state: "RUNNING" }), status }, nowMs)).toEqual(
      expect.arrayContaining([
        "idle: worker:0, worker:1, ps:0 used no CPU for 10 min",
        `  → tony-ts stacks ${status.applicationId}`,
      ]),
    );
  });

  test("how far its feeds are", () => {
    const counts = { splits: 4, used: 1, leftOut: 0, failures: [], triedAgain: 0, readers: [] };
    const status = aJobStatus({ feeds: [{ name: "train", epoch: 0, epochs: 1, ...counts }] });
    expect(inspectionLines({ report: aReport({ state: "RUNNING" }), status }, nowMs)).toContain(
      "  feed train: 25% (1 of 4 splits)",
    );
  });

  test("of a job that has ended, nothing that ended with it", () => {
    const services = [{ name: "tensorboard", url: "http://127.0.0.11:41877", task: "worker:0" }];
    const outcome = { ...allSucceeded, endedAtMs: nowMs };
    const status = aJobStatus({ state: "succeeded", services, outcome });
    const report = aReport({ state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: nowMs });
    const lines = inspectionLines({ report, status }, nowMs);
    expect(lines.join("\n")).not.toContain("41877");
    expect(lines[0]).toMatch(/ · started \d{4}-\d\d-\d\d \d\d:\d\d, took /);
  });
});
