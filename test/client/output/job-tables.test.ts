import { describe, expect, test } from "@jest/globals";
import {
  formatDropped,
  formatExit,
  generationTable,
  generationWords,
  taskTable,
} from "../../../client/output/job-tables.ts";
import type { Budgets, Cause, TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus, noonishMs, outOfMemory } from "../job-status.ts";

const shared = { program: { used: 1, limit: 2 }, infrastructure: { used: 0, limit: 10 } };

/** What each generation's end was counted as. */
const countedAs = (table: readonly string[]) => table.slice(1).map((row) => row.split(/ {2,}/).at(-2));

/** Generations of a job that runs, each but the last one ended by one of these; each of the roles, where it has stages. */
function after(ends: readonly Cause[], rolesOf?: (index: number) => readonly string[]) {
  const ended = ends.map((endedBy) => ({ endedBy }));
  return [...ended, {}].map((one, index) => ({
    ...{ generation: index + 1, startedAtMs: noonishMs, ...one },
    ...(rolesOf && { roles: rolesOf(index) }),
  }));
}

test("each generation's end counts beside those that the same budget paid for", () => {
  const budgets: Budgets = { ...shared, roles: [{ role: "worker", used: 3, limit: 3 }] };
  const ends = ["worker:1", "ps:0", "worker:0"].map((task, index) =>
    outOfMemory({ class: "program", task, atMs: noonishMs + index }),
  );
  expect(countedAs(generationTable(aJobStatus({ budgets, generations: after(ends) })))).toEqual([
    "program restarts of worker: 1 of 3 used",
    "program restarts: 1 of 2 used",
    "program restarts of worker: 2 of 3 used",
    "–",
  ]);
});

test("a restart that was not charged uses up nothing of what the next one is told of", () => {
  const preempted = { code: "container-preempted", task: "worker:1", host: "127.0.0.12" } as const;
  const ends = [
    outOfMemory({ class: "infrastructure", atMs: noonishMs, reason: preempted }),
    outOfMemory({ class: "infrastructure", atMs: noonishMs + 1_000 }),
    outOfMemory({ class: "infrastructure", atMs: noonishMs + 2_000 }),
  ];
  expect(countedAs(generationTable(aJobStatus({ budgets: shared, generations: after(ends) })))).toEqual([
    "preemption, not counted",
    "infrastructure restarts: 1 of 10 used",
    "infrastructure restarts: 2 of 10 used",
    "–",
  ]);
});

test("a failure of so long ago that it counts no more is not counted beside a later one", () => {
  const infrastructure = { used: 0, limit: 10, windowMs: 60_000 };
  const ends = [0, 59_999, 60_000].map((ms) => outOfMemory({ class: "infrastructure", atMs: noonishMs + ms }));
  const budgets: Budgets = { ...shared, infrastructure };
  expect(countedAs(generationTable(aJobStatus({ budgets, generations: after(ends) })))).toEqual([
    "infrastructure restarts: 1 of 10 used within 1 min",
    "infrastructure restarts: 2 of 10 used within 1 min",
    "infrastructure restarts: 2 of 10 used within 1 min",
    "–",
  ]);
});

test("each stage has its own restarts", () => {
  const ends = [0, 1, 2].map((ms) => outOfMemory({ atMs: noonishMs + ms }));
  const generations = after(ends, (index) => (index < 2 ? ["prep"] : ["worker"]));
  expect(countedAs(generationTable(aJobStatus({ generations })))).toEqual([
    "program restarts: 1 of 2 used",
    "program restarts: 2 of 2 used",
    "program restarts: 1 of 2 used",
    "–",
  ]);
});

test("a stage that is over is done, and each generation is its stage's first start or a later one", () => {
  const minutes = (count: number) => noonishMs + count * 60_000;
  const generations = [
    { generation: 1, startedAtMs: minutes(0), endedAtMs: minutes(1), roles: ["prep"] },
    { generation: 2, startedAtMs: minutes(1), endedBy: outOfMemory(), roles: ["worker", "ps"] },
    { generation: 3, startedAtMs: minutes(2), roles: ["worker", "ps"] },
  ];
  expect(generationTable(aJobStatus({ generations }))).toEqual(
    [
      "generation    stage        ended by                               counted as                       resumed from",
      "1  14:00:00   prep         its tasks are done                     –                                –",
      "2  14:01:00   worker, ps   worker:1 ran out of memory on 127.0.0.12   program restarts: 1 of 2 used   –",
      "3  14:02:00   worker, ps   –                                      –                                –",
    ].map((row) => expect.stringMatching(new RegExp(`^${row.replaceAll(/ {3,}/g, " {3,}")}$`))),
  );
  expect([1, 2, 3].map((generation) => generationWords(generation, { generations }))).toEqual([
    "generation 1: start 1 of the stage of prep",
    "generation 2: start 1 of the stage of worker, ps",
    "generation 3: start 2 of the stage of worker, ps",
  ]);
  const unstaged = generations.map(({ roles: _, ...generation }) => generation);
  expect(generationTable(aJobStatus({ generations: unstaged }))[1]).toMatch(/^1 {2}14:00:00 +– +– +–$/);
});

test("a checkpoint that only a lost container had is told with where it lay", () => {
  expect(formatDropped({ step: 5, task: "worker:0", path: "/tmp/5", atMs: 0 })).toBe(
    "the checkpoint of step 5 lay in the container of worker:0 and is lost (/tmp/5); those in tony.checkpoint.local-dir are kept",
  );
});

test("that no restart follows is said of what ended the job, not of a job that may go on", () => {
  const generations = after([outOfMemory(), outOfMemory()]).slice(0, 2);
  expect(countedAs(generationTable(aJobStatus({ generations }))).at(-1)).toBe("program restarts: 2 of 2 used");
});

describe("the tasks of a job", () => {
  const stopped = (task: string, changes: Partial<TaskStatus> = {}): TaskStatus => {
    return { task, state: "stopped", containerId: "c", restarts: 0, ...changes };
  };
  const tableOf = (...tasks: readonly TaskStatus[]) => taskTable(aJobStatus({ tasks }));
  const named = (table: readonly string[]) => table.slice(1).map((row) => row.split(" ")[0]);

  test("stand in their order while all are shown; of more the failed ones come first", () => {
    const tasks = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        stopped(`worker:${index}`, index === count - 1 ? { state: "failed" } : {}),
      );
    expect(named(tableOf(...tasks(30)))).toEqual(tasks(30).map(({ task }) => task));
    const more = tableOf(...tasks(31));
    expect(named(more).slice(0, 2)).toEqual(["worker:30", "worker:0"]);
    expect(more.at(-1)).toBe("and 1 more");
    expect(named(tableOf(...tasks(31), stopped("ps:0", { state: "lost" }))).slice(0, 2)).toEqual(["worker:30", "ps:0"]);
  });

  test("that held a container when the job ended were killed; those that waited for one had none", () => {
    const held = ["allocated", "launched", "registered", "running"] as const;
    const tasks = held.map((state, index): TaskStatus => ({ task: `worker:${index}`, state, restarts: 0 }));
    const table = tableOf(...tasks, { task: "ps:0", state: "waiting", restarts: 0 });
    expect(table.slice(1, 5).map((row) => row.split(/ +/)[1])).toEqual(["killed", "killed", "killed", "killed"]);
    expect(table.at(-1)).toBe("ps:0 had no container at the end");
    expect(tableOf()).toEqual([]);
  });

  test("have their GPUs and parameters told where any of them has", () => {
    const utilization = { current: 10, average: 20, max: 96.6 };
    const [head, ...rows] = tableOf(
      stopped("worker:0", { params: { lr: "0.1", momentum: "0.9" } }),
      stopped("worker:1", { gpus: { count: 2, utilization } }),
    );
    expect(head).toMatch(/ last checkpoint {3}GPUs +parameters$/);
    expect(rows.map((row) => row.split(/ {3,}/).slice(-2))).toEqual([
      ["–", "lr=0.1 momentum=0.9"],
      ["2, at most 97 % busy", "–"],
    ]);
  });

  test("that were killed as they stopped are counted, and one is named", () => {
    const killed = { exit: "SIGKILL" } as const;
    const tasks = ["ps:0", "worker:0", "worker:1"].map((task) => stopped(task, killed));
    expect(tableOf(...tasks, stopped("worker:2", { state: "failed", ...killed })).at(-1)).toBe(
      "ps:0 and 2 more were killed while they were still stopping: to give programs more time, raise tony.task.stop-grace",
    );
  });
});

test("an exit is told in YARN's words where it has one", () => {
  expect([undefined, "143", "SIGTERM", "-105"].map(formatExit)).toEqual(["–", "143", "SIGTERM", "-105"]);
  expect(["-100", "-101", "-102", "-103", "-104"].map(formatExit)).toEqual([
    ...["-100 node lost", "-101 disks failed", "-102 preempted", "-103 vmem", "-104 OOM"],
  ]);
});
