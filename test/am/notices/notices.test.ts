import { expect, test } from "@jest/globals";
import { type NoticeLimits, Notices } from "../../../am/notices/notices.ts";
import type { JobStatus, TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus, allSucceeded, noonishMs, outOfMemory } from "../../client/job-status.ts";

const minuteMs = 60_000;
const limits: NoticeLimits = {
  notifyWaitingMs: 10 * minuteMs,
  notifyGpuIdleMs: 10 * minuteMs,
  notifyStragglerMs: 5 * minuteMs,
  notifyNoCheckpointMs: 30 * minuteMs,
};

/** What is told in which minute; the status may change with time. */
function told(
  minutes: number,
  changesAt: (minute: number) => Partial<JobStatus>,
  { fromMs = noonishMs, rateOf = (_task: string): number | undefined => undefined } = {},
): string[] {
  const notices = new Notices({ limits, fromMs, rateOf });
  return Array.from({ length: minutes + 1 }, (_, minute) => minute).flatMap((minute) => {
    const status = aJobStatus({ nowMs: noonishMs + minute * minuteMs, ...changesAt(minute) });
    return notices
      .look(status)
      .map(({ event, text, remedy }) => [minute, event, text, remedy].filter(Boolean).join(" | "));
  });
}

const generation = { generation: 1, startedAtMs: noonishMs, runningAtMs: noonishMs + 1 };

test("the start, the first failure and the end are told once", () => {
  const failed = { ...generation, endedBy: outOfMemory() };
  const outcome = { ...allSucceeded, endedAtMs: noonishMs + 3 * minuteMs };
  const generations = [[], [generation], [failed], [failed, { ...failed, generation: 2 }]];
  expect(
    told(4, (minute) => ({ generations: generations[Math.min(minute, 3)] ?? [], ...(minute > 2 && { outcome }) })),
  ).toEqual([
    "1 | started | All 3 programs run",
    "2 | first-failure | worker:1 ran out of memory on 127.0.0.12 | raise tony.worker.memory (job.xml:16), e.g. to 5g",
    "3 | ended | SUCCEEDED after 3 min: 2 of 2 tasks exited 0",
  ]);
});

test("what an earlier attempt has told is not told again", () => {
  expect(told(2, () => ({ generations: [generation] }), { fromMs: noonishMs + 2 })).toEqual([]);
});

test("the first failure is the first one's, and the end says how the job ended, at its time", () => {
  const later = { ...outOfMemory(), summary: "worker:0 exited 3", task: "worker:0", atMs: noonishMs + 7 };
  const outcome = { ...allSucceeded, result: "failed", cause: later, endedAtMs: noonishMs + minuteMs } as const;
  const notices = new Notices({ limits, fromMs: noonishMs, rateOf: () => undefined });
  const told = notices.look(aJobStatus({ generations: [{ ...generation, endedBy: outOfMemory() }], outcome }));
  expect(told.map(({ event, text, atMs, tasks }) => [event, text, atMs, tasks])).toEqual([
    ["started", "All 3 programs run", noonishMs + 1, undefined],
    ["first-failure", outOfMemory().summary, outOfMemory().atMs, ["worker:1"]],
    ["ended", `FAILED after 1 min: ${outcome.summary}`, noonishMs + minuteMs, ["worker:0"]],
  ]);
});

test("what happens in the moment in which an attempt begins is told by that", () => {
  expect(told(0, () => ({ generations: [generation] }), { fromMs: noonishMs + 1 })).toHaveLength(1);
});

test("nothing that lasts is told when the job has ended", () => {
  const outcome = { ...allSucceeded, endedAtMs: noonishMs };
  const ended = (minute: number) => ({ generations: [generation], ...(minute < 20 ? {} : { outcome }) });
  expect(told(40, ended)).toEqual([expect.stringMatching(/^started /), expect.stringMatching(/^20 \| ended /)]);
});

test("a wait is told when it has lasted long enough, and once; a later one again", () => {
  const wait = {
    what: "2 of 4 containers of worker",
    cause: "containers of worker",
    delays: [],
    reasons: ["queue ml is full"],
  };
  const waitsSince = (sinceMs: number) => [{ ...wait, sinceMs, reason: { code: "registration" } as const }];
  const waits = (minute: number) =>
    minute < 14 ? waitsSince(noonishMs) : minute < 16 ? [] : waitsSince(noonishMs + 16 * minuteMs);
  expect(told(30, (minute) => ({ generations: [], waits: waits(minute) }))).toEqual([
    "10 | waiting | Waits for 2 of 4 containers of worker (queue ml is full) since 10 min",
    "26 | waiting | Waits for 2 of 4 containers of worker (queue ml is full) since 10 min",
  ]);
});

test("a wait that an earlier attempt has told is not told again, and one that becomes due later is", () => {
  const wait = { what: "containers", cause: "containers", delays: [], reasons: [], sinceMs: noonishMs };
  const waits = [{ ...wait, reason: { code: "registration" } as const }];
  const from = (minute: number) =>
    told(30, () => ({ generations: [], waits }), { fromMs: noonishMs + minute * minuteMs });
  expect(from(11)).toEqual([]);
  expect(from(9)).toEqual(["10 | waiting | Waits for containers since 10 min"]);
});

test("a role whose tasks nearly use up their memory is told once", () => {
  const task = (name: string, mib: number, state: TaskStatus["state"] = "running") => {
    return { task: name, state, restarts: 0, memoryBytes: mib * 1024 ** 2 };
  };
  const tasks = (minute: number) => [
    task("worker:0", minute === 2 || minute === 4 ? 3892 : 3890),
    task("worker:1", minute > 2 ? 4000 : 100),
    task("ps:0", 4096, minute < 5 ? "succeeded" : "running"),
  ];
  expect(told(6, (minute) => ({ generations: [], tasks: tasks(minute) }))).toEqual([
    "2 | near-out-of-memory | worker:0: 95 % of the container's memory is in use | raise tony.worker.memory",
    "5 | near-out-of-memory | ps:0: 95 % of the container's memory is in use | raise tony.ps.memory",
  ]);
});

test("tasks whose GPUs do little are told together; one whose GPUs worked meanwhile begins anew", () => {
  const task = (index: number, current: number) => ({
    task: `worker:${index}`,
    state: "running" as const,
    restarts: 0,
    gpus: { count: 1, utilization: { current, max: 90, average: 50 } },
  });
  const tasks = (minute: number) => [task(0, 4.9), task(1, 0), task(2, 5), task(3, minute === 5 ? 80 : 0)];
  expect(told(15, (minute) => ({ generations: [], tasks: tasks(minute) }))).toEqual([
    "10 | gpu-idle | worker:0, worker:1: GPUs are less than 5 % busy",
  ]);
  const without = tasks(0).map(({ gpus: _none, ...one }) => one);
  expect(told(15, () => ({ generations: [], tasks: without }))).toEqual([]);
});

test("a task that goes slower than the others of its role is told", () => {
  const tasks = [0, 1, 2].map((index) => ({
    task: `worker:${index}`,
    state: "running" as const,
    restarts: 0,
    step: 7,
  }));
  const rateOf = (task: string) => (task === "worker:1" ? 0.7 : 1);
  expect(told(8, () => ({ generations: [], tasks }), { rateOf })).toEqual([
    "5 | straggler | worker:1: steps at less than 0.75 times the median rate of its role",
  ]);
  const atLimit = (task: string) => (task === "worker:1" ? 0.75 : 1);
  expect(told(8, () => ({ generations: [], tasks }), { rateOf: atLimit })).toEqual([]);
  const ended = tasks.map((task, index) => (index === 1 ? { ...task, state: "succeeded" as const } : task));
  expect(told(8, () => ({ generations: [], tasks: ended }), { rateOf })).toEqual([]);
});

test("programs that report no checkpoint are told after each", () => {
  const checkpoint = (minute: number) => ({ path: "/ckpt", step: 1, atMs: noonishMs + minute * minuteMs });
  const changes = (minute: number) => (minute < 40 ? {} : { checkpoint: checkpoint(40) });
  expect(told(75, (minute) => ({ generations: [generation], ...changes(minute) })).slice(1)).toEqual([
    "31 | no-checkpoint | No checkpoint has been reported for 30 min 59 s",
    "70 | no-checkpoint | No checkpoint has been reported for 30 min",
  ]);
});

test("checkpoints are missed since the programs run that are to save them, and while they run", () => {
  const at = (minute: number) => noonishMs + minute * minuteMs;
  const checkpoint = { path: "/ckpt", step: 1, atMs: at(5) };
  const again = { ...generation, generation: 2, runningAtMs: at(20) };
  const changes = (minute: number): Partial<JobStatus> => ({
    checkpoint,
    generations: minute < 20 ? [generation] : [generation, again],
    state: minute < 55 ? "running" : "restarting",
  });
  expect(told(54, changes).slice(1)).toEqual(["50 | no-checkpoint | No checkpoint has been reported for 30 min"]);
  const stopped = (minute: number): Partial<JobStatus> => ({ ...changes(minute), state: "restarting" });
  expect(told(80, stopped).slice(1)).toEqual([]);
});
