import { expect, test } from "@jest/globals";
import { statusOfTony } from "../../portal/tony-job.ts";
import { writeTonyEvents } from "../../src/history/tony/event-file.ts";
import { initedEvent, type TonyEvent } from "../../src/history/tony/events.ts";
import { aJobStatus } from "../client/job-status.ts";

const name = { format: "jhist", applicationId: "application_1_0001", startedAtMs: 5, user: "tom" } as const;
const task = (taskType: string, taskIndex: number) => ({ taskType, taskIndex });
const started = (which: ReturnType<typeof task>, timestamp: number): TonyEvent => {
  return { type: "TASK_STARTED", timestamp, ...which, host: "n1", containerID: "c1" };
};
const finished = (which: ReturnType<typeof task>, timestamp: number, status: string): TonyEvent => {
  const metrics = [
    { name: "AVG_MEMORY_BYTES", value: 1 },
    { name: "MAX_MEMORY_BYTES", value: 3 },
  ];
  return { type: "TASK_FINISHED", timestamp, ...which, status, metrics, containerDiagnostic: null };
};
const events = [
  initedEvent(aJobStatus()),
  started(task("worker", 0), 10),
  started(task("worker", 1), 11),
  started(task("worker-b", 0), 12),
  finished(task("worker", 0), 20, "SUCCEEDED"),
  finished(task("worker-b", 0), 21, "KILLED"),
];
const statusOf = (xml: string | undefined, more = {}) =>
  statusOfTony({ ...name, ...more }, writeTonyEvents(events, Buffer.alloc(16, 7)), xml);
const xml = (settings: Readonly<Record<string, string>>) =>
  `<configuration>${Object.entries(settings)
    .map(([key, value]) => `<property><name>${key}</name><value>${value}</value></property>`)
    .join("")}</configuration>`;

test("a job of TonY's has the tasks that its events tell of, each role with its own", () => {
  const { tasks, roles, amHost } = statusOf(undefined);
  const ran = { host: "n1", containerId: "c1", restarts: 0 };
  const ended = { maxMemoryBytes: 3 };
  expect(tasks).toEqual([
    { task: "worker:0", ...ran, ...ended, state: "succeeded", startedAtMs: 10, endedAtMs: 20 },
    { task: "worker:1", ...ran, state: "running", startedAtMs: 11 },
    { task: "worker-b:0", ...ran, ...ended, state: "lost", startedAtMs: 12, endedAtMs: 21 },
  ]);
  const size = { memoryMiB: 2048, vcores: 1, others: {} };
  expect(roles).toEqual([
    { name: "worker", instances: 2, allocated: 2, registered: 2, running: 1, ended: 1, ...size },
    { name: "worker-b", instances: 1, allocated: 1, registered: 1, running: 0, ended: 1, ...size },
  ]);
  expect(amHost).toBe("127.0.0.12");
});

test("has none of what TonY does not write", () => {
  const { tasks: _tasks, roles: _roles, ...others } = statusOf(undefined);
  expect(others).toEqual({
    ...{ statusVersion: 1, applicationId: "application_1_0001", name: "application_1_0001", queue: "" },
    ...{ attempt: 1, generation: 1, state: "running", startedAtMs: 5, nowMs: 5, amHost: "127.0.0.12" },
    ...{ waits: [], generations: [], services: [], usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 } },
    budgets: { program: { used: 0, limit: 0 }, infrastructure: { used: 0, limit: 0 } },
  });
});

test("tells of a task why its container ended, where TonY does, and no peak of memory that was not measured", () => {
  const which = task("worker", 0);
  const end = { type: "TASK_FINISHED", timestamp: 20, ...which, status: "FAILED", metrics: [] } as const;
  const startedNowhere = { ...started(which, 10), containerID: null } as const;
  const file = writeTonyEvents([startedNowhere, { ...end, containerDiagnostic: "exit 1" }], Buffer.alloc(16, 7));
  expect(statusOfTony(name, file, undefined).tasks).toEqual([
    ...[{ task: "worker:0", host: "n1", restarts: 0, state: "failed", startedAtMs: 10, endedAtMs: 20, exit: "exit 1" }],
  ]);
});

test("runs, or has ended as the name of its file says", () => {
  expect(statusOf(undefined)).toMatchObject({ state: "running", startedAtMs: 5, nowMs: 5, name: name.applicationId });
  const ended = statusOf(undefined, { endedAtMs: 30, result: "killed" });
  expect(ended).toMatchObject({ state: "killed", startedAtMs: 5, nowMs: 30 });
});

test("is named and sized by its settings, as far as these can be understood", () => {
  const settings = { "tony.application.name": "mnist", "tony.yarn.queue": "prod", "tony.worker.vcores": "4" };
  const status = statusOf(xml({ ...settings, "tony.worker.memory": "3g", "tony.worker-b.memory": "a lot" }));
  expect(status).toMatchObject({ name: "mnist", queue: "prod" });
  expect(status.roles).toMatchObject([
    { name: "worker", memoryMiB: 3072, vcores: 4 },
    { name: "worker-b", memoryMiB: 0, vcores: 1 },
  ]);
});
