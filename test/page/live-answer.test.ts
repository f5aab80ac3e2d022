import { describe, expect, test } from "@jest/globals";
import type { TrialState } from "../../src/job/search/trials.ts";
import type { SearchStatus, TaskStatus } from "../../src/job/status.ts";
import { eventLine, liveAnswer } from "../../src/page/live-answer.ts";
import { type LiveRequest, parseLiveRequest } from "../../src/page/live-request.ts";
import { aJobStatus } from "../client/job-status.ts";

const rates = new Map([
  ["worker:0", 10],
  ["worker:1", 4],
  ["worker:2", 12],
]);
const series = { fromMs: 0, spanMs: 5_000, series: [{ name: "cpu", rule: "mean", first: 0, values: [1] }] } as const;
const facts = { user: "ada", rateOf: (task: string) => rates.get(task), seriesOf: () => series, events: [] };

function task(number: number, changes: Partial<TaskStatus>): TaskStatus {
  return { task: `worker:${number}`, state: "running", restarts: 0, host: `gpu-${number}`, ...changes };
}
const tasks = [
  task(0, { cpuCores: 1, step: 7 }),
  task(1, { cpuCores: 3, memoryBytes: 5, step: 7 }),
  task(2, { cpuCores: 2, step: 7, state: "failed", exit: "1" }),
  { task: "ps:0", state: "waiting", restarts: 0 } as const,
];

function asked(query: string): LiveRequest {
  const request = parseLiveRequest(new URLSearchParams(query));
  if (request === undefined) throw new RangeError(query);
  return request;
}
const answer = (query = "", mayLook = true, nowMs = 5) =>
  JSON.parse(JSON.stringify(liveAnswer(aJobStatus({ tasks, nowMs }), facts, asked(query), mayLook)));
const shown = (query: string) => answer(query).tasks.rows.map((row: { task: string }) => row.task);

describe("an answer to the job's page", () => {
  test("has for who has not proved that he may look what YARN tells everybody, and nothing more", () => {
    const { rev, ...told } = answer("task=worker:0", false);
    expect(rev).toEqual(expect.any(Number));
    const { applicationId, attempt, name, queue, startedAtMs } = aJobStatus({});
    expect(told).toEqual({
      nowMs: 5,
      mayLook: false,
      job: { applicationId, attempt, name, queue, user: "ada", state: "running", startedAtMs },
    });
  });

  test("has nothing but the time where the page has it all, and all of it for another revision", () => {
    const { rev } = answer();
    expect(answer(`since=${rev}`, true, 9)).toEqual({ rev, nowMs: 9 });
    expect(answer(`since=${rev + 1}`).job).toBeDefined();
    expect(answer(`since=${rev}`, false).job).toBeDefined();
  });

  test("has the rows that are shown, sorted and filtered, those without a value last", () => {
    expect(shown("")).toEqual(["worker:0", "worker:1", "worker:2", "ps:0"]);
    expect(shown("order=down")).toEqual(["ps:0", "worker:2", "worker:1", "worker:0"]);
    expect(shown("sort=cpu")).toEqual(["worker:0", "worker:2", "worker:1", "ps:0"]);
    expect(shown("sort=cpu&order=down")).toEqual(["worker:1", "worker:2", "worker:0", "ps:0"]);
    expect(shown("from=1&count=2")).toEqual(["worker:1", "worker:2"]);
    expect(shown("filter=failed")).toEqual(["worker:2"]);
    expect(shown("filter=gpu-1")).toEqual(["worker:1"]);
    expect(shown("filter=GPU-1")).toEqual(["worker:1"]);
    expect(shown("sort=state")).toEqual(["worker:2", "worker:0", "worker:1", "ps:0"]);
    expect(shown("sort=host&order=down")).toEqual(["worker:2", "worker:1", "worker:0", "ps:0"]);
    expect(shown("sort=rate")).toEqual(["worker:1", "worker:0", "worker:2", "ps:0"]);
    expect(shown("sort=memory&order=down")).toEqual(["worker:1", "worker:0", "worker:2", "ps:0"]);
    expect(answer("filter=gpu-1").tasks).toMatchObject({ all: 4, matching: 1, from: 0 });
    expect(answer("from=1000").tasks).toMatchObject({ from: 3, rows: [{ task: "ps:0" }] });
    expect(answer("filter=nothing").tasks).toEqual({ all: 4, matching: 0, from: 0, rows: [] });
  });

  test("finds a node by its name in capitals, too", () => {
    const status = aJobStatus({ tasks: [task(0, { host: "GPU-Node-7" }), task(1, {})] });
    const { tasks: found } = JSON.parse(JSON.stringify(liveAnswer(status, facts, asked("filter=gpu-node"), true)));
    expect(found.rows.map((row: { task: string }) => row.task)).toEqual(["worker:0"]);
  });

  test("says what GPUs do of tasks that run, and of no others", () => {
    const gpus = { count: 1, utilization: { current: 40, max: 90, average: 50 } };
    const status = aJobStatus({ tasks: [task(0, { gpus }), task(1, { gpus, state: "succeeded" })] });
    const { tasks: told } = JSON.parse(JSON.stringify(liveAnswer(status, facts, asked("sort=gpu"), true)));
    expect(told.rows.map(({ gpu }: { gpu?: number }) => gpu)).toEqual([40, undefined]);
  });

  test("says how each wait ends", () => {
    const wait = { what: "containers", cause: "containers", sinceMs: 1, delays: [], reasons: ["full"] };
    const ends = { remedy: "wait", endsAtMs: 9, atEnd: "the job fails" };
    const waits = [{ ...wait, ...ends, reason: { code: "registration" } as const }];
    const told = JSON.parse(JSON.stringify(liveAnswer(aJobStatus({ waits }), facts, asked(""), true)));
    expect(told.waits).toEqual([{ what: "containers", sinceMs: 1, reasons: ["full"], ...ends }]);
  });

  test("has of a role that is looked at its own tasks, not those of one whose name begins alike", () => {
    const [of] = aJobStatus({}).roles;
    if (of === undefined) throw new Error("a role");
    const named = ["worker", "worker-b"].map((name) => ({ ...of, name }));
    const other: TaskStatus = { task: "worker-b:0", state: "running", restarts: 0 };
    const status = aJobStatus({ roles: named, tasks: [task(0, {}), task(1, {}), other] });
    const values: Readonly<Record<string, number>> = { "worker:0": 1, "worker:1": 3, "worker-b:0": 100 };
    const seriesOf = (name: string) => {
      const cpu = { name: "cpu", rule: "mean" as const, first: 2, values: [values[name] ?? 0] };
      return { fromMs: 7, spanMs: 5_000, series: [cpu] };
    };
    const told = JSON.parse(JSON.stringify(liveAnswer(status, { ...facts, seriesOf }, asked("task=worker"), true)));
    expect(told.chart).toMatchObject({ task: "worker", fromMs: 7, series: [{ name: "cpu", first: 2, values: [2] }] });
  });

  test("has the last events in words, the oldest first, and what there is to read of logs", () => {
    const atMs = Array.from({ length: 300 }, (_, index) => index);
    const events = atMs.map((at) => ({ type: "recovered", containers: at, atMs: at, generation: 1 }) as const);
    const told = (mayLook: boolean) =>
      JSON.parse(JSON.stringify(liveAnswer(aJobStatus({}), { ...facts, events, logs: "live" }, asked(""), mayLook)));
    expect(told(true)).toMatchObject({ logs: "live" });
    expect(told(true).events).toHaveLength(200);
    expect(told(true).events.at(-1)).toEqual({ atMs: 299, generation: 1, text: "recovered: containers 299" });
    expect(told(true).events[0]).toMatchObject({ atMs: 100 });
    expect(told(false)).not.toHaveProperty("events");
    expect(told(false)).not.toHaveProperty("logs");
  });

  test("says how far each feed is, who is slow and what is left out", () => {
    const reader = { splits: 4, rows: 400, sinceMs: 0, usedAtMs: 1_000, isDone: false };
    const failure = { split: 7, path: "hdfs:///a", start: 0, end: 9, reason: "not read" };
    const feed = {
      ...{ name: "train", epoch: 0, epochs: 1, splits: 40, used: 10, leftOut: 1, failures: [failure], triedAgain: 0 },
      readers: [
        { ...reader, task: "worker:0" },
        { ...reader, task: "worker:1", rows: 100 },
      ],
    };
    const { feeds } = JSON.parse(
      JSON.stringify(liveAnswer(aJobStatus({ feeds: [feed], nowMs: 2_000 }), facts, asked(""), true)),
    );
    expect(feeds).toMatchObject([{ name: "train", used: 10, leftOut: 1, splits: 40 }]);
    expect(feeds[0].lines.join("\n")).toMatch(/worker:1 is at 25% of the others' rate[\s\S]*split 7 \(hdfs:\/\/\/a/);
  });

  test("has a search's best trials, the best first, and how many there are", () => {
    const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "x" } as const;
    const trial = (number: number, state: "completed" | "running", loss: number) =>
      task(number, { params: { lr: `0.${number}` }, metrics: { loss }, trial: { state } });
    const board = aJobStatus({ search, tasks: [trial(1, "completed", 0.5), trial(2, "completed", 0.25)] });
    const told = JSON.parse(JSON.stringify(liveAnswer(board, facts, asked(""), true)));
    expect(told.search).toMatchObject({
      metric: "loss",
      best: "trial 1 · loss 0.25 · lr=0.2",
      counts: expect.stringMatching(/^2 ended · 0 running/),
      trials: [
        { number: 1, task: "worker:2", state: "completed", value: "0.25", params: "lr=0.2" },
        { number: 0, task: "worker:1", value: "0.5" },
      ],
    });
    expect(told.search).not.toHaveProperty("rules");
    expect(answer("")).not.toHaveProperty("search");
  });

  test("has what a search is, what its containers did besides, and why trials were stopped or failed", () => {
    const containerTime = { heldMs: 100_000, startMs: 1_000, handOverMs: 500, barrierMs: 0, afterLastMs: 100 };
    const search: SearchStatus = {
      ...{ metric: "loss", direction: "minimize", parameters: ["lr", "opt"], command: "x" },
      ...{ space: ["float 0 1", "choice adam sgd"], algorithm: "tpe", stop: "asha", maxParallel: 4 },
      ...{ budget: { min: 1, max: 81, factor: 3 }, containerTime },
    };
    const trial = (number: number, state: TrialState, why?: string) =>
      task(number, { params: { lr: "1" }, trial: { state, ...(why !== undefined && { why }) } });
    const tasks = [trial(0, "stopped", "its 0.5 is not among the best"), trial(1, "failed", "worker:1 exited 1 on n1")];
    const told = (given: SearchStatus) =>
      JSON.parse(JSON.stringify(liveAnswer(aJobStatus({ search: given, tasks }), facts, asked(""), true))).search;
    expect(told(search)).toMatchObject({
      rules: "tpe with asha at steps 1, 3, 9, 27 of 81, minimize loss · 2 trials, 4 at once",
      space: [
        { name: "lr", values: "float 0 1" },
        { name: "opt", values: "choice adam sgd" },
      ],
      idle: "1.6 % of its containers' time was idle: start 1.0 %, hand-over 0.5 %, waiting for results 0.0 %, after their last trial 0.1 %",
      trials: [{ why: "its 0.5 is not among the best" }, { why: "exited 1 on n1" }],
    });
    const long = [trial(0, "stopped", "x".repeat(5_000)), trial(1, "running")];
    const cut = JSON.parse(JSON.stringify(liveAnswer(aJobStatus({ search, tasks: long }), facts, asked(""), true)));
    expect(cut.search.trials.map(({ why }: { why?: string }) => why?.length)).toEqual([1_000, undefined]);
    expect(cut.search.trials[1].value).not.toContain("so far");
    // A page is not told each second that containers are held for a second longer.
    const later = { ...search, containerTime: { ...containerTime, heldMs: 100_010 } };
    expect(told(later)).toEqual(told(search));
  });

  test("has trials that have ended or pause first, then those that run, whatever their values so far, then those that failed", () => {
    const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "x" } as const;
    const states = ["failed", "running", "completed", "running", "paused", "stopped", "interrupted"] as const;
    const trial = (state: (typeof states)[number], index: number) =>
      task(index, { params: { lr: "1" }, metrics: { loss: index / 10 }, trial: { state } });
    const told = JSON.parse(
      JSON.stringify(liveAnswer(aJobStatus({ search, tasks: states.map(trial) }), facts, asked(""), true)),
    );
    expect(told.search.best).toMatch(/^trial 2 /);
    expect(told.search.trials.map(({ number }: { number: number }) => number)).toEqual([2, 4, 5, 6, 1, 3, 0]);
    expect(told.search.trials.slice(3, 6).map(({ value }: { value: string }) => value)).toEqual([
      "0.6",
      "0.1 so far",
      "0.3 so far",
    ]);
  });

  test("has the trials that run beside the best twenty, and calls none slow: each has other parameters", () => {
    const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "x" } as const;
    const states = [...Array(3).fill("running"), ...Array(30).fill("paused"), "failed"] as const;
    const tasks = states.map((state, index) =>
      task(index, { params: { lr: "1" }, metrics: { loss: index }, trial: { state }, step: 9 }),
    );
    const rated = { ...facts, rateOf: (name: string) => (name === "worker:0" ? 0.1 : 1) };
    const told = JSON.parse(JSON.stringify(liveAnswer(aJobStatus({ search, tasks }), rated, asked(""), true)));
    const numbers = told.search.trials.map(({ number }: { number: number }) => number);
    expect([numbers.length, numbers.slice(20), told.search.begun]).toEqual([23, [0, 1, 2], 34]);
    expect(told.tasks.rows[0]).not.toHaveProperty("rate");
  });

  test("has a job without tasks, as one whose command runs in its ApplicationMaster", () => {
    const told = liveAnswer(aJobStatus({ roles: [], tasks: [] }), facts, asked("from=50&sort=cpu"), true);
    expect(told).toMatchObject({ status: { roles: [] }, tasks: { all: 0, matching: 0, from: 0, rows: [] } });
  });

  test("has advice where it is given", () => {
    const advice = { runs: 2, lines: ["worker.vcores 8 → 3"], settings: ["tony.worker.vcores=3"] };
    expect(liveAnswer(aJobStatus({}), { ...facts, advice }, asked(""), true)).toMatchObject({ advice });
    expect(answer("")).not.toHaveProperty("advice");
  });

  test("measures each task's steps a second by the median of its role", () => {
    const told = [0.25, undefined].map((rate, number) => task(number, rate === undefined ? {} : { rate }));
    const { rateOf: _none, ...running } = facts;
    const live = JSON.stringify(liveAnswer(aJobStatus({ tasks: told }), running, asked(""), true));
    expect(JSON.parse(live).tasks.rows.map(({ rate }: { rate?: number }) => rate)).toEqual([0.25, undefined]);
    const rows = answer().tasks.rows.map(({ task: name, rate }: { task: string; rate?: number }) => [name, rate]);
    expect(rows).toEqual([
      ["worker:0", 1],
      ["worker:1", 0.4],
      ["worker:2", 1.2],
      ["ps:0", undefined],
    ]);
  });

  test("says what the job held, and what that cost where it has prices", () => {
    const usage = { memoryMiBSeconds: 1024 * 3600, vcoreSeconds: 7200 };
    const useOf = (more: object) =>
      JSON.parse(JSON.stringify(liveAnswer(aJobStatus({ usage: { ...usage, ...more } }), facts, asked(""), true)))
        .status.use;
    expect(useOf({})).toEqual({ held: "1 GiB·h, 2 core·h" });
    const priced = { gpuSeconds: 3600, cost: { amount: 12, currency: "EUR" } };
    expect(useOf(priced)).toEqual({ held: "1 GiB·h, 2 core·h, 1 GPU·h", cost: "12 EUR" });
  });

  test("has the series of the task that is looked at alone", () => {
    expect(answer("task=worker:0").chart).toEqual({ task: "worker:0", ...series });
    expect(answer().chart).toBeUndefined();
    expect(answer("task=worker").chart).toEqual({ task: "worker", ...series });
    expect(answer("task=nobody").chart).toEqual({ task: "nobody", ...series });
  });
});

const occasion = { atMs: 20, generation: 1, task: "worker:0", containerId: "c1" };

test.each([
  [{ type: "task-ended", exit: "3", result: "failed" } as const, "task ended: exit 3, result failed"],
  [{ type: "cluster-spec-sent" } as const, "cluster spec sent"],
  [
    {
      type: "task-failed",
      class: "program",
      reason: { code: "program-exited", task: "worker:0", host: "n1", exitCode: 3 },
    } as const,
    "task failed (program): worker:0 exited 3 on n1",
  ],
  [
    { type: "task-ended", exit: "y".repeat(5_000), result: "failed" } as const,
    `task ended: exit ${"y".repeat(1_000 - "task ended: exit ".length)}`,
  ],
])("an event is told in words: %#", (happening, text) => {
  expect(eventLine({ ...occasion, ...happening })).toEqual({ atMs: 20, generation: 1, task: "worker:0", text });
});
