import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Transfer } from "../../../src/job/status.ts";
import { NAMES } from "../../../src/job/stored/carried-names.ts";
import { TestBundle } from "../../support/bundle.ts";
import { CarrierScene } from "./scene.ts";

/** Root reads everything, whatever the mode says; without these rights it is as any other user. */
const asOthers =
  process.getuid?.() === 0
    ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", process.execPath]
    : [process.execPath];

/** Uploads what is in `results`, and the checkpoint `ckpt/step`, and prints what is said of both. */
const program = `
const { Carrier } = require(process.argv[1]);
const { LocalFileSystem } = require(process.argv[2]);
const [workFolder, stays] = process.argv.slice(3);
const fileSystem = Object.assign(new LocalFileSystem(), { uri: "file://" });
const nothing = () => {};
const transfers = [];
const carrier = new Carrier({
  spec: {
    checkpoints: { localDir: "ckpt", keep: 2 },
    output: { localDir: "results", dir: stays + "/out" },
    outputRequired: true,
    timeoutMs: 60000,
  },
  checkpointDir: stays + "/ckpt",
  resumeFrom: undefined,
  isSearch: false,
  applicationId: "application_1_0001",
  task: { role: "worker", index: 0 },
  workFolder,
  fileSystems: { locate: (url) => ({ fileSystem, path: url }) },
  gate: { through: (work, signal) => work(signal) },
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  nowMs: () => 7,
  random: () => 0,
  report: nothing,
  transferred: (transfer) => transfers.push(transfer),
});
carrier.heard(1, { type: "child-progress", step: 5, atMs: 5, checkpoint: { path: "ckpt/step", step: 5, atMs: 5 } });
carrier.programEnded();
carrier.settle({ last: true }).then(() => console.log(JSON.stringify(transfers)));
`;

describe("files that their modes keep from the executor", () => {
  const scene = new CarrierScene();
  const bundles = [new TestBundle("executor/carrier/carrier.ts"), new TestBundle("src/hadoop/hdfs/local.ts")];
  let transfers: Transfer[];

  beforeAll(() => {
    scene.write({
      "results/model.pt": "m",
      "results/sealed/x": "x",
      "results/runs/secret": "s",
      "results/listed/y": "y",
    });
    scene.write({ "ckpt/step/a.pt": "a", "ckpt/step/b.pt": "b" });
    for (const sealed of ["results/sealed", "results/runs/secret", "ckpt/step/b.pt"]) {
      chmodSync(path.join(scene.workFolder, sealed), 0);
    }
    chmodSync(path.join(scene.workFolder, "results/listed"), 0o444);
    const [node = "", ...words] = [...asOthers, "-e", program, ...bundles.map(({ file }) => file)];
    transfers = JSON.parse(execFileSync(node, [...words, scene.workFolder, scene.stays], { encoding: "utf8" }));
  });
  afterAll(() => {
    for (const sealed of ["sealed", "listed"]) chmodSync(path.join(scene.workFolder, "results", sealed), 0o700);
    scene.remove();
    for (const bundle of bundles) bundle.remove();
  });

  test("do not keep the others of the output from being stored, and are named with the reason", () => {
    const { [`worker-0/${NAMES}`]: list = "", ...files } = scene.read(path.join(scene.stays, "out/application_1_0001"));
    expect(files).toEqual({ "worker-0/model.pt": "m" });
    const leftOut = [
      { path: "listed/y", why: "it cannot be read (EACCES)", isLoss: true },
      { path: "runs/secret", why: "it cannot be read (EACCES)", isLoss: true },
      { path: "sealed", why: "the folder cannot be read (EACCES)", isLoss: true },
    ];
    expect(JSON.parse(list)).toEqual({ namesVersion: 1, renamed: [], leftOut: expect.arrayContaining(leftOut) });
    const last = transfers.findLast(({ what }) => what === "output");
    expect(last).toMatchObject({ state: "incomplete", files: 1 });
    expect(last?.reason).toContain("runs/secret is not stored: it cannot be read (EACCES)");
  });

  test("make a checkpoint that is told as not stored: nobody resumes from a part of it", () => {
    const last = transfers.findLast(({ what }) => what === "checkpoint");
    expect(last).toMatchObject({ state: "failed", step: 5 });
    expect(last?.reason).toBe("step/b.pt cannot be stored: it cannot be read (EACCES)");
  });
});
