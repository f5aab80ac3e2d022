import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Carrier, type CarrierOptions } from "../../../executor/carrier/carrier.ts";
import { Gate } from "../../../executor/carrier/gate.ts";
import type { ProgressReport } from "../../../executor/hooks/progress-file.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import type { Transfer } from "../../../src/job/status.ts";
import { silentLog } from "../../support/silent-log.ts";
import { CarrierScene } from "./scene.ts";

let scene: CarrierScene;
let reports: [number, ProgressReport][];
let transfers: Transfer[];
beforeEach(() => {
  scene = new CarrierScene();
  reports = [];
  transfers = [];
});
afterEach(() => scene.remove());

function carrier(options: Partial<CarrierOptions> = {}): Carrier {
  return new Carrier({
    spec: {
      checkpoints: { localDir: "ckpt", keep: 2 },
      output: { localDir: "results", dir: `file://${scene.stays}/out` },
      timeoutMs: 60_000,
    },
    checkpointDir: `file://${scene.stays}/ckpt`,
    resumeFrom: undefined,
    applicationId: "application_1_0001",
    task: { role: "worker", index: 0 },
    workFolder: scene.workFolder,
    fileSystems: new FileSystems({
      configuration: new Configuration(),
      credentials: simpleCredentials({ name: "ada" }),
    }),
    gate: new Gate(),
    log: silentLog,
    nowMs: () => 7,
    random: () => 0,
    report: (generation, report) => reports.push([generation, report]),
    transferred: (transfer) => transfers.push(transfer),
    ...options,
  });
}

const progress = (step: number, file?: string, checkpointStep = step): ProgressReport => ({
  type: "child-progress",
  step,
  atMs: step,
  ...(file === undefined ? {} : { checkpoint: { path: file, step: checkpointStep, atMs: checkpointStep } }),
});

describe("what is heard of a program's checkpoints", () => {
  test("one in the folder that is carried counts when it is where it stays, and is repeated from then on", async () => {
    const one = carrier();
    await one.begin("");
    const file = scene.write({ "ckpt/45.pt": "w" });
    expect(one.heard(3, progress(45, file))).toEqual(progress(45));
    expect(one.heard(3, progress(46, file, 45))).toEqual(progress(46));
    await one.settle({ last: false });
    const url = `file://${scene.stays}/ckpt/application_1_0001/worker-0/step-45-at-45`;
    const checkpoint = { path: url, step: 45, atMs: 45 };
    expect(reports).toEqual([[3, { ...progress(46), checkpoint }]]);
    expect(one.heard(3, progress(47, file, 45))).toEqual({ ...progress(47), checkpoint });
    expect(one.news).toMatchObject({ checkpoint });
    expect(transfers).toHaveLength(2);
  });

  test.each(["hdfs:///ckpt/45", "/elsewhere/45.pt", "../45.pt", "ckpt"])("%s is passed on as it is", (file) => {
    expect(carrier().heard(1, progress(45, file))).toEqual(progress(45, file));
  });
});

describe("before a program starts", () => {
  test("its folders are there, and the checkpoint of another task of the job is in the local one", async () => {
    const saver = carrier();
    await saver.begin("");
    saver.heard(1, progress(45, scene.write({ "ckpt/45.pt": "w" })));
    await saver.settle({ last: true });
    const address = reports.at(-1)?.[1].checkpoint?.path ?? "";

    const elsewhere = new CarrierScene();
    const other = carrier({ task: { role: "worker", index: 1 }, workFolder: elsewhere.workFolder });
    expect(await other.begin(address)).toBe(path.join(elsewhere.workFolder, "ckpt", "45.pt"));
    expect(elsewhere.read(elsewhere.workFolder)).toEqual({ "ckpt/45.pt": "w" });
    elsewhere.remove();
  });

  test("what an earlier job uploaded is in the local folder where this job resumes from it", async () => {
    const earlier = carrier({ applicationId: "application_1_0001" });
    await earlier.begin("");
    earlier.heard(1, progress(45, scene.write({ "ckpt/45.pt": "w" })));
    await earlier.settle({ last: true });
    const resumeFrom = reports.at(-1)?.[1].checkpoint?.path ?? "";

    const elsewhere = new CarrierScene();
    const later = { applicationId: "application_1_0002", workFolder: elsewhere.workFolder };
    expect(await carrier(later).begin(resumeFrom)).toBe(resumeFrom);
    const begun = await carrier({ ...later, resumeFrom }).begin(resumeFrom);
    expect(begun).toBe(path.join(elsewhere.workFolder, "ckpt", "45.pt"));
    expect(elsewhere.read(elsewhere.workFolder)).toEqual({ "ckpt/45.pt": "w" });
    elsewhere.remove();
  });

  test("what only this container has is removed when the program starts again, but not before its first start", async () => {
    const one = carrier();
    scene.write({ "ckpt/pretrained.pt": "shipped" });
    expect(await one.begin("")).toBe("");
    expect(scene.read(scene.workFolder)).toEqual({ "ckpt/pretrained.pt": "shipped" });
    scene.write({ "results/model": "m" });
    expect(await one.begin("hdfs:///mine/60")).toBe("hdfs:///mine/60");
    expect(scene.read(scene.workFolder)).toEqual({ "results/model": "m" });
  });

  test("a checkpoint that cannot be brought back is no start from nothing; one that is stopped is left at once", async () => {
    const one = carrier();
    const begun = one.begin(`file://${scene.stays}/ckpt/application_1_0001/worker-0/step-45-at-45`);
    const failed = expect(begun).rejects.toMatchObject({ code: "CHECKPOINT_NOT_RESTORED" });
    await sleep(0);
    one.abandonStart();
    await failed;
  });
});

describe("when a program has ended", () => {
  const place = () => path.join(scene.stays, "out", "application_1_0001");

  test("its output is brought up, in place of what an earlier life left; nothing replaces something never", async () => {
    const one = carrier();
    await one.begin("");
    scene.write({ "results/a/model": "first" });
    one.programEnded();
    await one.settle({ last: false });
    scene.write({ "results/a/model": "second" });
    one.programEnded();
    await one.settle({ last: true });
    expect(scene.read(place())).toEqual({ "worker-0/a/model": "second" });
    expect(transfers.at(-1)).toMatchObject({
      what: "output",
      state: "done",
      url: `file://${place()}/worker-0`,
      files: 1,
    });

    const elsewhere = new CarrierScene();
    const next = carrier({ workFolder: elsewhere.workFolder });
    await next.begin("");
    next.programEnded();
    await next.settle({ last: true });
    expect(scene.read(place())).toEqual({ "worker-0/a/model": "second" });
    elsewhere.remove();
  });

  test("what takes longer than it may is given up, and that is said", async () => {
    const one = carrier({
      spec: { output: { localDir: "results", dir: `file://${scene.stays}/out` }, bytesPerSecond: 1, timeoutMs: 20 },
    });
    scene.write({ "results/model": "0123456789", "results/more": "0123456789" });
    one.programEnded();
    await one.settle({ last: true });
    expect(transfers.at(-1)).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("tony.carrier.timeout"),
    });
  });
});
