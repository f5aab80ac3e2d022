import { expect, test } from "@jest/globals";
import { TaskMetrics } from "../../../am/executors/task-metrics.ts";
import { aJobStatus } from "../../client/job-status.ts";

const gauge = (current: number, max: number) => ({ current, max, average: current });
const said = (current: number, max: number, unused?: number) => ({
  memoryBytes: 1,
  maxMemoryBytes: max,
  averageMemoryBytes: 1,
  cpuCores: 0,
  cpuMs: 0,
  processes: 1,
  gpus: { count: 1, ...(unused === undefined ? {} : { unused }), utilization: gauge(current, max) },
});

test("a task's GPUs stay known when its container is gone, with the most of all its lives", () => {
  const metrics = new TaskMetrics();
  metrics.set("c1", "worker:0", said(80, 97));
  metrics.set("c2", "worker:0", said(20, 30));
  metrics.delete("c1");
  metrics.delete("c2");
  const tasks = [{ task: "worker:0", state: "succeeded", restarts: 1, containerId: "c2" } as const];
  const [task] = metrics.addTo(aJobStatus({ tasks })).tasks;
  expect(task?.memoryBytes).toBeUndefined();
  expect(task?.gpus).toEqual({ count: 1, utilization: { current: 20, max: 97, average: 20 } });
  expect(metrics.useOf("worker:0")).toMatchObject({ maxMemoryBytes: 97, gpus: task?.gpus });
});

test("of its memory the most of all lives is kept, and the average of the last", () => {
  const metrics = new TaskMetrics();
  const memory = (maxMemoryBytes: number, averageMemoryBytes: number) => ({
    ...said(0, 0),
    maxMemoryBytes,
    averageMemoryBytes,
  });
  metrics.set("c1", "worker:0", memory(9, 5));
  metrics.set("c2", "worker:0", memory(4, 3));
  metrics.set("c3", "worker:1", memory(1, 1));
  expect(metrics.useOf("worker:0")).toMatchObject({ maxMemoryBytes: 9, averageMemoryBytes: 3 });
});

test.each(["registered", "succeeded", "failed", "stopped", "lost"] as const)(
  "of a task that has %s what it uses now is not told, though its container is kept",
  (state) => {
    const metrics = new TaskMetrics();
    const disk = { readBytesPerSecond: 1, writtenBytesPerSecond: 2 };
    metrics.set("c1", "worker:0", { ...said(0, 9), disk });
    const task = { task: "worker:0", state, restarts: 0, containerId: "c1" };
    const [shown] = metrics.addTo(aJobStatus({ tasks: [task] })).tasks;
    expect(shown).toEqual({ ...task, maxMemoryBytes: 9, gpus: expect.anything() });
  },
);

test("what is read and written is known while the container runs", () => {
  const metrics = new TaskMetrics();
  const tasks = [{ task: "worker:0", state: "running", restarts: 0, containerId: "c1" } as const];
  const disk = () => metrics.addTo(aJobStatus({ tasks })).tasks[0]?.disk;
  const now = { readBytesPerSecond: 1, writtenBytesPerSecond: 2 };
  metrics.set("c1", "worker:0", { ...said(0, 0), disk: now });
  expect(disk()).toEqual(now);
  metrics.set("c1", "worker:0", { ...said(0, 0), disk: { ...now, readBytesPerSecond: 9 } });
  expect(disk()).toEqual({ ...now, readBytesPerSecond: 9 });
  metrics.set("c1", "worker:0", said(0, 0));
  expect(disk()).toBeUndefined();
  metrics.set("c1", "worker:0", { ...said(0, 0), disk: now });
  metrics.delete("c1");
  expect(disk()).toBeUndefined();
});

test("a container that another task has got is that one's from its first sample on", () => {
  const metrics = new TaskMetrics();
  const task = (index: number) =>
    ({ task: `worker:${index}`, state: "running", restarts: 0, containerId: "c1" }) as const;
  const shown = () => metrics.addTo(aJobStatus({ tasks: [task(0), task(1)] })).tasks.map((one) => one.memoryBytes);
  metrics.set("c1", "worker:0", said(0, 0));
  expect(shown()).toEqual([1, undefined]);
  metrics.set("c1", "worker:1", { ...said(0, 0), memoryBytes: 2 });
  expect(shown()).toEqual([undefined, 2]);
});

test("a GPU that was used in one of a task's lives was used", () => {
  const metrics = new TaskMetrics();
  const unused = () => metrics.useOf("worker:0")?.gpus?.unused;
  metrics.set("c1", "worker:0", said(80, 97, 0));
  metrics.set("c2", "worker:0", said(0, 0, 1));
  expect(unused()).toBe(0);
  metrics.set("c3", "worker:0", said(0, 0));
  expect(unused()).toBeUndefined();
});
