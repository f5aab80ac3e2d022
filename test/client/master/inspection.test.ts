import { describe, expect, jest, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import type { FollowUpdate } from "../../../client/master/attempt-connection.ts";
import { inspect, inspectionJson, inspectionLines } from "../../../client/master/inspection.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import type { TrialState } from "../../../src/job/search/trials.ts";
import type { JobStatus, TaskStatus } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs, outOfMemory } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { masterSaying } from "../speaking-master.ts";

const nowMs = noonishMs + 60_000;

describe("of a job is asked", () => {
  const noMaster = () => {
    throw new RangeError("there is no AM");
  };
  const running = aReport({ state: "RUNNING" });
  const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };
  const contact = async () => ({ attempt: 1, host: "n1", port: 1, access });
  /** What is found by an AM that tells so, and how often its connection was closed. */
  async function found(
    follow: (signal: AbortSignal) => AsyncGenerator<FollowUpdate>,
    explained?: Applications["explained"],
  ) {
    let closed = 0;
    const close = () => {
      closed += 1;
    };
    const link = { ...masterSaying(() => aJobStatus()), follow, close };
    const place = aPlace({ report: async () => running, contact, ...(explained && { explained }) });
    return { inspection: await inspect(running.id, place, () => link), closed };
  }

  test("its AM, whose word is completed by what the cluster knows", async () => {
    const told = aJobStatus({ attempt: 7 });
    const { inspection, closed } = await found(
      async function* () {
        yield { type: "status", status: told };
      },
      async (status) => ({ ...status, queue: "explained" }),
    );
    expect(inspection).toEqual({ report: running, status: { ...told, queue: "explained" } });
    expect(closed).toBe(1);
  });

  test("its AM for five seconds, and as long as the connection lasts", async () => {
    const remark = "its AM does not answer";
    const broken = await found(async function* () {
      yield* [];
      throw new Error("lost");
    });
    expect(broken).toMatchObject({ inspection: { remark }, closed: 1 });
    jest.useFakeTimers();
    const silent = found(async function* (signal) {
      yield* [];
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    });
    let isOver = false;
    void silent.then(() => {
      isOver = true;
    });
    await jest.advanceTimersByTimeAsync(4_999);
    expect(isOver).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    jest.useRealTimers();
    expect(await silent).toMatchObject({ inspection: { report: running, remark }, closed: 1 });
  });

  test("why there is none that can be asked: it waits, or nobody knows how to reach it", async () => {
    const waiting = await inspect(running.id, aPlace(), noMaster);
    const delay = { code: "manager-says", words: "queue ml has no room" };
    expect(waiting).toEqual({ report: aReport(), remark: "queue ml has no room", delay });
    const hidden = await inspect(running.id, aPlace({ report: async () => running }), noMaster);
    expect(hidden.remark).toBe("its AM cannot be asked: HDFS does not answer");
    const json = inspectionJson(hidden, nowMs);
    expect(json.status).toMatchObject({ applicationId: running.id, nowMs, tasks: [] });
    expect(inspectionJson(waiting, nowMs).status.waits).toMatchObject([{ delays: [delay] }]);
    expect(json).toMatchObject({ statusFrom: "resource-manager", report: running, remark: hidden.remark });
    expect(json).not.toHaveProperty("timeline");
  });

  test("what its AM left when it ended; of one's own that left nothing there is nothing to say", async () => {
    const ended = aReport({ state: "FINISHED", finalStatus: "SUCCEEDED" });
    const status = aJobStatus({ state: "succeeded" });
    const kept = aPlace({ report: async () => ended, finalStatus: async () => status });
    expect(await inspect(ended.id, kept, noMaster)).toEqual({ report: ended, status });
    expect(inspectionJson({ report: ended, status }, nowMs)).toMatchObject({ statusFrom: "am", status });
    expect(await inspect(ended.id, aPlace({ report: async () => ended }), noMaster)).toEqual({ report: ended });
    const away = aPlace({ report: async () => ended, noStatusReason: () => "HDFS does not answer" });
    expect((await inspect(ended.id, away, noMaster)).remark).toBe(
      "what became of its tasks cannot be read now: HDFS does not answer",
    );
  });
});

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

  test("all parts of it in their order, each kind apart from the others", () => {
    const [worker, ...others] = aJobStatus().tasks;
    if (worker === undefined) throw new Error("a worker");
    const output = {
      what: "output",
      state: "done",
      url: "hdfs:///out",
      files: 1,
      bytes: 5,
      step: 0,
      atMs: 1,
      reason: "",
    } as const;
    const counts = { splits: 4, used: 1, leftOut: 0, failures: [], triedAgain: 0, readers: [] };
    const status = aJobStatus({
      nowMs,
      generation: 2,
      usage: { memoryMiBSeconds: 1024 * 3600, vcoreSeconds: 7200, cost: { amount: 3.25, currency: "EUR" } },
      services: [{ name: "tensorboard", url: "http://n1:6006", task: "worker:0" }],
      resumeFrom: "/ckpt/3",
      checkpoint: { path: "/ckpt/5", step: 5, atMs: nowMs - 12_000 },
      droppedCheckpoint: { path: "/tmp/6", step: 6, task: "worker:1", atMs: nowMs },
      feeds: [{ name: "train", epoch: 0, epochs: 1, ...counts }],
      waits: [waitOf({ reason: { code: "executors", role: "worker", tasks: ["worker:1"] }, sinceMs: nowMs })],
      idle: { tasks: ["worker:0"], sinceMs: 0, untilMs: 600_000, cpuMs: 0, gpus: 0 },
      tasks: [
        {
          ...{ ...worker, rate: 0.5, metrics: { loss: 0.5 }, maxMemoryBytes: 2 ** 31, transfers: [output] },
          gpus: { count: 1, utilization: { current: 50, max: 60, average: 50 } },
        },
        ...others,
      ],
      generations: [
        { generation: 1, startedAtMs: noonishMs - 60_000, endedBy: outOfMemory({ summary: "worker:1 exited 1" }) },
        { generation: 2, startedAtMs: noonishMs },
      ],
    });
    const report = aReport({ state: "RUNNING", startTimeMs: noonishMs - 60_000 });
    const later = nowMs + 2_000;
    const lines = inspectionLines(
      { report, status: { ...status, state: "restarting" }, remark: "it may end soon" },
      later,
    );
    expect(lines.map((line) => line.split(/ {3,}/)[0])).toEqual([
      expect.stringMatching(/ · RESTARTING · queue ml · user ada · since \S+ \S+, 2 min 2 s$/),
      `  ${report.trackingUrl}`,
      "  it may end soon",
      "  generation 2 · program restarts: 0 of 2 used, infrastructure restarts: 0 of 10 used",
      expect.stringMatching(/^ {2}containers /),
      "  cost 3.3 EUR: 1 GiB·h, 2 core·h",
      "  tensorboard of worker:0: http://n1:6006",
      "  began with /ckpt/3",
      "  checkpoint step 5, 14 s old: /ckpt/5",
      expect.stringMatching(/^ {2}the checkpoint of step 6 lay in the container of worker:1 and is lost/),
      "  output hdfs:///out (1 file, 5 B)",
      "  feed train: 25% (1 of 4 splits)",
      "",
      "  worker",
      "  ps",
      "  waiting 2 s for the executors of worker:1",
      "",
      "idle: worker:0 used no CPU for 10 min",
      `  → tony-ts stacks ${status.applicationId}`,
      "",
      "task",
      "worker:0",
      "worker:1",
      "ps:0",
      "",
      "slow:",
      "  worker:0 runs at 50 % of the others' rate, on 127.0.0.11",
      "",
      "GPUs:",
      "  worker:0: 1 GPU, 50% busy (at most 60%)",
      "",
      "reported:",
      "  worker:0: loss 0.5",
      "",
      "generation",
      "1  13:59:00",
      "2  14:00:00",
    ]);
    expect(lines.find((line) => line.startsWith("worker:0 "))).toMatch(/ 2 GiB of 4 GiB /);
  });

  test("all that its AM says of it, each task in a row", () => {
    const [worker, other, ps] = aJobStatus().tasks;
    if (worker === undefined || other === undefined || ps === undefined) throw new Error("three tasks");
    const status = aJobStatus({
      nowMs,
      tasks: [
        {
          ...worker,
          step: 12,
          checkpointStep: 10,
          memoryBytes: 2 ** 30,
          cpuCores: 1.26,
          metrics: { loss: 0.4, n: 1234567.89 },
        },
        { task: "worker:1", state: "waiting", restarts: 0 },
        { ...ps, state: "failed", exit: "1" },
      ],
      resumeFrom: "/ckpt/3",
    });
    const report = aReport({
      state: "RUNNING",
      trackingUrl: "N/A",
      startTimeMs: noonishMs,
      diagnostics: "of no interest",
    });
    expect(inspectionLines({ report, status }, nowMs)).toEqual([
      expect.stringMatching(
        /^application_1795305600000_0009 {2}bert · RUNNING · queue ml · user ada · since \S+ \S+, 1 min$/,
      ),
      "  generation 1 · program restarts: 0 of 2 used, infrastructure restarts: 0 of 10 used",
      "  containers 1 min",
      "  began with /ckpt/3",
      "",
      "task       state     host         start      step   checkpoint   memory   memory peak   CPU         exit",
      "worker:0   running   127.0.0.11   14:00:05   12     step 10      1 GiB    –             1.3 cores   –",
      "worker:1   waiting   –            –          –      –            –        –             –           –",
      "ps:0       failed    127.0.0.11   14:00:05   –      –            –        –             –           1",
      "",
      "reported:",
      "  worker:0: loss 0.4, n 1234570",
    ]);
  });

  test("where it is on the cluster, in the words of the ResourceManager, as long as no AM speaks for it", () => {
    const report = aReport({ startTimeMs: noonishMs, diagnostics: "of no interest yet", queue: "root.a.ml" });
    expect(inspectionLines({ report, remark: "queue ml has no room" }, nowMs)).toEqual([
      expect.stringContaining(" · ACCEPTED · queue ml · user ada · since "),
      `  ${report.trackingUrl}`,
      "  queue ml has no room",
    ]);
    const unlisted = inspectionLines({ report: { ...report, trackingUrl: "" } }, nowMs);
    expect(unlisted).toHaveLength(1);
    const ended = { ...report, state: "FINISHED", finalStatus: "SUCCEEDED", trackingUrl: "N/A" } as const;
    expect(inspectionLines({ report: ended }, nowMs)).toEqual([expect.stringContaining(" · SUCCEEDED · ")]);
    const failed = { ...ended, finalStatus: "FAILED", diagnostics: " " } as const;
    expect(inspectionLines({ report: failed }, nowMs)).toEqual([expect.stringContaining(" · FAILED · ")]);
  });

  test("why its AMs ended where YARN gave them up, and what else is known", () => {
    const diagnostics =
      "Application application_1795305600000_0009 failed 2 times due to AM Container for appattempt_1795305600000_0009_000002 exited with  exitCode: 1";
    const report = aReport({ state: "FAILED", finalStatus: "FAILED", diagnostics });
    const lines = inspectionLines({ report, remark: "what became of its tasks cannot be read now" }, nowMs);
    expect(lines[0]).toBe("FAILED  application_1795305600000_0009  bert");
    expect(lines[2]).toMatch(/^Root cause .* 14:01:00/);
    expect(lines.at(-1)).toBe("what became of its tasks cannot be read now");
    // What an AM has said is more.
    expect(inspectionLines({ report, status: aJobStatus() }, nowMs)[0]).toContain(" · FAILED · queue ml · ");
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
    const told = { ...status, submittedAtMs: at(1) };
    expect(inspectionJson({ report, status: told }, at(60)).timeline?.fromMs).toBe(at(1));
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

  test("of a search how it stands, and its trials that have begun, by their numbers", () => {
    const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "" } as const;
    const task = (index: number, changes: Partial<TaskStatus>): TaskStatus => {
      return { task: `worker:${index}`, state: "waiting", restarts: 0, ...changes };
    };
    const trial = (state: TrialState) => ({ params: { lr: "0.1" }, trial: { state }, metrics: { loss: 0.5 } });
    const tasks = [
      task(0, { state: "stopped", exit: "SIGTERM", ...trial("paused") }),
      task(1, { state: "running", ...trial("running") }),
      task(2, { ...trial("running") }),
      task(3, {}),
    ];
    const lines = inspectionLines(
      { report: aReport({ state: "RUNNING" }), status: aJobStatus({ search, tasks }) },
      nowMs,
    );
    expect(lines).toContain("  trials: 0 ended · 1 running · 1 waiting · 1 paused · 1 to come");
    expect(lines).toContain("  best so far: loss 0.5 of trial 0 (lr=0.1)");
    const containerTime = { heldMs: 100_000, startMs: 1_000, handOverMs: 0, barrierMs: 0, afterLastMs: 0 };
    const timed = aJobStatus({ search: { ...search, containerTime }, tasks });
    expect(inspectionLines({ report: aReport({ state: "RUNNING" }), status: timed }, nowMs)).toContainEqual(
      expect.stringMatching(/^ {2}containers were held for 1 min 40 s in all/),
    );
    const table = lines.slice(lines.findIndex((line) => line.startsWith("task ")));
    expect(table.map((line) => line.split(/ +/).slice(0, 2).join(" "))).toEqual([
      "task state",
      "trial:0 paused",
      "trial:1 running",
      "trial:2 waiting",
    ]);
    const ofTwo = aJobStatus({ search: { ...search, trials: 1 }, tasks: [task(1, { state: "failed", exit: "1" })] });
    expect(inspectionLines({ report: aReport({ state: "RUNNING" }), status: ofTwo }, nowMs).at(-1)).toMatch(
      /^trial:0\/worker:1 +failed/,
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
    for (const known of [{ host: "n1" }, { startedAtMs: noonishMs }, { maxMemoryBytes: 1 }, { exit: "1" }]) {
      const one = { task: "worker:0", state: "waiting", restarts: 0, ...known } as const;
      expect(rows([one, ...others])).toEqual(["worker:0", "worker:1 to worker:39"]);
    }
    const launched = waiting("ps", 4).map(
      (task) => ({ ...task, state: "launched", restartReason: "waiting" }) as const,
    );
    expect(
      inspectionLines({ report: aReport({ state: "RUNNING" }), status: aJobStatus({ tasks: launched }) }, nowMs).filter(
        (line) => line.startsWith("ps:"),
      ),
    ).toHaveLength(4);
    expect(rows(waiting("ps", 4))).toEqual(["ps:0 to ps:3"]);
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
      expect.arrayContaining(["slow:", "  worker:1 runs at 32 % of the others' rate, on n1"]),
    );
    expect(shown(1, 0.75)).not.toContain("slow:");
  });

  test("what it costs, where it has prices", () => {
    const usage = { memoryMiBSeconds: 1024 * 3600, vcoreSeconds: 7200, cost: { amount: 3.25, currency: "EUR" } };
    const lines = inspectionLines({ report: aReport({ state: "RUNNING" }), status: aJobStatus({ usage }) }, nowMs);
    expect(lines).toContain("  cost 3.3 EUR: 1 GiB·h, 2 core·h");
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
    const unreported = aReport({ state: "RUNNING", startTimeMs: nowMs - 38_000 });
    expect(inspectionLines({ report: unreported, status }, nowMs + 2_000)[0]).toContain(" · 40 s · ");
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
