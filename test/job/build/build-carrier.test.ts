import { describe, expect, test } from "@jest/globals";
import { minimalJob, saidAbout, specOf } from "../support.ts";

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
      expect.stringContaining("is where checkpoints are kept too (tony.application.checkpoint-dir)"),
    ]);
    expect(errors({ ...checkpoints, ...output, "tony.output.dir": "hdfs:///user/ada/ckpt/results" })).toEqual([]);
    expect(errors({ ...checkpoints, ...output, "tony.output.local-dir": "ckpt/results" })).toEqual([
      expect.stringContaining("is in the folder of checkpoints (ckpt), which is emptied when a checkpoint is brought"),
    ]);
    expect(errors({ ...checkpoints, ...output, "tony.output.local-dir": "ckpt-results" })).toEqual([]);
  });
});
