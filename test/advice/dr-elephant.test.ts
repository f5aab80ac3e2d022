import { describe, expect, test } from "@jest/globals";
import { drElephant, type TaskType } from "../../src/advice/dr-elephant.ts";
import type { TonyEvent, TonyMetric } from "../../src/history/tony/events.ts";

function type(name: string, instances: number, gibibytes: number, gpus = 0): TaskType {
  return { name, instances, memoryMiB: gibibytes * 1024, gpus };
}

function memory(bytes: number): TonyMetric[] {
  return [{ name: "MAX_MEMORY_BYTES", value: bytes }];
}

/** A task's two events, as the .jhist file has them. */
function ran(taskType: string, taskIndex: number, seconds: number, metrics: readonly TonyMetric[]): TonyEvent[] {
  const which = { taskType, taskIndex };
  return [
    { type: "TASK_STARTED", timestamp: 0, ...which, host: "node", containerID: null },
    {
      type: "TASK_FINISHED",
      timestamp: seconds * 1000,
      ...which,
      status: "SUCCEEDED",
      metrics,
      containerDiagnostic: null,
    },
  ];
}

function judged(types: readonly TaskType[], mostBytes: Readonly<Record<string, number>>) {
  const events = Object.entries(mostBytes).flatMap(([name, bytes]) => ran(name, 0, 1, memory(bytes)));
  const { severity, score } = drElephant(types, events);
  return [severity, score];
}

describe("Task Memory judges as TaskMemoryHeuristicTest wants it", () => {
  test.each([
    [
      "far too much of four workers, a ps of the default size",
      [type("worker", 4, 10), type("ps", 1, 2)],
      { worker: 1.3e9, ps: 0.5e9 },
      ["CRITICAL", 16],
    ],
    [
      "two types: the worst one counts, scores are summed",
      [type("worker", 2, 10), type("ps", 1, 10)],
      { worker: 6.6e9, ps: 5.84e9 },
      ["SEVERE", 7],
    ],
    ["moderate", [type("worker", 2, 10)], { worker: 6.6e9 }, ["MODERATE", 4]],
    ["low has no score", [type("worker", 2, 10)], { worker: 7.56e9 }, ["LOW", 0]],
    ["enough was used", [type("worker", 2, 10)], { worker: 8.6e9 }, ["NONE", 0]],
    ["TonY's default size", [type("worker", 2, 2)], { worker: 0.6e9 }, ["NONE", 0]],
    ["within two of the smallest containers", [type("worker", 2, 3)], { worker: 1.6e9 }, ["NONE", 0]],
    ["nothing measured", [type("worker", 2, 10)], {}, ["NONE", 0]],
    ["no types", [], {}, ["NONE", 0]],
  ] as const)("%s", (_, types, most, expected) => {
    expect(judged(types, most)).toEqual(expected);
  });

  test("the thresholds are inclusive", () => {
    const half = 10 * 1024 ** 3 * 0.5;
    expect(judged([type("worker", 1, 10)], { worker: half })).toEqual(["CRITICAL", 4]);
    expect(judged([type("worker", 1, 10)], { worker: half + 1 })).toEqual(["SEVERE", 3]);
  });

  test("its details stand in its order, and it knows no type with other letters", () => {
    const types = [type("worker", 2, 10), type("ps", 0, 10), type("eval1", 1, 10)];
    const [first] = drElephant(types, ran("worker", 1, 1, memory(6.6e9))).heuristics;
    expect(first?.details.map(({ name, value }) => `${name}: ${value}`)).toEqual([
      "Number of worker tasks: 2",
      "Requested memory (MB) per worker task: 10240",
      "Max memory (MB) used in any worker task: 6294",
      "Number of ps tasks: 0",
    ]);
  });
});

test("Task GPU gathers, and judges nothing", () => {
  const gpu = (max: number, average: number): TonyMetric[] => [
    { name: "MAX_GPU_UTILIZATION", value: max },
    { name: "AVG_GPU_UTILIZATION", value: average },
  ];
  const events = [
    ...ran("worker", 0, 1, gpu(97, 40)),
    ...ran("worker", 1, 1, gpu(-1, 20)),
    ...ran("worker", 2, 1, gpu(0, 0)),
  ];
  const [, second] = drElephant([type("worker", 2, 2, 1)], events).heuristics;
  expect(second?.severity).toBe("NONE");
  expect(second?.details.map(({ name, value }) => `${name}: ${value}`)).toEqual([
    "Number of worker tasks: 3",
    "Number of GPUs requested per worker tasks: 1",
    "MAX_GPU_UTILIZATION in any worker task: 97.00%",
    "MAX_GPU_FB_MEMORY_USAGE in any worker task: Unknown",
    "MAX_GPU_MAIN_MEMORY_USAGE in any worker task: Unknown",
    "AVG_GPU_UTILIZATION in any worker task: 30.00%",
    "AVG_GPU_FB_MEMORY_USAGE in any worker task: Unknown",
    "AVG_GPU_MAIN_MEMORY_USAGE in any worker task: Unknown",
  ]);
});

describe("memory used and wasted, as TonyMetricsAggregatorTest wants it", () => {
  const types = [type("worker", 2, 4), type("ps", 1, 4)];
  const gibibyte = 1024 ** 3;

  test("one and a half times the most of a type is not wasted", () => {
    const events = [
      ...ran("worker", 0, 10, memory(2 * gibibyte)),
      ...ran("worker", 1, 20, memory(gibibyte)),
      ...ran("ps", 0, 20, memory(gibibyte)),
    ];
    const { usedMiBSeconds, wastedMiBSeconds } = drElephant(types, events);
    expect(usedMiBSeconds).toBe((10 + 20 + 20) * 4096);
    expect(wastedMiBSeconds).toBe(10 * 1024 + 20 * 1024 + 20 * 2560);
  });

  test("of a type with other letters, too, which no heuristic finds", () => {
    const loaders = [type("data-loader", 1, 10)];
    const { heuristics, severity, usedMiBSeconds } = drElephant(loaders, ran("data-loader", 0, 10, memory(1e9)));
    expect({ severity, details: heuristics.flatMap(({ details }) => details) }).toEqual({
      severity: "NONE",
      details: [],
    });
    expect(usedMiBSeconds).toBe(10 * 10_240);
  });

  test("nothing is taken away by a task that has no end, in an application that has none", () => {
    const [started] = ran("worker", 1, 10, []);
    const late = started === undefined ? [] : [{ ...started, timestamp: 5_000 }];
    const { usedMiBSeconds } = drElephant(types, [...ran("worker", 0, 10, []), ...late]);
    expect(usedMiBSeconds).toBe(10 * 4096);
  });

  test("nothing is wasted that was not measured; a task without an end has the job's, or does not count", () => {
    const [started] = ran("worker", 0, 10, []);
    const events = started === undefined ? [] : [started];
    expect(drElephant(types, events)).toMatchObject({ usedMiBSeconds: 0, wastedMiBSeconds: 0 });
    const end = {
      type: "APPLICATION_FINISHED",
      applicationId: "",
      finishedTasks: 1,
      failedTasks: 0,
      metrics: [],
    } as const;
    const ended = drElephant(types, [...events, { ...end, timestamp: 5_999 }]);
    expect(ended).toMatchObject({ usedMiBSeconds: 5 * 4096, wastedMiBSeconds: 0 });
  });
});
