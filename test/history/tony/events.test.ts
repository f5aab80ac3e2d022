import { describe, expect, test } from "@jest/globals";
import type { AvroSchema } from "../../../src/history/avro/schema.ts";
import { writeContainer } from "../../../src/history/avro/write.ts";
import { tonyEventSchema, writeTonyEvents } from "../../../src/history/tony/event-file.ts";
import { endedEvents, initedEvent, type TaskUse } from "../../../src/history/tony/events.ts";
import { readTonyEvents } from "../../../src/history/tony/read-events.ts";
import { aJobStatus } from "../../client/job-status.ts";

const status = aJobStatus({
  startedAtMs: 1_000,
  amContainerId: "container_1_0001_01_000001",
  tasks: [
    { task: "worker:0", state: "succeeded", host: "n1", startedAtMs: 2_000, endedAtMs: 9_000, exit: "0", restarts: 0 },
    { task: "worker:1", state: "failed", host: "n2", startedAtMs: 2_500, endedAtMs: 8_000, exit: "7", restarts: 0 },
    { task: "ps:0", state: "stopped", host: "n1", startedAtMs: 2_000, restarts: 0 },
    { task: "ps:1", state: "waiting", restarts: 0 },
  ],
});
const useOf = (task: string) =>
  task === "worker:0" ? { maxMemoryBytes: 1_300_000_000, averageMemoryBytes: 900_000_000 } : undefined;
const events = endedEvents(status, 10_000, useOf);

describe("what TonY's readers see of a job", () => {
  test("begins with the job and ends with it, its tasks between in the order of time", () => {
    expect(events.map(({ type, timestamp }) => `${timestamp} ${type}`)).toEqual([
      "1000 APPLICATION_INITED",
      "2000 TASK_STARTED",
      "2000 TASK_STARTED",
      "2500 TASK_STARTED",
      "8000 TASK_FINISHED",
      "9000 TASK_FINISHED",
      "10000 TASK_FINISHED",
      "10000 APPLICATION_FINISHED",
    ]);
  });

  test("has how each task that ran ended in TonY's words, with its memory by the names that Dr. Elephant reads", () => {
    expect(events.filter(({ type }) => type === "TASK_FINISHED")).toMatchObject([
      { taskType: "worker", taskIndex: 1, status: "FAILED", containerDiagnostic: "exit 7", metrics: [] },
      {
        taskType: "worker",
        taskIndex: 0,
        status: "SUCCEEDED",
        containerDiagnostic: null,
        metrics: [
          { name: "MAX_MEMORY_BYTES", value: 1_300_000_000 },
          { name: "AVG_MEMORY_BYTES", value: 900_000_000 },
        ],
      },
      { taskType: "ps", taskIndex: 0, status: "FINISHED" },
    ]);
    expect(events.at(-1)).toMatchObject({ finishedTasks: 3, failedTasks: 1 });
  });

  test("has what its GPUs did, where that was measured, by TonY's names", () => {
    const gauge = (max: number, average: number) => ({ current: 1, max, average });
    const gpus = { count: 2, utilization: gauge(97, 60), memory: gauge(50, 25), bar1Memory: gauge(2, 1) };
    const use = { maxMemoryBytes: 2, averageMemoryBytes: 1 };
    const metricsOf = (told: TaskUse) =>
      endedEvents(status, 10_000, () => told).flatMap((event) => (event.type === "TASK_FINISHED" ? event.metrics : []));
    expect(metricsOf({ ...use, gpus }).slice(2, 8)).toEqual([
      { name: "MAX_GPU_UTILIZATION", value: 97 },
      { name: "AVG_GPU_UTILIZATION", value: 60 },
      { name: "MAX_GPU_FB_MEMORY_USAGE", value: 50 },
      { name: "AVG_GPU_FB_MEMORY_USAGE", value: 25 },
      { name: "MAX_GPU_MAIN_MEMORY_USAGE", value: 2 },
      { name: "AVG_GPU_MAIN_MEMORY_USAGE", value: 1 },
    ]);
    const { bar1Memory: _bar1Memory, ...without } = gpus;
    expect(metricsOf({ ...use, gpus: without }).filter(({ name }) => name.includes("MAIN"))).toEqual([]);
  });

  test("tells a job's size, and where its ApplicationMaster runs", () => {
    expect(initedEvent(status)).toMatchObject({
      numTasks: 3,
      host: "127.0.0.12",
      containerID: "container_1_0001_01_000001",
    });
    expect(initedEvent(aJobStatus())).toMatchObject({ containerID: null });
  });

  test("counts a task that was lost among the failed ones", () => {
    const lost = aJobStatus({
      tasks: [{ task: "ps:2", state: "lost", host: "n3", startedAtMs: 2_000, endedAtMs: 3_000, restarts: 0 }],
    });
    const [, , ended, last] = endedEvents(lost, 10_000, () => undefined);
    expect(ended).toMatchObject({ taskType: "ps", taskIndex: 2, status: "FAILED", containerDiagnostic: null });
    expect(last).toMatchObject({ finishedTasks: 1, failedTasks: 1 });
  });

  test("is read of an earlier release, which had no container in its schema", () => {
    const facts = { taskType: "ps", taskIndex: 1, host: "n1" };
    const fields = [
      { name: "taskType", type: "string" },
      { name: "taskIndex", type: "int" },
      { name: "host", type: "string" },
    ];
    const schema: AvroSchema = {
      type: "record",
      name: "Event",
      fields: [
        { name: "type", type: { type: "enum", name: "EventType", symbols: ["TASK_STARTED"] } },
        { name: "event", type: [{ type: "record", name: "TaskStarted", fields }] },
        { name: "timestamp", type: "long" },
      ],
    };
    const event = { type: "TASK_STARTED", timestamp: 5 };
    const file = writeContainer(schema, [{ ...event, event: { branch: 0, of: facts } }], Buffer.alloc(16, 7));
    expect(readTonyEvents(file)).toEqual([{ ...event, ...facts, containerID: null }]);
  });

  test("is the same read back from the file", () => {
    expect(readTonyEvents(writeTonyEvents(events, Buffer.alloc(16, 7)))).toEqual(events);
    expect(readTonyEvents(writeTonyEvents([initedEvent(status)], Buffer.alloc(16, 7)))).toEqual([initedEvent(status)]);
  });

  test("has the names of TonY's own schema, that of an event's type in front", () => {
    expect(tonyEventSchema.fields.map(({ name }) => name)).toEqual(["type", "event", "timestamp"]);
  });

  test("a file that is none is refused", () => {
    expect(() => readTonyEvents(Buffer.from("{}"))).toThrow(expect.objectContaining({ code: "HISTORY_UNREADABLE" }));
  });
});
