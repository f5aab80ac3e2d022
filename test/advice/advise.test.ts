import { describe, expect, test } from "@jest/globals";
import { adviceLine, advise, changesOf, labelOf, settingsOf, shownAdvice, strongest } from "../../src/advice/advise.ts";
import type { Run } from "../../src/advice/run.ts";
import type { JobSeries, SeriesRow } from "../../src/history/series/file.ts";
import type { AdviceReason } from "../../src/job/reasons/advice.ts";
import type { Cause, GenerationSummary, TaskStatus } from "../../src/job/status.ts";
import { aJobStatus, allSucceeded, noonishMs, outOfMemory } from "../client/job-status.ts";

const gibibyte = 1024 ** 3;
const minute = 60_000;
const roundings = { memoryMiB: { least: 1024, step: 1024 }, vcores: { least: 1, step: 1 } };

interface Described {
  readonly minutes?: number;
  /** What each worker held at most. */
  readonly gibibytes?: readonly number[];
  readonly result?: "succeeded" | "failed";
  readonly rows?: readonly Omit<SeriesRow, "memoryLimitBytes">[];
  readonly memoryMiB?: number;
  readonly vcores?: number;
  readonly others?: Readonly<Record<string, number>>;
  readonly tasks?: (task: TaskStatus) => TaskStatus;
  readonly generations?: readonly GenerationSummary[];
  readonly queuedMs?: number;
}

/** A run of workers of 8 GiB and 8 cores. */
function aRun(described: Described = {}): Run {
  const {
    minutes = 60,
    gibibytes = [3, 3, 3, 3],
    result = "succeeded",
    rows,
    memoryMiB = 8192,
    vcores = 8,
    others = {},
  } = described;
  const endedAtMs = noonishMs + minutes * minute;
  const role = { name: "worker", instances: gibibytes.length, allocated: 0, registered: 0, running: 0, ended: 0 };
  const tasks = gibibytes.map((held, index): TaskStatus => {
    const times = { startedAtMs: noonishMs, endedAtMs, host: `node-${index}`, restarts: 0 };
    return { task: `worker:${index}`, state: "succeeded", ...times, maxMemoryBytes: held * gibibyte };
  });
  const generations = described.generations ?? [
    { generation: 1, startedAtMs: noonishMs, runningAtMs: noonishMs, endedAtMs },
  ];
  const axis: JobSeries["axis"] = {
    seriesVersion: 1,
    applicationId: "",
    attempt: 1,
    fromMs: noonishMs,
    spanMs: minute,
  };
  return {
    submittedAtMs: noonishMs - (described.queuedMs ?? 0),
    status: aJobStatus({
      roles: [{ ...role, memoryMiB, vcores, others }],
      tasks: tasks.map(described.tasks ?? ((task) => task)),
      generations,
      outcome: { ...allSucceeded, result, endedAtMs },
    }),
    ...(rows === undefined
      ? {}
      : { series: { axis, rows: rows.map((row) => ({ ...row, memoryLimitBytes: 8 * gibibyte })) } }),
  };
}

function codes(advice: readonly AdviceReason[]): string[] {
  return advice.map(({ code }) => code).filter((code) => code !== "unseen");
}

const adviceOn = (...runs: readonly Run[]) => advise(runs, roundings, {});

describe("memory", () => {
  test("is what the largest task held with a fifth more, as the scheduler rounds, over all runs", () => {
    const [first] = adviceOn(aRun(), aRun({ gibibytes: [2, 2, 2, 4.5] }));
    expect(first).toEqual({
      code: "less-memory",
      role: "worker",
      key: "tony.worker.memory",
      fromMiB: 8192,
      toMiB: 6144,
      value: "6g",
      p50Bytes: 3 * gibibyte,
      p95Bytes: 4.5 * gibibyte,
      maxBytes: 4.5 * gibibyte,
      tasks: 8,
      savedMiBSeconds: 2048 * 4 * 3600,
    });
    expect(settingsOf(adviceOn(aRun()))).toEqual([{ key: "tony.worker.memory", value: "4g" }]);
  });

  test("of a small task has half a gibibyte more", () => {
    expect(adviceOn(aRun({ gibibytes: [0.4] }))[0]).toMatchObject({ toMiB: 1024 });
    expect(adviceOn(aRun({ gibibytes: [0.6] }))[0]).toMatchObject({ toMiB: 2048 });
  });

  test("fits where rounding leaves nothing to save", () => {
    expect(adviceOn(aRun({ gibibytes: [6.5] }))[0]).toMatchObject({ code: "memory-fits", maxBytes: 6.5 * gibibyte });
  });

  test("is raised where a task came near its end, however short it ran", () => {
    const short = aRun({ minutes: 0.5, gibibytes: [7.3, 3], result: "failed" });
    expect(adviceOn(short)[0]).toMatchObject({ code: "more-memory", fromMiB: 8192, toMiB: 9216, value: "9g" });
    expect(codes(adviceOn(aRun({ memoryMiB: 16_384 }), aRun({ gibibytes: [7.9] })))).not.toContain("more-memory");
  });

  test("is raised where a task ran out of it, to what its remedy says at least", () => {
    const fix = {
      code: "raise-memory",
      setting: { key: "tony.worker.memory" },
      toMiB: 12_288,
      virtual: false,
    } as const;
    const generations = [{ generation: 1, startedAtMs: noonishMs, endedBy: outOfMemory({ fix }) }];
    const [first] = adviceOn(aRun({ gibibytes: [2], generations }));
    expect(first).toMatchObject({ code: "more-memory", toMiB: 12_288, ranOut: "worker:1" });
  });

  test("is raised by a step at least where a task ran out of it that nobody measured, for its own role alone", () => {
    const endedBy = (cause: Partial<Cause>) => [{ generation: 1, startedAtMs: noonishMs, endedBy: outOfMemory(cause) }];
    const piece = (cause: Partial<Cause>) => adviceOn(aRun({ gibibytes: [2, 2], generations: endedBy(cause) }))[0];
    expect(piece({})).toMatchObject({ code: "more-memory", toMiB: 9216, ranOut: "worker:1" });
    expect(piece({ task: "ps:0" })).toMatchObject({ code: "less-memory" });
    expect(piece({ reason: { code: "left-node", task: "worker:1", host: "h" } })).toMatchObject({
      code: "less-memory",
    });
  });

  test("is raised to the remedy of a job that YARN ended for its virtual memory, however short it ran", () => {
    const fix = { code: "raise-memory", setting: { key: "tony.worker.memory" }, toMiB: 9728, virtual: true } as const;
    const reason = { code: "exceeded-virtual-memory", task: "worker:1", host: "h", exitStatus: -103 } as const;
    const generations = [{ generation: 1, startedAtMs: noonishMs, endedBy: outOfMemory({ fix, reason }) }];
    const [piece, ...others] = adviceOn(aRun({ minutes: 0.1, gibibytes: [0.01], result: "failed", generations }));
    expect(piece).toMatchObject({ code: "more-memory", toMiB: 10_240, ranOut: "worker:1", virtual: true });
    expect(piece && adviceLine(piece)).toMatch(/: worker:1 used more virtual memory than YARN allows$/);
    expect(codes(others)).toEqual([]);
  });

  test("is not raised because a task ran out of less than is asked for now", () => {
    const generations = [{ generation: 1, startedAtMs: noonishMs, endedBy: outOfMemory() }];
    const before = aRun({ memoryMiB: 4096, gibibytes: [3.9, 3.9], generations });
    expect(codes(adviceOn(aRun({ gibibytes: [4, 4] }), before))).not.toContain("more-memory");
    const larger = aRun({ memoryMiB: 16_384, gibibytes: [15.9, 15.9] });
    expect(codes(adviceOn(aRun({ gibibytes: [4, 4] }), larger))).not.toContain("more-memory");
  });

  test("is nearly used up from nine tenths on", () => {
    const told = (held: number) => adviceOn(aRun({ memoryMiB: 10_240, gibibytes: [held] }))[0]?.code;
    expect([told(8.99), told(9)]).toEqual(["memory-fits", "more-memory"]);
  });

  test("that is saved is that of containers alone, not of the time in the queue", () => {
    const [first] = adviceOn(aRun({ queuedMs: 30 * minute }));
    expect(first).toMatchObject({ code: "less-memory", savedMiBSeconds: 4096 * 4 * 3600 });
  });

  test("that is short hides nothing of what a long run says about cores", () => {
    const run = aRun({ gibibytes: [7.9], rows: [row("worker:0", "cpu", [2, 2])] });
    expect(codes(adviceOn(run))).toEqual(["more-memory", "less-cores"]);
  });

  test("is what a job's last line tells of: that more is needed, or else that half was never used", () => {
    const told = (...gibibytes: number[]) => strongest(adviceOn(aRun({ gibibytes })))?.code;
    expect([told(7.5), told(4.1), told(4), told(3)]).toEqual(["more-memory", undefined, "less-memory", "less-memory"]);
    expect(strongest(adviceOn(aRun({ others: { "yarn.io/gpu": 1 } })).filter((one) => !("fromMiB" in one)))).toBe(
      undefined,
    );
  });

  test("that is missing somewhere is told of before what is wasted elsewhere", () => {
    const [waste, need] = [[3], [7.9]].map((gibibytes) => strongest(adviceOn(aRun({ gibibytes }))));
    if (waste === undefined || need === undefined) throw new Error("both are worth a line");
    expect(strongest([waste, need])).toBe(need);
  });
});

test("a page shows of how many runs it is, a line for each, and the settings that would follow it", () => {
  const run = aRun({ rows: [row("worker:0", "cpu", [2, 2])] });
  expect(shownAdvice([run, aRun()], roundings, {})).toEqual({
    runs: 2,
    lines: [expect.stringMatching(/^worker\.memory 8 GiB → 4 GiB: /), expect.stringMatching(/^worker\.vcores 8 → 2: /)],
    settings: ["tony.worker.memory=4g", "tony.worker.vcores=2"],
  });
  const unseen = shownAdvice([aRun({ gibibytes: [6.5] })], roundings, {});
  expect(unseen).toMatchObject({ settings: [], lines: [expect.anything(), expect.stringMatching(/^unseen: /)] });
  expect(labelOf({ code: "idle-gpus", role: "worker", percent: 20 })).toBe("worker");
});

test("each measurement is taken for what it is, whatever else was measured", () => {
  const busy = (index: number) => row(`worker:${index}`, "cpu", Array<number>(20).fill(90)).series;
  const idle = [0, 1].map((index) => row(`worker:${index}`, "gpu", Array<number>(20).fill(0)));
  const slow = [100, 100, 10].map((rate, index) => steps(`worker:${index}`, rate));
  const told = (rows: readonly Omit<SeriesRow, "memoryLimitBytes">[]) => codes(adviceOn(aRun({ rows })));
  const beside = (rows: readonly Omit<SeriesRow, "memoryLimitBytes">[]) =>
    told(rows.map(({ task, series }, index) => ({ task, series: [...busy(index), ...series] })));
  expect(beside(idle)).toEqual(expect.arrayContaining(["idle-gpus"]));
  expect(told(slow)).toEqual(expect.arrayContaining(["slow-task"]));
  expect(beside(slow)).toEqual(expect.arrayContaining(["slow-task"]));
});

test("a role that ran out of less than is asked for now needs no more, though another role had as much as that", () => {
  const ofRoles = (run: Run, ...sizes: readonly number[]): Run => {
    const roles = run.status.roles.flatMap((role) =>
      ["worker", "ps"].map((name, index) => ({ ...role, name, memoryMiB: sizes[index] ?? 0 })),
    );
    return { ...run, status: { ...run.status, roles } };
  };
  const generations = [{ generation: 1, startedAtMs: noonishMs, endedBy: outOfMemory() }];
  const before = (...sizes: readonly number[]) => ofRoles(aRun({ gibibytes: [3.9, 3.9], generations }), ...sizes);
  expect(adviceOn(ofRoles(aRun(), 8192, 4096), before(4096, 8192))[0]?.code).toBe("less-memory");
  expect(adviceOn(ofRoles(aRun(), 8192, 4096), before(8192, 4096))[0]?.code).toBe("more-memory");
});

test("settings that are to change say whether they are more than was asked for", () => {
  const more = aRun({ gibibytes: [7.9], vcores: 1, rows: [row("worker:0", "cpu", [2, 2])] });
  const less = aRun({ rows: [row("worker:0", "cpu", [2, 2])] });
  const changes = (run: Run) => changesOf(adviceOn(run)).map(({ key, isMore }) => [key, isMore]);
  const keys = ["tony.worker.memory", "tony.worker.vcores"];
  expect(changes(more)).toEqual(keys.map((key) => [key, true]));
  expect(changes(less)).toEqual(keys.map((key) => [key, false]));
});

test("earlier runs tell of sizes alone: who was slow or idle then, and what was lost, is over", () => {
  const rows = [steps("worker:0", 100), steps("worker:1", 100), steps("worker:2", 10)];
  const idle = row(
    "worker:0",
    "gpu",
    Array.from({ length: 20 }, () => 0),
  );
  const before = aRun({ rows: [...rows, idle], queuedMs: 30 * minute });
  expect(codes(adviceOn(aRun(), before))).toEqual(["less-memory"]);
});

describe("data that are too thin give no advice", () => {
  test("a run under a minute, or that failed early", () => {
    expect(codes(adviceOn(aRun({ minutes: 0.9 })))).toEqual(["thin"]);
    expect(codes(adviceOn(aRun({ minutes: 9, result: "failed" })))).toEqual(["thin"]);
    expect(codes(adviceOn(aRun({ minutes: 11, result: "failed" })))).toEqual(["less-memory"]);
    expect(adviceOn(aRun({ minutes: 0.9 }))[0]).toEqual({ code: "thin", role: "worker", runs: 0, ranMs: 0 });
  });

  test("one short run, but where half would do", () => {
    expect(codes(adviceOn(aRun({ minutes: 2, gibibytes: [4] })))).toEqual(["thin"]);
    expect(codes(adviceOn(aRun({ minutes: 2, gibibytes: [3] })))).toEqual(["less-memory"]);
    const three = [2, 2, 2].map((minutes) => aRun({ minutes, gibibytes: [4] }));
    expect(codes(adviceOn(...three))).toEqual(["less-memory"]);
  });

  test.each([
    ["memory that fits", { gibibytes: [6.5] }, ["thin"]],
    ["a little less memory, and cores that fit", { vcores: 2, gibibytes: [4] }, ["thin"]],
    ["half the memory, and half the cores", { gibibytes: [1] }, ["less-memory"]],
    ["memory that was nearly used up, and more cores", { vcores: 1, gibibytes: [7.9] }, ["more-memory"]],
  ])("two short runs with %s say so of memory alone, and that data are missing once", (_, described, told) => {
    const run = aRun({ minutes: 2, rows: [row("worker:0", "cpu", [2, 2])], ...described });
    expect(codes(adviceOn(run, run))).toEqual(told);
  });

  test("of a task that never started no time is counted", () => {
    const tasks = (task: TaskStatus): TaskStatus => {
      const { startedAtMs: _started, ...others } = task;
      return task.task === "worker:0" ? others : task;
    };
    expect(codes(adviceOn(aRun({ minutes: 11, tasks })))).toEqual(["less-memory"]);
  });

  test("nothing measured", () => {
    expect(codes(adviceOn(aRun({ gibibytes: [0, 0] })))).toEqual(["unmeasured"]);
    expect(advise([], roundings, {})).toEqual([]);
  });
});

function row(task: string, name: string, values: readonly (number | null)[]): Omit<SeriesRow, "memoryLimitBytes"> {
  return { task, series: [{ name, rule: name === "step" ? "last" : "mean", first: 0, values }] };
}

/** Steps that grow by so many in each minute. */
function steps(task: string, rate: number, spans = 10): Omit<SeriesRow, "memoryLimitBytes"> {
  return row(
    task,
    "step",
    Array.from({ length: spans }, (_, span) => span * rate),
  );
}

test("a job without tasks is told nothing of them", () => {
  const run = aRun();
  expect(adviceOn({ ...run, status: { ...run.status, roles: [], tasks: [] } })).toEqual([]);
});

describe("cores", () => {
  const used = (...values: number[]) => ({ rows: [row("worker:0", "cpu", values)] });

  test("are those that 95 of 100 samples do not exceed", () => {
    const samples = [...Array.from({ length: 99 }, () => 2.4), 7];
    expect(adviceOn(aRun(used(...samples)))[1]).toMatchObject({ code: "less-cores", from: 8, to: 3, p95: 2.4, max: 7 });
    expect(adviceOn(aRun(used(1.05)))[1]).toMatchObject({ to: 1, value: "1" });
  });

  test("that fewer would do are told with what that saves, by the newest run and the prices", () => {
    const runs = [aRun(used(2.4)), aRun({ ...used(2), minutes: 120 })];
    const [, piece] = advise(runs, roundings, { vcoreHourPrice: 0.1, currency: "EUR" });
    expect(piece).toMatchObject({ savedVcoreSeconds: 5 * 4 * 3600, savedAmount: 2, currency: "EUR" });
    expect(piece && adviceLine(piece)).toBe(
      "worker.vcores 8 → 3: p95 of processor use 2.4 (p50 2, most 2.4) · saves 20 core·h, 2 EUR, a run",
    );
    const evens = { ...roundings, vcores: { least: 2, step: 2 } };
    expect(advise(runs, evens, {})[1]).toMatchObject({ to: 4, savedVcoreSeconds: 4 * 4 * 3600 });
  });

  test("are more where the program takes more than it asked for", () => {
    expect(codes(adviceOn(aRun({ ...used(3.4), vcores: 2 })))).toContain("more-cores");
    expect(codes(adviceOn(aRun({ ...used(1.8), vcores: 2 })))).toContain("cores-fit");
  });

  test("are not judged by one short run, as only half of the memory is", () => {
    const told = (minutes: number) =>
      codes(advise([aRun({ ...used(4), minutes, gibibytes: [7] })], roundings, {})).filter((code) =>
        code.includes("cores"),
      );
    expect([told(5), told(15)]).toEqual([[], ["less-cores"]]);
  });

  test("are not known without series", () => {
    expect(adviceOn(aRun()).at(-1)).toEqual({ code: "unseen" });
    expect(adviceOn(aRun(), aRun(used(2)))).not.toContainEqual({ code: "unseen" });
  });
});

describe("slow tasks", () => {
  test("have less than three quarters of the middle task's rate", () => {
    const rows = [steps("worker:0", 100), steps("worker:1", 104), steps("worker:2", 62)];
    expect(adviceOn(aRun({ rows })).find(({ code }) => code === "slow-task")).toEqual({
      code: "slow-task",
      task: "worker:2",
      host: "node-2",
      percent: 62,
    });
  });

  test("are not told from fewer than three tasks, or five spans", () => {
    const few = [steps("worker:0", 100), steps("worker:1", 10)];
    expect(codes(adviceOn(aRun({ rows: few })))).not.toContain("slow-task");
    const short = [steps("worker:0", 100, 5), steps("worker:1", 100, 5), steps("worker:2", 10, 5)];
    expect(codes(adviceOn(aRun({ rows: short })))).not.toContain("slow-task");
    const enough = [steps("worker:0", 100, 6), steps("worker:1", 100, 6), steps("worker:2", 10, 6)];
    expect(codes(adviceOn(aRun({ rows: enough })))).toContain("slow-task");
  });

  test("are compared at the same time, whenever each was heard first", () => {
    /** All go ten times as slow after ten minutes. */
    const slowing = (task: string, first: number) => {
      const values = Array.from({ length: 21 }, (_, span) => Math.min(span, 10) * 100 + Math.max(0, span - 10) * 10);
      return { task, series: [{ name: "step", rule: "last" as const, first, values: values.slice(first) }] };
    };
    const rows = [slowing("worker:0", 0), slowing("worker:1", 0), slowing("worker:2", 10)];
    expect(codes(adviceOn(aRun({ rows })))).not.toContain("slow-task");
  });

  test("go at less than that, not at it, and are told once, though they ended late, too", () => {
    const rows = (rate: number) => [steps("worker:0", 100), steps("worker:1", 100), steps("worker:2", rate)];
    expect(codes(adviceOn(aRun({ rows: rows(75) })))).not.toContain("slow-task");
    const late = (task: TaskStatus) =>
      task.task === "worker:2" ? task : { ...task, endedAtMs: noonishMs + 20 * minute };
    const advice = adviceOn(aRun({ rows: rows(74), tasks: late }));
    expect(codes(advice).filter((code) => code.endsWith("-task"))).toEqual(["slow-task"]);
  });

  test("are told of also where all were heard late", () => {
    const late = (task: string, rate: number) => {
      const values = Array.from({ length: 6 }, (_, span) => span * rate);
      return { task, series: [{ name: "step", rule: "last" as const, first: 20, values }] };
    };
    const rows = [late("worker:0", 100), late("worker:1", 100), late("worker:2", 10)];
    expect(codes(adviceOn(aRun({ rows })))).toContain("slow-task");
  });

  test("are none where most stand still", () => {
    const rows = [steps("worker:0", 100), steps("worker:1", 0), steps("worker:2", 0)];
    expect(codes(adviceOn(aRun({ rows })))).not.toContain("slow-task");
  });

  test("ended well, and half as late again as the others", () => {
    const late = (task: TaskStatus) =>
      task.task === "worker:3" ? task : { ...task, endedAtMs: noonishMs + 20 * minute };
    const advice = adviceOn(aRun({ tasks: late }));
    expect(advice.map(adviceLine)).toContainEqual(expect.stringMatching(/^worker:3: /));
    expect(advice).toContainEqual({
      code: "late-task",
      task: "worker:3",
      host: "node-3",
      ranMs: 60 * minute,
      othersMs: 20 * minute,
    });
  });

  test.each([
    ["half as late again is not late", [20, 20, 20, 30], []],
    ["more than that is", [20, 20, 20, 30.1], ["worker:3"]],
    ["a minute is not late", [1, 1, 1, 2], []],
    ["more than a minute is", [1, 1, 1, 2.1], ["worker:3"]],
    ["of two nobody is", [1, 60], []],
    ["whoever failed is not", [20, 20, 20, 60, "failed"], []],
  ] as const)("late: %s", (_, lives, late) => {
    const minutes = lives.filter((one) => typeof one === "number");
    const tasks = (task: TaskStatus): TaskStatus => {
      const at = Number(task.task.split(":")[1]);
      const isLast = at === minutes.length - 1;
      const state = isLast && lives.length > minutes.length ? "failed" : "succeeded";
      return { ...task, state, endedAtMs: noonishMs + (minutes[at] ?? 0) * minute };
    };
    const advice = adviceOn(aRun({ gibibytes: minutes.map(() => 3), tasks }));
    expect(advice.flatMap((piece) => (piece.code === "late-task" ? [piece.task] : []))).toEqual(late);
  });
});

describe("containers of tasks whose programs have ended", () => {
  /** Of two workers of 8 cores one ends after so many minutes of sixty. */
  const early = (minutes: number, changes: Partial<Run["status"]> = {}, state: TaskStatus["state"] = "succeeded") => {
    const run = aRun({
      gibibytes: [3, 3],
      tasks: (task) => (task.task === "worker:0" ? { ...task, state, endedAtMs: noonishMs + minutes * minute } : task),
    });
    const usage = { memoryMiBSeconds: 0, vcoreSeconds: 17 * 3600 };
    return { ...run, status: { ...run.status, usage, ...changes } };
  };
  const kept = (run: Run) => adviceOn(run).find(({ code }) => code === "kept-containers");

  test("are kept until the job's end, and told of from a tenth of its core hours on", () => {
    const piece = kept(early(30));
    expect(piece).toEqual({ code: "kept-containers", tasks: 1, vcoreSeconds: 8 * 1800, ofVcoreSeconds: 17 * 3600 });
    expect(piece && adviceLine(piece)).toBe(
      "kept-containers: 24 % of its core·h (4 of 17) were held for 1 task whose program had ended: containers are kept for a restart until all have ended",
    );
    expect(kept(early(47))).toBeDefined();
    expect(kept(early(48))).toBeUndefined();
  });

  test("are not told of in a job that held little, of tasks that lost theirs, and of a search, whose trials take them over", () => {
    expect(kept(early(30, { usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 } }))).toBeUndefined();
    expect(kept(early(59.9, { usage: { memoryMiBSeconds: 0, vcoreSeconds: 100 } }))).toBeUndefined();
    expect(kept(early(30, {}, "lost"))).toBeUndefined();
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    expect(kept(early(30, { search }))).toBeUndefined();
  });

  test("go back at the end of their stage", () => {
    const stage = { generation: 1, startedAtMs: noonishMs, endedAtMs: noonishMs + 40 * minute, roles: ["worker"] };
    expect(kept(early(10, { generations: [stage] }))).toMatchObject({ vcoreSeconds: 8 * 1800 });
    const again = { ...stage, generation: 2, endedAtMs: noonishMs + 50 * minute };
    expect(kept(early(10, { generations: [stage, again] }))).toMatchObject({ vcoreSeconds: 8 * 2400 });
  });

  test("are worth a word from a minute of one core on", () => {
    const held = (seconds: number) =>
      kept(early(60 - seconds / 60, { usage: { memoryMiBSeconds: 0, vcoreSeconds: 100 } }));
    expect([held(7.5)?.code, held(7.4)]).toEqual(["kept-containers", undefined]);
  });
});

describe("GPUs", () => {
  const half = [...Array.from({ length: 10 }, () => 0), ...Array.from({ length: 10 }, () => 97)];
  const busy = half.map(() => 97);

  test("of one task that did nothing for a fifth of the time", () => {
    const rows = [row("worker:0", "gpu", busy), row("worker:1", "gpu", half), row("worker:2", "gpu", busy)];
    expect(adviceOn(aRun({ rows }))).toContainEqual({
      code: "idle-gpu",
      task: "worker:1",
      host: "node-1",
      percent: 50,
      othersPercent: 0,
    });
  });

  test("of a whole role", () => {
    const rows = [row("worker:0", "gpu", half), row("worker:1", "gpu", half)];
    expect(adviceOn(aRun({ rows }))).toContainEqual({ code: "idle-gpus", role: "worker", percent: 50 });
  });

  test("do nothing below five per cent, are judged from ten minutes on, and not by what was not heard", () => {
    const told = (values: readonly (number | null)[]) =>
      codes(adviceOn(aRun({ rows: [row("worker:0", "gpu", values)] }))).filter((code) => code.startsWith("idle"));
    const ten = (value: number | null) => Array.from({ length: 10 }, () => value);
    expect([told(ten(4.9)), told(ten(5))]).toEqual([["idle-gpus"], []]);
    expect([told(ten(0).slice(1)), told([...ten(97), ...ten(null)])]).toEqual([[], []]);
  });

  const gpus = (count: number, ...unused: readonly (number | undefined)[]) => {
    const tasks = (task: TaskStatus) => {
      const index = Number(task.task.split(":")[1]);
      const idle = unused[index % unused.length];
      return { ...task, gpus: { count, ...(idle === undefined ? {} : { unused: idle }) } };
    };
    return { tasks, gibibytes: [3, 3], others: { "yarn.io/gpu": count } };
  };
  const lessGpus = (...runs: readonly Run[]) =>
    advise(runs, roundings, { gpuHourPrice: 2 }).find(({ code }) => code === "less-gpus");

  test("that no task ever used need not be asked for", () => {
    const piece = lessGpus(aRun(gpus(4, 3, 2)), aRun(gpus(4, 4, 2)));
    expect(piece).toEqual({
      code: "less-gpus",
      ...{ role: "worker", key: "tony.worker.gpus", from: 4, to: 2, value: "2", tasks: 4 },
      ...{ savedGpuSeconds: 2 * 2 * 3600, savedAmount: 8 },
    });
    expect(piece && adviceLine(piece)).toBe(
      "worker.gpus 4 → 2: none of 4 tasks used more than 2 of its 4 GPUs at any time · saves 4 GPU·h, 8, a run",
    );
    const none = lessGpus(aRun({ ...gpus(1, 1), gibibytes: [3] }));
    expect(none && adviceLine(none)).toMatch(/^worker.gpus 1 → 0: its task did not use any of its GPUs at any time · /);
  });

  test("are not told to be too many where one was used, or not all were measured, or not for long, or that have another key", () => {
    expect(lessGpus(aRun(gpus(4, 4, 0)))).toBeUndefined();
    expect(lessGpus(aRun(gpus(4, 4, undefined)))).toBeUndefined();
    expect(lessGpus(aRun({ ...gpus(4, 4), minutes: 9 }))).toBeUndefined();
    expect(lessGpus(aRun({ ...gpus(4, 4), others: { "nvidia.com/mig-1g.5gb": 4 } }))).toBeUndefined();
    expect(lessGpus(aRun({ ...gpus(4, 4), others: { "yarn.io/gpu": 4, "amd.com/gpu": 4 } }))).toBeUndefined();
  });

  test("are as many as the task used that used most, of those that ran", () => {
    expect(lessGpus(aRun(gpus(4, 1, 2)))).toMatchObject({ to: 3 });
    const { tasks, ...others } = gpus(4, 3);
    const waiting = (task: TaskStatus): TaskStatus => {
      const { startedAtMs: _started, endedAtMs: _ended, gpus: _gpus, ...never } = tasks(task);
      return task.task === "worker:1" ? { ...never, state: "waiting" } : tasks(task);
    };
    expect(lessGpus(aRun({ ...others, tasks: waiting }))).toMatchObject({ to: 1, tasks: 1 });
  });

  test("are not judged by less than ten minutes", () => {
    const rows = [row("worker:0", "gpu", half.slice(0, 9))];
    expect(codes(adviceOn(aRun({ rows })))).not.toContain("idle-gpus");
  });
});

describe("lost time", () => {
  test("is told from a twentieth of the whole on", () => {
    expect(codes(adviceOn(aRun({ queuedMs: 2 * minute })))).not.toContain("queue-time");
    expect(adviceOn(aRun({ queuedMs: 20 * minute }))).toContainEqual({
      code: "queue-time",
      lostMs: 20 * minute,
      ofMs: 80 * minute,
    });
  });

  test.each([
    ["exactly a twentieth", 57 * minute, 3 * minute, true],
    ["less", 57.1 * minute, 3 * minute, false],
    ["half a minute", minute, minute / 2, true],
    ["less than half a minute", minute, minute / 2 - 1, false],
  ])("%s of a run's time", (_, ranMs, queuedMs, isTold) => {
    const told = codes(adviceOn(aRun({ minutes: ranMs / minute, queuedMs })));
    expect(told.includes("queue-time")).toBe(isTold);
  });

  test("before the programs ran, and for restarts with the work that was done again", () => {
    const at = (minutes: number) => noonishMs + minutes * minute;
    const checkpoint = { path: "hdfs:///c", step: 600, atMs: at(20) };
    const first = { generation: 1, startedAtMs: at(0), runningAtMs: at(11), endedAtMs: at(25) };
    const generations = [
      first,
      { generation: 2, startedAtMs: at(25), runningAtMs: at(27), endedAtMs: at(30), resumedFrom: checkpoint },
      { generation: 3, startedAtMs: at(30), runningAtMs: at(31), endedAtMs: at(60) },
    ];
    const advice = adviceOn(aRun({ generations }));
    expect(advice).toContainEqual({ code: "start-time", lostMs: 11 * minute, ofMs: 60 * minute });
    const marks = { allocatedAtMs: at(6), localizedAtMs: at(10), registeredAtMs: at(10.5) };
    const told = adviceOn(aRun({ generations: [{ ...first, ...marks }, ...generations.slice(1)] }));
    const start = told.find(({ code }) => code === "start-time");
    expect(start).toMatchObject({ containersMs: 6 * minute, filesMs: 4 * minute, registrationMs: 30_000 });
    expect(start && adviceLine(start)).toBe(
      "start-time: 11 min of 1 h from its AM's start until all programs ran: containers 6 min, files 4 min, registration 30 s, programs 30 s",
    );
    expect(advice).toContainEqual({
      code: "restart-time",
      times: 2,
      lostMs: 3 * minute,
      againMs: (5 + 3) * minute,
      ofMs: 60 * minute,
    });
  });

  test("of a checkpoint that was complete after the failure nothing is done again", () => {
    const at = (minutes: number) => noonishMs + minutes * minute;
    const checkpoint = { path: "hdfs:///c", step: 600, atMs: at(21) };
    const generations = [
      { generation: 1, startedAtMs: at(0), runningAtMs: at(0), endedAtMs: at(20) },
      { generation: 2, startedAtMs: at(20), runningAtMs: at(24), resumedFrom: checkpoint },
    ];
    expect(adviceOn(aRun({ generations }))).toContainEqual(
      expect.objectContaining({ code: "restart-time", lostMs: 4 * minute, againMs: 0 }),
    );
  });

  test("of a generation that ended before all of it ran nothing is done again", () => {
    const at = (minutes: number) => noonishMs + minutes * minute;
    const generations = [
      { generation: 1, startedAtMs: at(0), endedAtMs: at(20) },
      { generation: 2, startedAtMs: at(20), runningAtMs: at(24) },
    ];
    expect(adviceOn(aRun({ generations }))).toContainEqual(
      expect.objectContaining({ code: "restart-time", lostMs: 4 * minute, againMs: 0 }),
    );
  });

  test("is also what is done again, however soon that begins", () => {
    const at = (minutes: number) => noonishMs + minutes * minute;
    const generations = [
      { generation: 1, startedAtMs: at(0), runningAtMs: at(0), endedAtMs: at(20) },
      { generation: 2, startedAtMs: at(20), runningAtMs: at(20), endedAtMs: at(60) },
    ];
    expect(adviceOn(aRun({ generations }))).toContainEqual(
      expect.objectContaining({ code: "restart-time", lostMs: 0, againMs: 20 * minute }),
    );
  });

  test("is done again once between two failures, though both went back to the same checkpoint", () => {
    const at = (minutes: number) => noonishMs + minutes * minute;
    const resumedFrom = { path: "hdfs:///c", step: 600, atMs: at(10) };
    const generations = [
      { generation: 1, startedAtMs: at(0), runningAtMs: at(0), endedAtMs: at(25) },
      { generation: 2, startedAtMs: at(25), runningAtMs: at(27), endedAtMs: at(34), resumedFrom },
      { generation: 3, startedAtMs: at(34), runningAtMs: at(35), endedAtMs: at(60), resumedFrom },
    ];
    expect(adviceOn(aRun({ generations }))).toContainEqual(
      expect.objectContaining({ code: "restart-time", lostMs: 3 * minute, againMs: (15 + 7) * minute }),
    );
  });

  test("before the programs of the first stage ran is that stage's", () => {
    const at = (minutes: number) => noonishMs + minutes * minute;
    const stage = (generation: number, role: string, from: number, allocated: number) => {
      const marks = { allocatedAtMs: at(allocated), localizedAtMs: at(allocated), registeredAtMs: at(allocated) };
      return { generation, startedAtMs: at(from), ...marks, runningAtMs: at(from + 11), roles: [role] };
    };
    const stages = [{ ...stage(1, "worker", 0, 6), endedAtMs: at(30) }, stage(2, "evaluator", 30, 40)];
    expect(adviceOn(aRun({ generations: stages }))).toContainEqual(
      expect.objectContaining({ code: "start-time", containersMs: 6 * minute, programsMs: 5 * minute }),
    );
  });

  test("the stages of a job are no restarts", () => {
    const stage = (generation: number, role: string, from: number, to: number) => {
      const [startedAtMs, endedAtMs] = [noonishMs + from * minute, noonishMs + to * minute];
      return { generation, startedAtMs, runningAtMs: startedAtMs, endedAtMs, roles: [role] };
    };
    const generations = [stage(1, "worker", 0, 20), stage(2, "evaluator", 30, 60)];
    expect(codes(adviceOn(aRun({ generations })))).not.toContain("restart-time");
    const restarted = [stage(1, "worker", 0, 20), stage(2, "evaluator", 20, 60), stage(3, "worker", 24, 60)];
    expect(adviceOn(aRun({ generations: restarted }))).toContainEqual(
      expect.objectContaining({ code: "restart-time", times: 1, lostMs: 4 * minute, againMs: 20 * minute }),
    );
  });
});
