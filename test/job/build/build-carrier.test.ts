import { describe, expect, test } from "@jest/globals";
import { check, minimalJob, saidAbout, specOf } from "../support.ts";

const checkpoints = {
  "tony.checkpoint.local-dir": "ckpt/",
  "tony.application.checkpoint-dir": "hdfs:///user/ada/ckpt",
};
const output = { "tony.output.local-dir": "results", "tony.output.dir": "results/bert" };
const errors = (values: Readonly<Record<string, string>>) => saidAbout({ ...minimalJob, ...values });

describe("what executors are to carry", () => {
  test("is nothing when no key asks for it", () => {
    expect(specOf({})).not.toHaveProperty("carrier");
    expect(specOf({ "tony.application.checkpoint-dir": "/mnt/nfs" })).not.toHaveProperty("carrier");
  });

  test("is each with its folder and its place, in all the time and bandwidth that keys allow", () => {
    expect(specOf({ ...checkpoints, ...output }).carrier).toEqual({
      checkpoints: { localDir: "ckpt", keep: 2 },
      output: { localDir: "results", dir: "results/bert" },
      outputRequired: true,
      timeoutMs: 600_000,
    });
    const bounds = { "tony.checkpoint.keep": "5", "tony.carrier.bandwidth": "50m", "tony.carrier.timeout": "90s" };
    expect(specOf({ ...checkpoints, ...bounds }).carrier).toEqual({
      checkpoints: { localDir: "ckpt", keep: 5 },
      bytesPerSecond: 52_428_800,
      outputRequired: true,
      timeoutMs: 90_000,
    });
  });

  test.each([".", "..", "../ckpt", "/tmp/ckpt", "hdfs:///ckpt", "a/../.."])(
    "a local folder must be in the container: %s",
    (folder) => {
      expect(errors({ ...checkpoints, "tony.checkpoint.local-dir": folder })).toEqual([
        expect.stringMatching(/^job\.xml:3.*must be a folder inside the container's working directory/),
      ]);
    },
  );

  test("without its place, or a place without it, nobody knows what to do", () => {
    expect(errors({ "tony.checkpoint.local-dir": "c" })).toEqual([
      expect.stringContaining("needs tony.application.checkpoint-dir"),
    ]);
    expect(errors({ "tony.output.local-dir": "r" })).toEqual([expect.stringContaining("needs tony.output.dir")]);
    expect(errors({ "tony.output.dir": "r" })).toEqual([expect.stringContaining("needs tony.output.local-dir")]);
  });

  test("a search leaves its trials in a place of its own accord", () => {
    const search = {
      "tony.search.param.x": "float 0 1",
      "tony.search.metric": "m",
      "tony.search.direction": "minimize",
    };
    expect(errors({ ...search, "tony.output.dir": "r" })).toEqual([]);
    expect(errors({ ...search, "tony.output.dir": "/r" })).toEqual([expect.stringContaining("has no scheme")]);
    expect(check({ ...minimalJob, ...search, "tony.output.dir": "r" }).search).toMatchObject({ outputDir: "r" });
  });

  test("a place says which file system it is on, and the two local folders are two", () => {
    expect(errors({ ...checkpoints, "tony.application.checkpoint-dir": "/user/ada" })).toEqual([
      expect.stringContaining("has no scheme: write hdfs:///user/ada on a cluster, file:///user/ada on one machine"),
    ]);
    expect(errors({ ...checkpoints, ...output, "tony.output.local-dir": "./ckpt" })).toEqual([
      expect.stringContaining("is the folder of checkpoints too"),
    ]);
  });

  test("results do not go where they would replace checkpoints, or be removed with them", () => {
    expect(errors({ ...checkpoints, ...output, "tony.output.dir": "hdfs:///user/ada/ckpt/" })).toEqual([
      expect.stringContaining("is also where checkpoints are kept (tony.application.checkpoint-dir)"),
    ]);
    expect(errors({ ...checkpoints, ...output, "tony.output.dir": "hdfs:///user/ada/ckpt/results" })).toEqual([]);
    expect(errors({ ...checkpoints, ...output, "tony.output.local-dir": "ckpt/results" })).toEqual([
      expect.stringContaining("is in the folder of checkpoints (ckpt), which is emptied when a checkpoint is brought"),
    ]);
    expect(errors({ ...checkpoints, ...output, "tony.output.local-dir": "ckpt-results" })).toEqual([]);
  });
});

describe("no folder that stays is where something is removed", () => {
  const history = { "tony.history.location": "hdfs:///history" };
  const all = { ...checkpoints, ...output, ...history };
  const inside =
    /^job\.xml:\d+.* is in a staging folder \(\.tony-ts\), from which the job's own folder is removed when it has ended/;

  test.each([
    ".tony-ts",
    "./.tony-ts/",
    ".tony-ts/results",
    "hdfs:///user/ada//.tony-ts",
    "hdfs://nn:8020/user/ada/.tony-ts/cache/x",
  ])("such as the home's staging folder: %s", (folder) => {
    for (const key of ["tony.output.dir", "tony.application.checkpoint-dir", "tony.history.location"])
      expect(errors({ ...all, [key]: folder })).toEqual([expect.stringMatching(inside)]);
    expect(errors({ ...all, "tony.history.intermediate": folder })).toEqual([expect.stringMatching(inside)]);
    expect(errors({ ...all, "tony.history.finished": folder })).toEqual([expect.stringMatching(inside)]);
    expect(errors({ "tony.application.checkpoint-dir": folder })).toEqual([expect.stringMatching(inside)]);
  });

  test.each([
    ["hdfs:///st/ada", "/st/ada/"],
    ["hdfs:///st//ada/r", "hdfs:///st/ada"],
    ["HDFS://NN:8020/st/./ada", "hdfs://nn:8020/st/ada"],
  ])("such as the job's own staging folder: %s in %s", (folder, staging) => {
    expect(errors({ ...output, "tony.output.dir": folder, "tony.staging-dir": staging })).toContainEqual(
      expect.stringContaining("tony.output.dir is in the staging folder (tony.staging-dir)"),
    );
  });

  test("nor holds the staging folder that the job names, nor is in its cache", () => {
    expect(errors({ ...output, "tony.output.dir": "hdfs:///st", "tony.staging-dir": "hdfs:///st/ada" })).toEqual([
      expect.stringContaining("tony.output.dir contains the staging folder (tony.staging-dir)"),
    ]);
    expect(errors({ ...output, "tony.output.dir": "hdfs:///c/x", "tony.cache.dir": "hdfs:///c" })).toEqual([
      expect.stringContaining("tony.output.dir is in the cache (tony.cache.dir)"),
    ]);
  });

  test("nor are results or checkpoints among the folders that history moves", () => {
    const moved = expect.stringContaining("is where the history is kept too (tony.history.");
    expect(errors({ ...all, "tony.output.dir": "hdfs:///history/intermediate" })).toEqual([moved]);
    expect(errors({ ...all, "tony.application.checkpoint-dir": "hdfs:///history/finished/x" })).toEqual([moved]);
    const own = { "tony.history.intermediate": "hdfs:///running" };
    expect(errors({ ...all, ...own, "tony.output.dir": "hdfs:///running/" })).toEqual([moved]);
    expect(errors({ ...all, ...own, "tony.output.dir": "hdfs:///history/intermediate" })).toEqual([]);
  });

  test("what lies beside, or has a name that begins so, is fine", () => {
    expect(errors({ ...output, "tony.output.dir": "hdfs:///st/ada-results", "tony.staging-dir": "/st/ada" })).toEqual(
      [],
    );
    expect(errors({ ...output, "tony.output.dir": "hdfs:///user/ada" })).toEqual([]);
    expect(errors({ ...output, "tony.output.dir": ".tony-ts-results" })).toEqual([]);
    expect(errors({ "tony.application.checkpoint-dir": "/mnt/st/x", "tony.staging-dir": "/mnt/st" })).toEqual([]);
    expect(errors({ ...all, "tony.output.dir": "hdfs:///history/results" })).toEqual([]);
  });
});
