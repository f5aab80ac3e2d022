import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { compare, differences, type WholeJob } from "../../portal/compare.ts";
import { readStoredJob, readStoredSeries, readStoredSettings } from "../../portal/stored-job.ts";
import { outOfMemory } from "../client/job-status.ts";
import { HistoryFolder, type WrittenJob } from "./history-folder.ts";

const startedAtMs = Date.UTC(2026, 10, 26, 12);

let history: HistoryFolder;
beforeEach(() => {
  history = new HistoryFolder();
});
afterEach(() => history.remove());

async function wholeOf(folder: string): Promise<WholeJob> {
  const { fileSystem } = history;
  return {
    job: await readStoredJob(fileSystem, folder, "all"),
    series: await readStoredSeries(fileSystem, folder),
    settings: await readStoredSettings(fileSystem, folder),
  };
}

async function compared(a: Omit<WrittenJob, "number">, b: Omit<WrittenJob, "number">) {
  const times = { startedAtMs, endedAtMs: startedAtMs + 60_000 };
  const folders = [history.write({ number: 1, ...times, ...a }), history.write({ number: 2, ...times, ...b })];
  const [one, other] = await Promise.all(folders.map(wholeOf));
  if (one === undefined || other === undefined) throw new Error("two jobs");
  return compare(one, other);
}

test("says what became of each, and how long it took", async () => {
  const cost = { amount: 3, currency: "EUR" };
  const { jobs } = await compared(
    { result: "failed", cause: outOfMemory(), endedAtMs: startedAtMs + 5_000 },
    { queue: "prod", usage: { memoryMiBSeconds: 1, vcoreSeconds: 2, gpuSeconds: 3, cost } },
  );
  expect(jobs).toMatchObject([
    { state: "failed", tookMs: 5_000, waitedMs: 0, cause: "worker:1 ran out of memory on 127.0.0.12", queue: "ml" },
    { state: "succeeded", tookMs: 60_000, queue: "prod", usage: { gpuSeconds: 3, cost } },
  ]);
  expect(jobs[1]).not.toHaveProperty("cause");
});

test("says when each was submitted, where that is known", async () => {
  const { jobs } = await compared({ more: { submittedAtMs: startedAtMs - 9_000 } }, {});
  expect(jobs[0]).toMatchObject({ submittedAtMs: startedAtMs - 9_000, startedAtMs });
  expect(jobs[1]).not.toHaveProperty("submittedAtMs");
});

test("has waited until its first program ran, and says why it did not succeed, also without a cause", async () => {
  const whole = await wholeOf(
    history.write({ number: 1, startedAtMs, endedAtMs: startedAtMs + 9_000, result: "killed" }),
  );
  const { job } = whole;
  const started = (afterMs: number) =>
    ({ type: "task-started", atMs: startedAtMs + afterMs, generation: 1, host: "n1" }) as const;
  const [spec] = job.events;
  if (spec === undefined) throw new Error("an event");
  const events = [started(3_000), { ...spec, atMs: startedAtMs + 4_000 }, started(5_000)];
  const generations = [1, 2, 3].map((generation) => ({ generation, startedAtMs }));
  const again = { ...whole, job: { ...job, events, status: { ...job.status, generations } } };
  expect(
    compare(again, { ...again, job: { ...job, events: [], status: { ...job.status, generations: [] } } }).jobs,
  ).toEqual([
    expect.objectContaining({ waitedMs: 3_000, generations: 3, cause: job.status.outcome?.summary }),
    expect.not.objectContaining({ waitedMs: expect.anything() }),
  ]);
});

test("a role's use is that of its own tasks, not of one whose name begins alike", async () => {
  const whole = await wholeOf(
    history.write({ number: 1, startedAtMs, endedAtMs: startedAtMs + 9_000, series: { cpu: [2] } }),
  );
  const [row] = whole.series?.rows ?? [];
  if (row === undefined || whole.series === undefined) throw new Error("a task");
  const other = { ...row, task: "worker-b:0", series: row.series.map((one) => ({ ...one, values: [8] })) };
  const [of] = whole.job.status.roles;
  if (of === undefined) throw new Error("a role");
  const task = (name: string, maxMemoryBytes: number) =>
    ({ task: name, state: "succeeded", restarts: 0, maxMemoryBytes }) as const;
  const tasks = [task("worker:0", 7), task("worker:1", 5), task("worker-b:0", 9)];
  const roles = [
    { ...of, name: "worker" },
    { ...of, name: "worker-b" },
  ];
  const both = {
    ...whole,
    job: { ...whole.job, status: { ...whole.job.status, roles, tasks } },
    series: { ...whole.series, rows: [row, other] },
  };
  expect(compare(both, both).roles.map((role) => role.of[0])).toMatchObject([
    { meanCores: 2, maxMemoryBytes: 7 },
    { meanCores: 8, maxMemoryBytes: 9 },
  ]);
});

test("shows as many roles and charts as people can read", async () => {
  const whole = await wholeOf(
    history.write({ number: 1, startedAtMs, endedAtMs: startedAtMs + 9_000, series: { cpu: [2] } }),
  );
  const [of] = whole.job.status.roles;
  const [row] = whole.series?.rows ?? [];
  const [one] = row?.series ?? [];
  if (of === undefined || row === undefined || one === undefined || whole.series === undefined)
    throw new Error("a job");
  const roles = Array.from({ length: 101 }, (_, number) => ({ ...of, name: `role${number}` }));
  const series = Array.from({ length: 41 }, (_, number) => ({ ...one, name: `m${number}` }));
  const large = {
    ...whole,
    job: { ...whole.job, status: { ...whole.job.status, roles } },
    series: { ...whole.series, rows: [{ ...row, series }] },
  };
  const { roles: shown, charts } = compare(large, large);
  expect([shown.length, charts.length]).toEqual([100, 40]);
});

test("counts no generation that was opened before it was known that the job ends with the one before", async () => {
  const generations = [1, 2].map((generation) => ({ generation, startedAtMs }));
  const cause = { ...outOfMemory(), generation: 1 };
  const { jobs } = await compared({ result: "failed", cause, more: { generations } }, { more: { generations } });
  expect(jobs.map((job) => job.generations)).toEqual([1, 2]);
});

test("sets the roles of both side by side, by their names, also of those that one of them lacks", async () => {
  const role = { allocated: 0, registered: 0, running: 0, ended: 0, others: {} };
  const of = (name: string, instances: number) => ({ ...role, name, instances, memoryMiB: instances * 512, vcores: 1 });
  const { roles } = await compared(
    { more: { roles: [of("worker", 2), of("ps", 1)], tasks: [] } },
    { more: { roles: [of("ps", 3), of("worker", 4)], tasks: [] } },
  );
  expect(roles).toEqual([
    { name: "worker", of: [2, 4].map((instances) => ({ instances, memoryMiB: instances * 512, vcores: 1 })) },
    { name: "ps", of: [1, 3].map((instances) => ({ instances, memoryMiB: instances * 512, vcores: 1 })) },
  ]);
});

describe("settings", () => {
  const map = (settings: Readonly<Record<string, string>>) => new Map(Object.entries(settings));

  test("are shown where they differ, or one job has none, by their names", () => {
    expect(differences(map({ same: "1", b: "2", only: "x" }), map({ same: "1", b: "3", another: "" }))).toEqual([
      { key: "another", of: [null, ""] },
      { key: "b", of: ["2", "3"] },
      { key: "only", of: ["x", null] },
    ]);
  });

  test("are as many as people can read, and as long", async () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, number) => [`key.${number}`, "x".repeat(5_000)]));
    const { settings = [], moreSettings } = await compared({ settings: many }, { settings: {} });
    expect([settings.length, moreSettings, settings[0]?.of[0]?.length]).toEqual([500, 100, 1_000]);
  });

  test("are not compared where a history has none", async () => {
    expect(await compared({ settings: { a: "1" } }, {})).not.toHaveProperty("settings");
  });

  test("of files of the portal's machine, which a job's include, are not read", async () => {
    const secret = path.join(history.root, "secret.xml");
    writeFileSync(secret, "<configuration><property><name>password</name><value>x</value></property></configuration>");
    const folder = history.writeTonys(3, startedAtMs);
    const include = `<configuration><include href="${secret}"><fallback/></include></configuration>`;
    writeFileSync(path.join(folder, "config.xml"), include);
    const settings = await readStoredSettings(history.fileSystem, folder).catch(() => undefined);
    expect([...(settings ?? [])]).toEqual([]);
  });
});

test("roles stand beside each other, with what they had and used", async () => {
  const { roles } = await compared({ series: { cpu: [1, null, 3], gpu: [50, 100] } }, {});
  const worker = roles.find(({ name }) => name === "worker");
  expect(worker?.of[0]).toMatchObject({ meanCores: 2, meanGpu: 75, memoryMiB: expect.any(Number) });
  expect(worker?.of[1]).not.toHaveProperty("meanCores");
});

describe("charts", () => {
  test("have metrics first, by step where both report steps", async () => {
    const { charts } = await compared(
      { series: { cpu: [1, 2], step: [10, 20], "metric:loss": [0.9, 0.5] } },
      { series: { step: [null, 5, 25], "metric:loss": [0.8, null, 0.4] } },
    );
    expect(charts.map(({ name, axis }) => [name, axis])).toEqual([
      ["metric:loss", "step"],
      ["cpu", "seconds"],
      ["step", "seconds"],
    ]);
    expect(charts[0]?.of.map((line) => line?.points)).toEqual([
      [
        [10, 0.9],
        [20, 0.5],
      ],
      [
        [5, null],
        [25, 0.4],
      ],
    ]);
    expect(charts[1]?.of).toEqual([
      {
        task: "worker:0",
        points: [
          [0, 1],
          [5, 2],
        ],
      },
      null,
    ]);
  });

  test("stand where each quantity was heard first", async () => {
    const series = { cpu: [1, 2], step: [10, 20, 30], "metric:loss": [0.9, 0.5] };
    const whole = await wholeOf(history.write({ number: 1, startedAtMs, endedAtMs: startedAtMs + 60_000, series }));
    const later: Readonly<Record<string, number>> = { cpu: 4, step: 2, "metric:loss": 3 };
    const rows = (whole.series?.rows ?? []).map((row) => ({
      ...row,
      series: row.series.map((one) => ({ ...one, first: later[one.name] ?? 0 })),
    }));
    if (whole.series === undefined) throw new Error("series");
    const shifted = { ...whole, series: { ...whole.series, rows } };
    const { charts } = compare(shifted, shifted);
    expect(charts.map(({ name, of }) => [name, of[0]?.points])).toEqual([
      [
        "metric:loss",
        [
          [20, 0.9],
          [30, 0.5],
        ],
      ],
      [
        "cpu",
        [
          [20, 1],
          [25, 2],
        ],
      ],
      [
        "step",
        [
          [10, 10],
          [15, 20],
          [20, 30],
        ],
      ],
    ]);
  });

  test("are by time where one reports no steps", async () => {
    const { charts } = await compared(
      { series: { step: [10, 20], "metric:loss": [0.9, 0.5] } },
      { series: { "metric:loss": [0.8] } },
    );
    expect(charts[0]?.axis).toBe("seconds");
  });
});
