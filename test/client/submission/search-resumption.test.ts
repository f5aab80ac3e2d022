import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { localFiles, localRoot } from "../../../client/applications/local-folder.ts";
import { requireSame, tookOver, trialsBefore } from "../../../client/submission/search-resumption.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import type { Search } from "../../../src/job/search/trials.ts";
import type { SearchStatus, TaskStatus } from "../../../src/job/status.ts";
import { searchOf } from "../../job/search/support.ts";
import { eventually } from "../../support/eventually.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus } from "../job-status.ts";
import { recordedContext } from "../support.ts";
import { StandInCluster } from "./stand-in-cluster.ts";

const search: Search = {
  ...searchOf({ lr: "float 0 1", kind: "choice 1 sgd", momentum: "float 0 0.9 when kind=sgd" }),
  maxTrials: 4,
};
const ID = "local_1795305600000_0001";

let folder = "";
let environment: Record<string, string> = {};
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "resumption-"));
  environment = { XDG_STATE_HOME: folder };
});
afterEach(() => rmSync(folder, { recursive: true }));

const before = (from: string, given = search) =>
  trialsBefore(from, given, undefined, {
    ...recordedContext({ workingDirectory: folder, environment }),
    now: () => 2e12,
  });

function write(...lines: readonly unknown[]): string {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path.join(folder, "trials.jsonl"), `${text.join("\n")}\n`);
  return "trials.jsonl";
}

const adam = { lr: 0.5, kind: "1" };
const sgd = { lr: 0.5, kind: "sgd", momentum: 0.9 };

describe("a file of trials", () => {
  test("is read as it is, with what was interrupted", async () => {
    const lines = [
      { number: 0, params: adam, state: "completed", value: 1, reports: [[1, 1]] },
      { number: 1, params: sgd, state: "interrupted" },
    ];
    expect(await before(write(...lines))).toEqual(lines);
  });

  test.each([
    [[{ params: { ...adam, extra: 1 } }], "extra is not a parameter of this search but has a value in its trial 0"],
    [[{ params: adam }, { params: { lr: 0.5 } }], "kind has no value in its trial 1"],
    [[{ params: { ...adam, lr: 2 } }], "lr is 2, and this search has float 0 1 in its trial 0"],
    [[{ params: { ...adam, kind: "adam" } }], "kind is adam, and this search has choice 1 sgd in its trial 0"],
    [[{ params: { lr: 0.5, kind: "sgd" } }], "momentum has no value in its trial 0"],
    [[{ params: { ...sgd, kind: 1 } }], "momentum has a value, and its condition does not hold in its trial 0"],
    [
      [{ number: 1, params: adam }],
      "trials.jsonl has trial 1 where trial 0 should be: it has to contain all trials, in their order",
    ],
    [["{"], "trials.jsonl:1: "],
    [Array(4).fill({ params: adam, value: 1 }), "4 trials that have ended, and this search has 4 trials in all"],
  ])("%j is refused: %s", async (lines, said) => {
    await expect(before(write(...lines))).rejects.toThrow(said);
  });

  const said = {
    ...{ metric: "loss", direction: "minimize" },
    space: { lr: "float 0 1", kind: "choice 1 sgd", momentum: "float 0 0.9 when kind=sgd" },
  };

  test("of a search that looked for the same at the same places is gone on with", async () => {
    const line = { number: 0, params: adam, state: "completed", value: 1 };
    expect(await before(write({ ...line, search: said }, " ", { ...line, number: 1 }))).toEqual([
      line,
      { ...line, number: 1 },
    ]);
  });

  test.each([
    [{ direction: "maximize" }, "trials.jsonl was to maximize loss, this search is to minimize loss"],
    [{ metric: "accuracy" }, "trials.jsonl was to minimize accuracy, this search is to minimize loss"],
    [
      { space: { ...said.space, lr: "float 0 0.6" } },
      "trials.jsonl had another space: lr was float 0 0.6, and is float 0 1 now",
    ],
  ])("of another search is refused: %j", async (other, words) => {
    const file = write({ params: adam, state: "completed", value: 1, search: { ...said, ...other } });
    await expect(before(file)).rejects.toThrow(words);
  });

  test("that is longer than any of ours is not read into memory", async () => {
    truncateSync(path.join(folder, write()), 2 ** 34);
    await expect(before("trials.jsonl")).rejects.toThrow("trials.jsonl is longer than any of ours: 67108864 bytes");
  });

  test("has room for more where some of its trials have no end yet", async () => {
    const over = { params: adam, state: "completed", value: 1 };
    for (const state of ["interrupted", "running"])
      expect(await before(write(over, over, over, { params: adam, state }))).toHaveLength(4);
  });

  test("of a search that knew nothing of one of our parameters is another one's", () => {
    const said = { metric: search.metric, direction: search.direction, space: { lr: "float 0 1" } };
    expect(() => requireSame("a.jsonl", said, search)).toThrow(
      "a.jsonl had another space: kind was not there, and is choice 1 sgd now",
    );
    const { space: _, ...older } = said;
    requireSame("a.jsonl", older, search);
  });

  test("with the best trial alone is none", async () => {
    await expect(before("out/result.json")).rejects.toThrow(
      "--resume out/result.json: it has only the best trial; all trials are in trials.jsonl next to it",
    );
  });

  test("that is not there is no id either", async () => {
    await expect(before("none.jsonl")).rejects.toThrow("it is neither an application's id nor a file on this machine");
  });
});

describe("a search that has ended", () => {
  const was: SearchStatus = {
    ...{ metric: "loss", direction: "minimize", command: "train" },
    parameters: ["lr", "kind", "momentum"],
    space: ["float 0 1", "choice 1 sgd", "float 0 0.9 when kind=sgd"],
  };
  const task = (
    trial: TaskStatus["trial"],
    params: TaskStatus["params"],
    more: Partial<TaskStatus> = {},
  ): TaskStatus => ({
    ...{ task: "worker:0", state: "succeeded", restarts: 0, ...(params && { params }), ...(trial && { trial }) },
    ...more,
  });
  const outcome = { ...endedBecause("killed", { code: "stop-requested", words: "killed by ada" }), endedAtMs: 9 };

  function ended(tasks: readonly TaskStatus[], said: SearchStatus | null = was): void {
    const own = path.join(localRoot(environment), ID);
    mkdirSync(own, { recursive: true });
    const { search: _, ...status } = aJobStatus({ applicationId: ID, state: "killed", tasks, outcome });
    writeFileSync(path.join(own, localFiles.status), JSON.stringify({ ...status, ...(said && { search: said }) }));
  }

  test("is gone on with by the file that it left", async () => {
    ended([]);
    const line = {
      number: 0,
      params: adam,
      state: "stopped",
      value: 1,
      reports: [
        [1, 3],
        [2, 1],
      ],
    };
    writeFileSync(path.join(localRoot(environment), ID, "trials.jsonl"), `${JSON.stringify(line)}\n`);
    expect(await before(ID)).toEqual([{ ...line, application: ID }]);
  });

  test("is gone on with by what is known of its tasks, where that is not there", async () => {
    ended([
      task(
        { state: "completed", checkpoint: "hdfs:///c" },
        { lr: "0.5", kind: "1" },
        { metrics: { loss: 2 }, step: 7 },
      ),
      task(
        { state: "failed", why: "exited 1", nonFinite: "NaN" },
        { lr: "0.5", kind: "sgd", momentum: "0.1" },
        { startedAtMs: 1, endedAtMs: 2 },
      ),
      task({ state: "failed" }, { lr: "0.5", kind: "1" }, { step: 3 }),
      task({ state: "interrupted", checkpoint: "hdfs:///c/0" }, { lr: "0.5", kind: "1" }),
      task(undefined, undefined),
    ]);
    expect(await before(ID)).toStrictEqual([
      {
        ...{ params: adam, state: "completed", value: 2, step: 7, reports: [[7, 2]] },
        ...{ checkpoint: "hdfs:///c", checkpointStep: 7, application: ID },
      },
      {
        ...{ params: { lr: 0.5, kind: "sgd", momentum: 0.1 }, state: "failed", value: "NaN", why: "exited 1" },
        ...{ startedAtMs: 1, endedAtMs: 2, application: ID },
      },
      { params: adam, state: "failed", step: 3, application: ID },
      { params: adam, state: "interrupted", checkpoint: "hdfs:///c/0", application: ID },
    ]);
  });

  test("that went on with another one knows which trials ran there", async () => {
    const params = { lr: "0.5", kind: "1" };
    ended([task({ state: "completed", application: "local_1_0001" }, params, { metrics: { loss: 2 } })]);
    expect(await before(ID)).toMatchObject([{ application: "local_1_0001" }]);
    const line = { number: 0, params: adam, state: "completed", value: 2, application: "local_1_0001" };
    writeFileSync(path.join(localRoot(environment), ID, "trials.jsonl"), `${JSON.stringify(line)}\n`);
    expect(await before(ID)).toEqual([line]);
  });

  test("is gone on with by the newer of both, where its ApplicationMaster was killed before it had stored how all ended", async () => {
    const params = { lr: "0.5", kind: "1" };
    ended([
      task({ state: "completed" }, params, { metrics: { loss: 2 } }),
      task({ state: "completed" }, params, { metrics: { loss: 3 } }),
      task({ state: "interrupted" }, params),
    ]);
    const stored = [
      { number: 0, params: adam, state: "completed", value: 2, durationMs: 5 },
      { number: 1, params: adam, state: "running" },
      { number: 2, params: adam, state: "running", checkpoint: "hdfs:///c/1", checkpointStep: 1 },
    ];
    const file = path.join(localRoot(environment), ID, "trials.jsonl");
    writeFileSync(file, stored.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expect(await before(ID)).toMatchObject([
      { number: 0, state: "completed", value: 2 },
      { state: "completed", value: 3 },
      // Neither has an end: the checkpoint that it continues from stands in the file alone.
      { number: 2, state: "running", checkpoint: "hdfs:///c/1" },
    ]);
  });

  test("is gone on with by its file alone, where nothing else was kept of it", async () => {
    mkdirSync(path.join(localRoot(environment), ID), { recursive: true });
    const line = { number: 0, params: adam, state: "running" };
    writeFileSync(path.join(localRoot(environment), ID, "trials.jsonl"), `${JSON.stringify(line)}\n`);
    expect(await before(ID)).toEqual([{ ...line, application: ID }]);
  });

  test("is another one where it looked elsewhere, or for something else", async () => {
    ended([]);
    const elsewhere = searchOf({ lr: "float 0 2", kind: "choice 1 sgd", momentum: "float 0 0.9 when kind=sgd" });
    await expect(before(ID, elsewhere)).rejects.toThrow("lr was float 0 1, and is float 0 2 now");
    const fewer = searchOf({ lr: "float 0 1", kind: "choice 1 sgd" });
    await expect(before(ID, fewer)).rejects.toThrow("momentum was float 0 0.9 when kind=sgd, and is not there now");
    await expect(before(ID, { ...search, direction: "maximize" })).rejects.toThrow(
      `${ID} was to minimize loss, this search is to maximize loss`,
    );
  });

  test("of an older release, whose status does not say where it looked, is gone on with", async () => {
    const { space: _, ...older } = was;
    ended([task({ state: "completed" }, { lr: "0.5", kind: "1" }, { metrics: { loss: 2 } })], older);
    expect(await before(ID)).toMatchObject([{ params: adam, value: 2 }]);
  });

  test("is refused where it was no search", async () => {
    ended([], null);
    await expect(before(ID)).rejects.toThrow("was no search");
  });

  test("is refused where nothing was kept of it", async () => {
    mkdirSync(path.join(localRoot(environment), ID), { recursive: true });
    await expect(before(ID)).rejects.toThrow("what became of its trials was not kept");
  });
});

describe("a search on a cluster", () => {
  const id = "application_1795305600000_0007";
  let there: StandInCluster;
  beforeEach(async () => {
    there = await StandInCluster.start();
    there.manager.applications = [aReport({ id, user: there.applicant, state: "KILLED", finalStatus: "KILLED" })];
  });
  afterEach(() => there.stop());

  const onCluster = (outputDir = "", stagingDir = `file://${there.staging}`) => {
    const conf = [`tony.staging-dir=${stagingDir}`];
    return trialsBefore(id, { ...search, ...(outputDir !== "" && { outputDir }) }, conf, there.context);
  };

  test("that has not ended is refused, and nobody stays connected with the cluster", async () => {
    there.manager.applications = there.manager.applications.map((one) => ({ ...one, state: "RUNNING" }));
    await expect(onCluster()).rejects.toMatchObject({
      code: "USAGE",
      message: `${id} still runs: tony-ts status ${id}`,
    });
    await eventually("the connection's end", () => there.manager.callers === 0);
  });

  test("of which nothing is kept is gone on with by the file in the folder of its results", async () => {
    const line = { number: 0, params: adam, state: "running" };
    mkdirSync(path.join(there.folder, "results", id), { recursive: true });
    writeFileSync(path.join(there.folder, "results", id, "trials.jsonl"), `${JSON.stringify(line)}\n`);
    expect(await onCluster(`file://${there.folder}/results//`)).toEqual([{ ...line, application: id }]);
    await expect(onCluster()).rejects.toThrow(`--resume ${id}: what became of its trials was not kept`);
  });

  test("whose last state cannot be read now is refused with the reason", async () => {
    const elsewhere = "s3a://bucket/staging";
    await expect(onCluster("", elsewhere)).rejects.toThrow(
      new RegExp(`^--resume ${id}: what became of its trials cannot be read now: .*s3a`),
    );
  });
});

test.each([
  [["completed", "stopped", "failed"], "took over 3 trials of a: 3 ended"],
  [["completed", "interrupted"], "took over 2 trials of a: 1 ended, 1 begins again"],
  [["running", "interrupted", "paused"], "took over 3 trials of a: 0 ended, 1 paused, 2 begin again"],
] as const)("what a search goes on with is said: %j", (states, said) => {
  const lines = states.map((state) => ({ params: adam, state }));
  expect(tookOver("a", lines)).toBe(said);
});

test("of what continues from a checkpoint that is said", () => {
  const saved = { params: adam, state: "interrupted", checkpoint: "hdfs:///c/1" } as const;
  const anew = { params: adam, state: "interrupted" } as const;
  const over = { ...saved, state: "completed" } as const;
  expect(tookOver("a", [over, saved])).toBe("took over 2 trials of a: 1 ended, 1 continues from a checkpoint");
  expect(tookOver("a", [saved, saved, anew])).toBe(
    "took over 3 trials of a: 0 ended, 2 continue from a checkpoint, 1 begins again",
  );
});
