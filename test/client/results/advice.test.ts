import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { MasterContact } from "../../../client/applications/applications.ts";
import { adviceLine, adviceLines, adviceOf, roundings } from "../../../client/results/advice.ts";
import { type Runs, runOf, runsOf } from "../../../client/results/runs.ts";
import type { TaskStatus } from "../../../src/job/status.ts";
import { runAnswer } from "../../../src/page/run-answer.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs, role } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

const temporary = temporaryFolder();
const gibibyte = 1024 ** 3;
const hourMs = 3_600_000;

/** Two workers that held 1 GiB of 4 and ran for an hour. */
function ended(id: string, heldBytes = gibibyte) {
  const [startedAtMs, endedAtMs] = [noonishMs, noonishMs + hourMs];
  const worker = (index: number): TaskStatus => {
    return {
      task: `worker:${index}`,
      state: "succeeded",
      startedAtMs,
      endedAtMs,
      restarts: 0,
      maxMemoryBytes: heldBytes,
    };
  };
  return aJobStatus({
    applicationId: id,
    state: "succeeded",
    roles: [role("worker", 2)],
    tasks: [worker(0), worker(1)],
    outcome: { ...allSucceeded, endedAtMs },
  });
}

function reportOf(number: number, name = "bert") {
  const id = `application_1795305600000_000${number}`;
  const times = { startTimeMs: noonishMs - number, finishTimeMs: noonishMs + hourMs };
  return aReport({ id, name, state: "FINISHED", finalStatus: "SUCCEEDED", ...times });
}

const context = recordedContext({ environment: { HADOOP_HOME: "/nowhere" } });
const reports = [reportOf(1), reportOf(2, "bert-small"), reportOf(3), reportOf(4)];
const place = aPlace({
  reports: async () => reports,
  report: async (id) => reports.find((one) => one.id === id) ?? aReport(),
  finalStatus: async ({ id }) => (id.endsWith("4") ? undefined : ended(id)),
});

const access = { applicationId: "", caller: { name: "", secret: new Uint8Array() } };

/** A connection to the ApplicationMaster of a job that runs, whose page is told that. */
function aLink(page: () => Promise<string>, closed: () => void = () => undefined) {
  return () => ({
    async *follow() {
      yield { type: "status", status: running } as const;
    },
    async *readLog() {},
    stop: async () => undefined,
    askPage: page,
    close: closed,
  });
}

const running = aJobStatus({
  nowMs: noonishMs + hourMs,
  roles: [role("worker", 2)],
  tasks: [0, 1].map((index) => {
    return { task: `worker:${index}`, state: "running", startedAtMs: noonishMs, restarts: 0 } as const;
  }),
});

describe("a job that runs", () => {
  const here = aPlace({
    report: async () => aReport({ state: "RUNNING" }),
    contact: async () => ({ attempt: 1, host: "node-01", port: 1, access }),
  });
  const seriesOf = (task: string) => ({
    spanMs: 5_000,
    series: [{ name: "step", rule: "last", first: 0, values: task === "worker:1" ? [0, 4, 8] : [0, 10, 20] }] as const,
  });

  test("is judged by what its page is told of its tasks so far", async () => {
    const told = async () => JSON.stringify(runAnswer(running, seriesOf, undefined, {}));
    const { series } = await runOf(running.applicationId, [], here, context, aLink(told));
    expect(series).toEqual({
      axis: { spanMs: 5_000 },
      rows: ["worker:0", "worker:1"].map((task) => ({ task, series: seriesOf(task).series })),
    });
  });

  test("is judged by what was not measured, too, and by connections that are closed", async () => {
    const gaps = () => ({
      spanMs: 5_000,
      series: [{ name: "step", rule: "last", first: 0, values: [0, null, 8] }] as const,
    });
    let [opened, closed] = [0, 0];
    const link = aLink(
      async () => JSON.stringify(runAnswer(running, gaps, undefined, {})),
      () => {
        closed += 1;
      },
    );
    const counted = () => {
      opened += 1;
      return link();
    };
    const { series } = await runOf(running.applicationId, [], here, context, counted);
    expect(series?.rows[0]?.series[0]?.values).toEqual([0, null, 8]);
    expect([opened > 0, closed]).toEqual([true, opened]);
  });

  test("is judged by its status where its ApplicationMaster has gone meanwhile", async () => {
    const contacts = [{ attempt: 1, host: "node-01", port: 1, access }];
    const leaving = { ...here, contact: async () => contacts.pop() };
    const asked: number[] = [];
    const link = aLink(async () => "{}");
    const connect = ({ attempt }: MasterContact) => {
      asked.push(attempt);
      return link();
    };
    const { series, status } = await runOf(running.applicationId, [], leaving, context, connect);
    expect(asked).toEqual([1]);
    expect([series, status]).toEqual([undefined, running]);
  });

  test.each([
    ["has no page", () => Promise.reject(new Error("The job has no page"))],
    ["answers what no release tells", async () => '{"series": {"axis": {"spanMs": 1}, "rows": [{"task": 7}]}}'],
  ])("is judged by its status alone where it %s", async (_why, told) => {
    const { series, status } = await runOf(running.applicationId, [], here, context, aLink(told));
    expect([series, status]).toEqual([undefined, running]);
  });
});

describe("runs", () => {
  test("of a name are those of exactly that name of which something is known, the newest first", async () => {
    const runs = await runsOf("bert", [], place, context);
    expect(runs.map(({ status }) => status.applicationId)).toEqual([reports[0]?.id, reports[2]?.id]);
  });

  test("of a name with more of them are the ten newest, whatever the order in which they are known", async () => {
    const id = (number: number) => `application_1_${String(number).padStart(4, "0")}`;
    const numbers = [7, 3, 12, 1, 9, 5, 11, 2, 8, 4, 10, 6];
    const many = numbers.map((number) =>
      aReport({ id: id(number), startTimeMs: number, state: "FINISHED", finalStatus: "SUCCEEDED" }),
    );
    const busy = aPlace({
      reports: async () => many,
      report: async (wanted) => many.find((one) => one.id === wanted) ?? aReport(),
      finalStatus: async ({ id: applicationId }) =>
        aJobStatus({ applicationId, outcome: { ...allSucceeded, endedAtMs: 0 } }),
    });
    const runs = await runsOf("bert", [], busy, context);
    expect(runs.map(({ submittedAtMs }) => submittedAtMs)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  });

  test("of a name are none that have not ended", async () => {
    const busy = { ...place, reports: async () => [aReport({ name: "bert", state: "RUNNING" })] };
    await expect(runsOf("bert", [], busy, context)).rejects.toThrow("None of your jobs called bert has ended");
  });

  test("of which nothing is known any more are told with the reason, and a fault is told as one", async () => {
    const last = { ...place, reports: async () => [reportOf(4), reportOf(5)], finalStatus: async () => undefined };
    const ids = "application_1795305600000_0004, application_1795305600000_0005";
    await expect(runsOf("bert", [], last, context)).rejects.toMatchObject({
      code: "NOTHING_LEFT",
      message: expect.stringMatching(new RegExp(`^Nothing is known about ${ids}: how it ended was not kept here`)),
    });
    const away = { ...last, noStatusReason: () => "HDFS is away" };
    await expect(runsOf("bert", [], away, context)).rejects.toThrow(`Nothing is known about ${ids}: HDFS is away`);
    const failing = { ...place, finalStatus: () => Promise.reject(new Error("the disk is broken")) };
    await expect(runsOf("bert", [], failing, context)).rejects.toThrow("the disk is broken");
  });

  test("of another user are not for everybody to judge", async () => {
    const ofBob = { ...place, report: async () => ({ ...reportOf(4), user: "bob" }) };
    await expect(runOf("application_1795305600000_0004", [], ofBob, context)).rejects.toThrow(
      "Nothing is known about the tasks of application_1795305600000_0004: only bob can see what became of its tasks",
    );
  });

  test("of a name that nobody has, and of a job of which nothing is known, there are none", async () => {
    await expect(runsOf("gpt", [], place, context)).rejects.toThrow("None of your jobs called gpt has ended");
    await expect(runOf("application_1795305600000_0004", [], place, context)).rejects.toThrow(
      "Nothing is known about the tasks of application_1795305600000_0004: how it ended was not kept here",
    );
  });
});

test("advice has columns for what is to change, a sentence for the rest, and what to paste", async () => {
  const runs = await runsOf("bert", [], place, context);
  const advice = adviceOf(runs, roundings(false, context), { gpuTypes: [], prices: {} });
  expect(adviceLines(advice, noonishMs)).toEqual([
    "bert, last 2 runs (1 h)",
    "  worker.memory   4 GiB → 2 GiB   the most that any task held is 1 GiB (p95 1 GiB, p50 1 GiB) · saves 4 GiB·h a run",
    "  unseen   cores, GPUs and slow tasks cannot be judged: this needs the series in a job's history (tony.history.location)",
    "  Dr. Elephant: Task Memory CRITICAL, Task GPU NONE, score 8; 5 GiB·h wasted of its programs' 8 GiB·h",
    "  paste: -conf tony.worker.memory=2g",
    "  write: tony-ts advise bert --apply job.xml",
  ]);
  const longer = advice.runs.map((run, at) => ({ ...run, endedAtMs: noonishMs + (at + 1) * hourMs }));
  expect(adviceLines({ ...advice, runs: longer }, noonishMs)[0]).toBe("bert, last 2 runs (1 h to 2 h)");
  const two = { key: "tony.worker.memory", value: "2g" };
  const one = { key: "tony.worker.vcores", value: "1" };
  const last = (written: (typeof two)[], kept: (typeof two)[]) =>
    adviceLines(advice, noonishMs, { file: "job.xml", written, kept }).slice(4);
  expect(last([two], [])).toEqual(["Wrote job.xml: tony.worker.memory=2g"]);
  const keeps = "job.xml keeps tony.worker.vcores=1: what is advised asks for no change of it";
  expect(last([two], [one])).toEqual(["Wrote job.xml: tony.worker.memory=2g", keeps]);
  expect(last([], [one])).toEqual([keeps]);
  expect(last([], [])).toEqual(["job.xml stays as it is: no setting is to change"]);
  expect(advice).toMatchObject({
    name: "bert",
    runs: [{ applicationId: reports[0]?.id, endedAtMs: noonishMs + hourMs, hasSeries: false }, {}],
    settings: [{ key: "tony.worker.memory", value: "2g" }],
    drElephant: { severity: "CRITICAL", score: 8 },
  });
});

test("that Dr. Elephant spares small containers is said where they held next to nothing", async () => {
  const runs = await runsOf("bert", [], place, context);
  const advice = adviceOf(runs, roundings(false, context), { gpuTypes: [], prices: {} });
  const [memory, gpu] = advice.drElephant.heuristics;
  const line = (wastedMiBSeconds: number) => {
    const heuristics = [memory, gpu].flatMap((one) => (one ? [{ ...one, severity: "NONE", score: 0 } as const] : []));
    const drElephant = { ...advice.drElephant, heuristics, score: 0, usedMiBSeconds: 1024 * 3600, wastedMiBSeconds };
    return adviceLines({ ...advice, drElephant }, noonishMs).find((one) => one.includes("Dr. Elephant"));
  };
  expect(line(1000 * 3600)).toBe(
    "  Dr. Elephant: Task Memory NONE (it spares small containers), Task GPU NONE, score 0; 0.98 GiB·h wasted of its programs' 1 GiB·h",
  );
  expect(line(512 * 3600)).toContain("spares");
  expect(line(500 * 3600)).not.toContain("spares");
  const unused = [memory].flatMap((one) => (one ? [{ ...one, severity: "NONE", score: 0 } as const] : []));
  const drElephant = {
    heuristics: unused,
    severity: "NONE",
    score: 0,
    usedMiBSeconds: 0,
    wastedMiBSeconds: 0,
  } as const;
  expect(adviceLines({ ...advice, drElephant }, noonishMs).join()).not.toContain("spares");
});

test("where the site has prices, advice says what the newest run cost and what is saved", async () => {
  const usage = { memoryMiBSeconds: 8192 * 3600, vcoreSeconds: 0, cost: { amount: 0.8, currency: "EUR" } };
  const [newest, ...others] = await runsOf("bert", [], place, context);
  const runs = [{ ...newest, status: { ...newest.status, usage } }, ...others] as const;
  const site = { gpuTypes: [], prices: { gibHourPrice: 0.1, currency: "EUR" } };
  const lines = (...of: readonly [(typeof runs)[0], ...typeof others]) =>
    adviceLines(adviceOf(of, roundings(false, context), site), noonishMs);
  expect(lines(...runs).slice(0, 2)).toEqual([
    "bert, last 2 runs (1 h; the newest cost 0.8 EUR)",
    "  worker.memory   4 GiB → 2 GiB   the most that any task held is 1 GiB (p95 1 GiB, p50 1 GiB) · saves 4 GiB·h, 0.4 EUR, a run",
  ]);
  expect(lines(runs[0])[0]).toBe(`${newest.status.applicationId}  bert (took 1 h, cost 0.8 EUR)`);
});

test("a job that succeeded ends with a line where half of its memory was never used, or nearly all was", () => {
  const sizes = roundings(false, context);
  const line = (heldBytes: number) => adviceLine(ended("application_1795305600000_0001", heldBytes), sizes);
  expect(line(gibibyte)).toBe(
    "advice: tony.worker.memory=2g would do: a task held 1 GiB of 4 GiB at most (tony-ts advise application_1795305600000_0001)",
  );
  expect(line(3.9 * gibibyte)).toMatch(/^advice: set tony\.worker\.memory=5g: a task held 3\.9 GiB of 4 GiB at most/);
  expect(line(2.4 * gibibyte)).toBeUndefined();
  expect(line(0)).toBeUndefined();
});

describe("advice on one job", () => {
  const apart = { gpuTypes: [], prices: {} };
  const linesOf = (run: Runs[0]) => adviceLines(adviceOf([run], usual, apart), noonishMs + 2 * hourMs);
  const usual = roundings(false, context);

  test("that has ended names it, how long it took, and whose settings can be written", () => {
    const [headline, ...others] = linesOf({ status: ended("application_1_0001"), submittedAtMs: noonishMs });
    expect(headline).toBe("application_1_0001  bert (took 1 h)");
    expect(others).toContain("  write: tony-ts advise application_1_0001 --apply job.xml");
  });

  test("that runs says for how long, and has nothing to paste where no setting is to change", () => {
    const lines = linesOf({ status: running, submittedAtMs: noonishMs });
    expect(lines[0]).toBe(`${running.applicationId}  bert (runs for 2 h)`);
    expect(lines.filter((line) => /paste|write/.test(line))).toEqual([]);
    expect(adviceOf([{ status: running, submittedAtMs: noonishMs }], usual, apart).runs).toEqual([
      { applicationId: running.applicationId, submittedAtMs: noonishMs, usage: running.usage, hasSeries: false },
    ]);
  });

  test("says of which runs the measurements were kept", () => {
    const series = { axis: { spanMs: 5_000 }, rows: [] };
    const run = { status: ended("application_1_0001"), submittedAtMs: noonishMs, series };
    expect(adviceOf([run], usual, apart).runs).toMatchObject([{ hasSeries: true }]);
  });

  test("tells Dr. Elephant each task's own memory and GPUs, and how many GPUs a role asks for", () => {
    const status = ended("application_1_0001");
    const [first, second] = status.tasks;
    const gauge = (max: number) => ({ current: 0, max, average: max / 2 });
    const gpus = { count: 1, utilization: gauge(80), memory: gauge(40) };
    const tasks = [first, second].flatMap((one, at) =>
      one ? [at === 0 ? { ...one, gpus } : { ...one, maxMemoryBytes: 2 * gibibyte }] : [],
    );
    const run = { status: { ...status, tasks }, submittedAtMs: noonishMs };
    const { heuristics } = adviceOf([run], usual, { ...apart, gpuTypes: ["yarn.io/gpu"] }).drElephant;
    const details = heuristics.flatMap((one) => one.details.map(({ name, value }) => `${name}: ${value}`));
    expect(details.filter((detail) => !detail.endsWith("Unknown"))).toEqual([
      "Number of worker tasks: 2",
      "Requested memory (MB) per worker task: 4096",
      "Max memory (MB) used in any worker task: 2048",
      "Number of worker tasks: 2",
      "Number of GPUs requested per worker tasks: 1",
      "MAX_GPU_UTILIZATION in any worker task: 80.00%",
      "MAX_GPU_FB_MEMORY_USAGE in any worker task: 40.00%",
      "AVG_GPU_UTILIZATION in any worker task: 40.00%",
      "AVG_GPU_FB_MEMORY_USAGE in any worker task: 20.00%",
    ]);
  });
});

test("sizes are rounded as the cluster rounds them; as one without settings where there is none", () => {
  expect(roundings(false, context)).toEqual({ memoryMiB: { least: 1024, step: 1024 }, vcores: { least: 1, step: 1 } });
  const folder = temporary.path;
  const site = (settings: Readonly<Record<string, string>>) => {
    const properties = Object.entries(settings).map(
      ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
    );
    return `<configuration>${properties.join("")}</configuration>`;
  };
  writeFileSync(path.join(folder, "core-site.xml"), site({ "fs.defaultFS": "hdfs://nn:8020" }));
  const yarn = { "yarn.resourcemanager.hostname": "rm", "yarn.scheduler.minimum-allocation-mb": "512" };
  writeFileSync(path.join(folder, "yarn-site.xml"), site(yarn));
  const there = recordedContext({ environment: { HADOOP_CONF_DIR: folder } });
  expect(roundings(true, there).memoryMiB).toEqual({ least: 512, step: 512 });
});
