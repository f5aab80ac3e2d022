import { describe, expect, test } from "@jest/globals";
import { progressOf, statusOf } from "../../../../am/core/status/status.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const spec = jobSpec([role("worker", 2), role("ps", 1)]);

describe("the published status", () => {
  test("counts each role's tasks as far as they have come", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.allocateAll();
    scenario.ready("worker:0");
    expect(statusOf(scenario.core, scenario.nowMs)).toMatchObject({
      state: "gathering",
      generation: 1,
      roles: [
        { name: "worker", instances: 2, allocated: 2, registered: 1, running: 0, ended: 0 },
        { name: "ps", instances: 1, allocated: 1, registered: 0 },
      ],
    });
  });

  test("says when a generation had its containers, files, executors and programs", () => {
    const scenario = new Scenario(spec);
    const told = () => statusOf(scenario.core, scenario.nowMs).generations.at(-1);
    scenario.register();
    const startedAtMs = scenario.nowMs;
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1), scenario.container(1)] });
    scenario.after(1_000);
    scenario.ready("worker:0", { upMs: 400 });
    expect(told()).toEqual({ generation: 1, startedAtMs });
    scenario.allocateAll();
    const allocatedAtMs = scenario.nowMs;
    expect(told()).toEqual({ generation: 1, startedAtMs, allocatedAtMs });
    scenario.after(2_000);
    scenario.ready("worker:1", { upMs: 300 });
    const localizedAtMs = scenario.nowMs - 300;
    expect(told()).toEqual({ generation: 1, startedAtMs, allocatedAtMs });
    scenario.after(1_000);
    // Its files were there before those of the others.
    scenario.ready("ps:0", { upMs: 2_000 });
    expect(told()).toMatchObject({ allocatedAtMs, localizedAtMs });
    const registeredAtMs = scenario.nowMs;
    scenario.after(500);
    scenario.startedAll();
    expect(told()).toMatchObject({ allocatedAtMs, localizedAtMs, registeredAtMs, runningAtMs: scenario.nowMs });
  });

  test("says of a generation that its programs run from when they first did, whoever starts again alone", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { restartPolicy: "task" })]));
    scenario.toRunning();
    const runningAtMs = scenario.nowMs;
    scenario.after(5_000);
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.ready("worker:1");
    scenario.startedAll();
    expect(statusOf(scenario.core, scenario.nowMs).generations).toMatchObject([{ runningAtMs }]);
    expect(scenario.effects.filter((one) => one.type === "log" && one.event === "generation-running")).toHaveLength(1);
  });

  test("is that of its outcome once the job is over, and of its end until then", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.toRunning();
    const state = () => statusOf(scenario.core, scenario.nowMs).state;
    scenario.exits("worker:0");
    expect(state()).toBe("finishing");
    scenario.on({ type: "unregistered", isPutDown: true });
    expect(state()).toBe("succeeded");
    const replaced = new Scenario(jobSpec([role("worker", 1)]));
    replaced.toRunning();
    replaced.on({ type: "resource-manager-shutdown", reason: "another attempt" });
    expect(statusOf(replaced.core, replaced.nowMs).state).toBe("finishing");
  });

  test("says of no generation that its files were there before it began", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.allocateAll();
    for (const { id } of scenario.core.state.tasks) scenario.ready(id, { upMs: 60_000 });
    expect(statusOf(scenario.core, scenario.nowMs).generations).toMatchObject([
      { startedAtMs: scenario.nowMs, localizedAtMs: scenario.nowMs },
    ]);
  });

  test("never says that a generation's programs have run since a time in the future, whatever a machine's clock says", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.allocateAll();
    scenario.readyAll();
    for (const { id: task, containerId, generation } of scenario.core.state.tasks) {
      scenario.on({ type: "child-started", task, containerId, generation, pid: 7, atMs: scenario.nowMs + 3_600_000 });
    }
    const { generations, nowMs } = statusOf(scenario.core, scenario.nowMs);
    expect(generations[0]?.runningAtMs).toBe(nowMs);
  });

  test("counts no time for containers that the next generation keeps, nor for the files in them", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    const first = () => statusOf(scenario.core, scenario.nowMs).generations[0];
    const ran = first();
    expect(ran).toHaveProperty("registeredAtMs");
    scenario.after(60_000);
    scenario.exits("worker:0", { exitCode: 1 });
    expect(first()).toMatchObject({ ...ran });
    scenario.exits("worker:1", { exitCode: 143 });
    scenario.exits("ps:0", { exitCode: 143 });
    const second = () => statusOf(scenario.core, scenario.nowMs).generations[1];
    const { startedAtMs } = second() ?? {};
    expect(first()).toMatchObject({ ...ran });
    scenario.after(700);
    for (const task of ["worker:0", "worker:1", "ps:0"]) scenario.ready(task, { upMs: 61_000 });
    expect(second()).toMatchObject({ allocatedAtMs: startedAtMs, localizedAtMs: startedAtMs });
    expect(first()).toEqual({ ...ran, endedAtMs: expect.any(Number), endedBy: expect.anything() });
  });

  test("keeps what a generation took while containers for the next one are awaited", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    const told = () => statusOf(scenario.core, scenario.nowMs).generations;
    const [ran] = told();
    expect(ran).toHaveProperty("registeredAtMs");
    scenario.after(60_000);
    scenario.completes("c2", -100, "Container released on a *lost* node");
    scenario.stops("worker:0");
    scenario.stops("ps:0");
    const [first, second] = told();
    expect(first).toMatchObject({ ...ran, endedAtMs: expect.any(Number) });
    expect(second).toEqual({ generation: 2, startedAtMs: scenario.nowMs });
  });

  test("says what the job waits for, why, what helps and where the job sets it", () => {
    const scenario = new Scenario(spec);
    scenario.on({
      type: "nodes-changed",
      nodes: [
        {
          nodeId: "a:1",
          host: "a",
          rack: "/r",
          usable: true,
          labels: [],
          free: { memoryMiB: 512, vcores: 8, others: {} },
        },
      ],
    });
    scenario.register();
    scenario.on({ type: "headroom-changed", available: { memoryMiB: 512, vcores: 2, others: {} } });
    expect(statusOf(scenario.core, scenario.nowMs).waits[0]).toEqual({
      reason: {
        code: "containers",
        role: "worker",
        missing: 2,
        instances: 2,
        ask: "1 GiB, 1 core",
        settings: [
          { key: "tony.worker.instances" },
          { key: "tony.worker.memory", at: "job.xml:16" },
          { key: "tony.worker.vcores" },
        ],
      },
      delays: [{ code: "queue-full", queue: "default", left: "512 MiB, 2 cores", room: 0, short: ["memory"] }],
      fix: { code: "lower-ask", settings: [{ key: "tony.worker.memory", at: "job.xml:16" }], orWait: false },
      cause: "containers of worker",
      what: "2 of 2 containers of worker: 1 GiB, 1 core",
      sinceMs: scenario.nowMs,
      reasons: ["in queue default 512 MiB, 2 cores are free for this job: too little memory"],
      remedy: "lower tony.worker.memory (job.xml:16)",
    });
    expect(statusOf(scenario.core, scenario.nowMs).waits[1]?.what).toBe("1 container of ps: 1 GiB, 1 core");
  });

  test("counts the wait for executors from when their containers came, not from when these were asked for", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.after(60_000);
    scenario.allocateAll();
    expect(statusOf(scenario.core, scenario.nowMs).waits[0]).toMatchObject({
      what: "the executors of worker:0, worker:1",
      sinceMs: scenario.nowMs,
      endsAtMs: scenario.nowMs + spec.timeouts.launchMs,
    });
  });

  test("counts the wait for a later stage's executors from when their containers came to that stage", () => {
    const scenario = new Scenario(jobSpec([role("prep", 1), role("worker", 1, { dependsOn: ["prep"] })]));
    scenario.toRunning();
    scenario.after(60_000);
    scenario.exits("prep:0");
    expect(statusOf(scenario.core, scenario.nowMs).waits[0]).toMatchObject({
      what: "the executors of worker:0",
      sinceMs: scenario.nowMs,
    });
  });

  test("counts the wait for the journal from its first failure, however often it is tried again", () => {
    const scenario = new Scenario(spec);
    scenario.journalWorks = false;
    scenario.register();
    const failedAtMs = scenario.nowMs;
    scenario.allocateAll();
    scenario.readyAll();
    scenario.after(60_000);
    expect(statusOf(scenario.core, scenario.nowMs).waits).toContainEqual(
      expect.objectContaining({ what: "the journal", sinceMs: failedAtMs }),
    );
  });

  test("counts each wait at the end from its own beginning", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1, { tracking: "untracked" })]));
    scenario.toRunning();
    scenario.exits("worker:0");
    scenario.after(3_000);
    scenario.stops("ps:0");
    expect(scenario.core.state.outcome?.endedAtMs).toBe(scenario.nowMs - 3_000);
    expect(statusOf(scenario.core, scenario.nowMs).waits).toMatchObject([
      { reason: { code: "unregistration" }, sinceMs: scenario.nowMs },
    ]);
  });

  test("says when a gang in part gives back what it holds", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    expect(statusOf(scenario.core, scenario.nowMs).waits).toContainEqual(
      expect.objectContaining({
        what: "the rest of the gang",
        endsAtMs: scenario.nowMs + spec.timeouts.gangHoldMs,
        atEnd: expect.stringMatching(/^its containers are returned .*\(tony\.container\.hold-timeout\)$/),
      }),
    );
  });

  test("shows no wait while programs run, and keeps how each generation went", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    expect(statusOf(scenario.core, scenario.nowMs)).toMatchObject({ state: "running", waits: [] });
    scenario.exits("worker:1", { exitCode: 1, errorSummary: "ValueError" });
    scenario.stops("worker:0");
    scenario.stops("ps:0");
    const { generations, budgets } = statusOf(scenario.core, scenario.nowMs);
    expect(generations).toMatchObject([
      {
        generation: 1,
        endedBy: { class: "program", task: "worker:1", summary: "worker:1 exited 1 on n2: ValueError" },
      },
      { generation: 2 },
    ]);
    expect(budgets.program).toEqual({ used: 1, limit: 2 });
  });

  test("counts the wait for programs that stop from the moment at which their generation ended", () => {
    const scenario = new Scenario({
      ...spec,
      failure: { ...spec.failure, budgets: { program: 0, infrastructure: 0 } },
    });
    scenario.toRunning();
    scenario.after(60_000);
    scenario.exits("worker:1", { exitCode: 1 });
    expect(statusOf(scenario.core, scenario.nowMs).waits).toContainEqual(
      expect.objectContaining({ what: "the programs of worker:0", sinceMs: scenario.nowMs }),
    );
  });

  test("has the metrics that each program reported last, in its present life", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    const reports = (metrics?: Readonly<Record<string, number>>) =>
      scenario.on({
        type: "child-progress",
        task: "worker:0",
        containerId: "c1",
        generation: 1,
        step: 1,
        atMs: scenario.nowMs,
        ...(metrics && { metrics }),
      });
    reports({ loss: 0.4 });
    reports();
    const tasks = () => statusOf(scenario.core, scenario.nowMs).tasks;
    expect(tasks()[0]).toMatchObject({ task: "worker:0", metrics: { loss: 0.4 } });
    reports({ accuracy: 0.9 });
    expect(tasks()[0]?.metrics).toEqual({ accuracy: 0.9 });

    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    expect(tasks()[0]).not.toHaveProperty("metrics");
  });

  test("has the furthest complete checkpoint, and from which one each generation went on", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    const saves = (task: string, containerId: string, step: number) =>
      scenario.on({
        type: "child-progress",
        task,
        containerId,
        generation: 1,
        step: step + 7,
        atMs: scenario.nowMs,
        checkpoint: { path: "hdfs:///ckpt", step, atMs: scenario.nowMs },
      });
    saves("worker:0", "c1", 600);
    scenario.after(5_000);
    const savedAtMs = scenario.nowMs;
    saves("worker:0", "c1", 1200);
    saves("worker:1", "c2", 600);
    const checkpoint = { path: "hdfs:///ckpt", step: 1200, atMs: savedAtMs };
    const status = statusOf(scenario.core, scenario.nowMs);
    expect(status.checkpoint).toEqual(checkpoint);
    expect(status.tasks).toMatchObject([{ step: 1207, checkpointStep: 1200 }, { checkpointStep: 600 }, {}]);

    scenario.after(5_000);
    saves("worker:0", "c1", 1200);
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    const after = statusOf(scenario.core, scenario.nowMs);
    expect(after.generations[1]).toMatchObject({ generation: 2, resumedFrom: checkpoint });
    expect(after.tasks[0]).not.toHaveProperty("step");
    expect(
      scenario.effects.filter((effect) => effect.type === "record" && effect.event.type === "checkpoint"),
    ).toHaveLength(2);
  });

  test("has, of several tasks' parts of one step, the one that became complete last, as old as that one is", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    const savedAtMs = scenario.nowMs;
    const reports = (index: 0 | 1) =>
      scenario.on({
        type: "child-progress",
        task: `worker:${index}`,
        containerId: `c${index + 1}`,
        generation: 1,
        step: scenario.nowMs,
        atMs: scenario.nowMs,
        checkpoint: { path: `hdfs:///part-${index}`, step: 600, atMs: savedAtMs + index },
      });
    for (const index of [1, 0, 1, 0] as const) {
      scenario.after(1_000);
      reports(index);
    }
    const { checkpoint } = statusOf(scenario.core, scenario.nowMs);
    expect(checkpoint).toEqual({ path: "hdfs:///part-1", step: 600, atMs: savedAtMs + 1 });
    const recorded = scenario.effects.filter(
      (effect) => effect.type === "record" && effect.event.type === "checkpoint",
    );
    expect(recorded).toHaveLength(1);
  });

  test("adds up what the job holds over time", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    expect(statusOf(scenario.core, scenario.nowMs + 10_000).usage).toEqual({
      memoryMiBSeconds: 30_720,
      vcoreSeconds: 30,
    });
  });

  test("subtracts nothing from that where a clock is set back", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    const none = { memoryMiBSeconds: 0, vcoreSeconds: 0 };
    expect(statusOf(scenario.core, scenario.nowMs - 10_000).usage).toEqual(none);
  });

  test("says what the job costs where it was submitted with prices, GPUs included", () => {
    const worker = role("worker", 2);
    const base = jobSpec([{ ...worker, resource: { ...worker.resource, others: { "yarn.io/gpu": 2 } } }]);
    const prices = { gibHourPrice: 0.5, vcoreHourPrice: 1, gpuHourPrice: 3, currency: "EUR" };
    const scenario = new Scenario({ ...base, am: { ...base.am, ...prices } });
    scenario.register();
    const resource = { memoryMiB: 1024, vcores: 1, others: { "yarn.io/gpu": 2 } };
    const containers = [scenario.container(1, { resource }), scenario.container(1, { resource })];
    scenario.on({ type: "containers-allocated", containers });
    const hourLater = statusOf(scenario.core, scenario.nowMs + 3_600_000).usage;
    expect(hourLater).toEqual({
      memoryMiBSeconds: 2 * 1024 * 3600,
      vcoreSeconds: 2 * 3600,
      gpuSeconds: 4 * 3600,
      cost: { amount: 1 + 2 + 12, currency: "EUR" },
    });
    scenario.after(3_600_000);
    expect(statusOf(scenario.core, scenario.nowMs).usage).toEqual(hourLater);
  });
});

test("an outcome that is decided when the next generation has begun shows the tasks of the generation that it concerns", () => {
  const base = jobSpec([role("worker", 2)]);
  const budgets = { program: 0, infrastructure: 2 };
  const scenario = new Scenario({ ...base, failure: { ...base.failure, budgets } });
  scenario.toRunning();
  const [startedAtMs] = statusOf(scenario.core, scenario.nowMs).tasks.map((task) => task.startedAtMs);
  scenario.breaks("worker:1");
  scenario.after(2_500);
  scenario.stops("worker:0");
  expect(scenario.job).toMatchObject({ generation: 2, outcome: undefined });
  const usage = "69.4 MB of 64 MB physical memory used; 699.9 MB of 134.4 MB virtual memory used";
  scenario.completes("c2", -104, `beyond the 'PHYSICAL' memory limit. Current usage: ${usage}`);
  const { outcome, tasks } = statusOf(scenario.core, scenario.nowMs);
  expect(outcome?.cause).toMatchObject({ task: "worker:1", generation: 1, exit: "-104" });
  expect(tasks).toMatchObject([
    { task: "worker:0", state: "stopped", host: "n1", exit: "SIGTERM", startedAtMs },
    { task: "worker:1", state: "lost", host: "n2", exit: "-104", startedAtMs },
  ]);
});

test("a role's tasks are counted as they end, and the job restarts from a failure until all have stopped", () => {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  const status = () => statusOf(scenario.core, scenario.nowMs);
  scenario.exits("worker:0");
  expect(status().roles[0]).toMatchObject({ allocated: 2, registered: 2, running: 1, ended: 1 });
  scenario.exits("worker:1", { exitCode: 1 });
  expect(status()).toMatchObject({ state: "restarting", roles: [{}, { registered: 1, running: 1, ended: 0 }] });
  scenario.stops("ps:0");
  expect(status()).toMatchObject({ state: "gathering", roles: [{ allocated: 2, registered: 0, running: 0 }, {}] });
});

test("a task shows what it has by then: nothing at first, then where it runs, and why it was restarted", () => {
  const scenario = new Scenario(jobSpec([role("worker", 2, { restartPolicy: "task" })]));
  const tasks = () => statusOf(scenario.core, scenario.nowMs).tasks;
  expect(tasks()[0]).toEqual({ task: "worker:0", state: "waiting", restarts: 0 });
  scenario.toRunning();
  const startedAtMs = scenario.nowMs;
  expect(tasks()[1]).toEqual({
    ...{ task: "worker:1", state: "running", restarts: 0, startedAtMs },
    ...{ host: "n2", port: 30_001, containerId: "c2", nodeHttpAddress: "n2:8042" },
  });
  scenario.exits("worker:1", { exitCode: 1 });
  expect(tasks()[1]).toMatchObject({ state: "launched", restarts: 1, restartReason: "worker:1 exited 1 on n2" });
});

test("a task that has ended shows how, when and in which container, although that has gone back", () => {
  const scenario = new Scenario(jobSpec([role("worker", 2)], { distributedMode: "fcfs" }));
  scenario.toRunning();
  scenario.after(5_000);
  scenario.exits("worker:0");
  expect(scenario.task("worker:0").containerId).toBe("");
  const [task] = statusOf(scenario.core, scenario.nowMs).tasks;
  expect(task).toMatchObject({
    ...{ state: "succeeded", exit: "0", endedAtMs: scenario.nowMs },
    ...{ containerId: "c1", nodeHttpAddress: "n1:8042" },
  });
});

test("a role's own budget is shown beside the job's", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1, { retryCount: 4 })]));
  scenario.toRunning();
  scenario.exits("ps:0", { exitCode: 1 });
  const { budgets } = statusOf(scenario.core, scenario.nowMs);
  expect(budgets).toMatchObject({ program: { used: 0 }, roles: [{ role: "ps", used: 1, limit: 4 }] });
});

test("the job's progress counts failed and stopped tasks as well as those that succeeded", () => {
  const { failure } = spec;
  const scenario = new Scenario({ ...spec, failure: { ...failure, budgets: { program: 0, infrastructure: 0 } } });
  scenario.toRunning();
  scenario.exits("worker:1", { exitCode: 1 });
  expect(progressOf(scenario.core)).toBeCloseTo(1 / 3);
  scenario.stops("worker:0");
  expect(progressOf(scenario.core)).toBeCloseTo(2 / 3);
});

test("the job's progress is the share of its tasks that have ended", () => {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  expect(progressOf(scenario.core)).toBe(0);
  scenario.exits("worker:1");
  expect(progressOf(scenario.core)).toBeCloseTo(1 / 3);
});

test("a job whose only program ended by a signal says that YARN may still explain it, not that a task is missing", () => {
  const base = jobSpec([role("worker", 1)]);
  const scenario = new Scenario({ ...base, failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } } });
  scenario.toRunning();
  scenario.exits("worker:0", { exitCode: 143, signal: "SIGTERM", signalOfChild: true });
  const waits = statusOf(scenario.core, scenario.nowMs).waits.filter(({ reason }) => reason.code === "verdict");
  expect(waits.map(({ reasons }) => reasons)).toEqual([
    ["worker:0 ended by a signal, and YARN may yet say that it ended the container"],
  ]);
});
