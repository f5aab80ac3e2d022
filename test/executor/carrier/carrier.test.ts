import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { checkTargets, fetchFiles } from "../../../client/results/fetch-files.ts";
import { resultsOf } from "../../../client/results/task-results.ts";
import { Carrier, type CarrierOptions } from "../../../executor/carrier/carrier.ts";
import { Gate } from "../../../executor/carrier/gate.ts";
import { OutputCarrier } from "../../../executor/carrier/output-carrier.ts";
import { Pace } from "../../../executor/carrier/pace.ts";
import type { ProgressReport } from "../../../executor/monitoring/progress-file.ts";
import { nameOf, onDisk } from "../../../src/file-names.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { CARRIER_FOLDER } from "../../../src/job/launch/container-names.ts";
import type { Transfer } from "../../../src/job/status.ts";
import { MANIFEST, NAMES } from "../../../src/job/stored/carried-names.ts";
import { aJobStatus } from "../../client/job-status.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLog } from "../../support/silent-log.ts";
import { CarrierScene, CleanedFileSystem } from "./scene.ts";

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
      outputRequired: true,
      timeoutMs: 60_000,
    },
    checkpointDir: `file://${scene.stays}/ckpt`,
    resumeFrom: undefined,
    isSearch: false,
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

function outputCarrier(fileSystem: LocalFileSystem): OutputCarrier {
  return new OutputCarrier({
    ...{ localDir: path.join(scene.workFolder, "results"), shownDir: "results", workFolder: scene.workFolder },
    folder: { fileSystem, path: `${scene.stays}/worker-0` },
    pace: new Pace(undefined, Date.now),
    gate: new Gate(),
    log: silentLog,
    nowMs: () => 7,
    random: () => 0,
    pause: async () => undefined,
    report: (transfer) => transfers.push(transfer),
  });
}

/** One that carries a first life. */
async function begun(options: Partial<CarrierOptions> = {}): Promise<Carrier> {
  const one = carrier(options);
  await one.begin("");
  return one;
}

/** Its program reports a checkpoint, and all is stored. */
async function saves(one: Carrier, step: number, file: string): Promise<void> {
  one.heard(1, progress(step, file));
  await one.settle({ last: false });
}

async function ended(one: Carrier): Promise<void> {
  one.programEnded();
  await one.settle({ last: true });
}

/** Where the checkpoint is that was stored last. */
const lastAddress = () => reports.at(-1)?.[1].checkpoint?.path ?? "";

const progress = (step: number, file?: string, checkpointStep = step): ProgressReport => ({
  type: "child-progress",
  step,
  atMs: step,
  ...(file === undefined ? {} : { checkpoint: { path: file, step: checkpointStep, atMs: checkpointStep } }),
});

describe("what is heard of a program's checkpoints", () => {
  test("one in the folder that is carried counts when it is where it stays, and is repeated from then on", async () => {
    const one = await begun();
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

  test.each([
    ["step", { step: 6 }],
    ["time", { atMs: 6 }],
    ["name", { path: "b.pt" }],
  ])("is another one by its %s alone", async (_what, change) => {
    const one = await begun();
    scene.write({ "ckpt/a.pt": "a", "ckpt/b.pt": "b" });
    const checkpoint = { path: "a.pt", step: 5, atMs: 5 };
    for (const saved of [checkpoint, checkpoint, { ...checkpoint, ...change }]) {
      one.heard(1, { ...progress(5), checkpoint: saved });
      await one.settle({ last: false });
    }
    expect(transfers.map(({ state }) => state)).toEqual(["under-way", "done", "under-way", "done"]);
  });

  test("that is stored when another program has begun, which has said nothing yet, is told with its own step", async () => {
    const gate = new Gate();
    const one = await begun({ gate });
    gate.close("nobody is reached");
    one.heard(1, progress(9, scene.write({ "ckpt/5.pt": "w" }), 5));
    await eventually("its upload is under way", () => transfers.length > 0);
    await one.begin("");
    gate.open();
    await one.settle({ last: false });
    const url = `file://${scene.stays}/ckpt/application_1_0001/worker-0/step-5-at-5`;
    const told = { type: "child-progress", atMs: 5, checkpoint: { path: url, step: 5, atMs: 5 } };
    expect(reports).toEqual([[1, { ...told, step: 5 }]]);
    expect(one.news).toEqual({ ...told, step: 0 });
  });

  test.each(["hdfs:///ckpt/45", "/elsewhere/45.pt", "../45.pt"])("%s is passed on as it is", (file) => {
    expect(carrier().heard(1, progress(45, file))).toEqual(progress(45, file));
  });
});

describe("a checkpoint's path means the same however a program writes it", () => {
  const stored = async (files: Readonly<Record<string, string>>, named: (scene: CarrierScene) => string) => {
    const one = await begun();
    scene.write(files);
    await saves(one, 5, named(scene));
    return scene.read(path.join(scene.stays, "ckpt/application_1_0001/worker-0/step-5-at-5"));
  };

  test.each([
    ["seen from the folder", () => "a.pt"],
    ["seen from the working directory", () => "ckpt/a.pt"],
    ["with a dot in front", () => "./ckpt/a.pt"],
    ["by way of another folder", () => "ckpt/../ckpt//a.pt"],
    ["absolute", ({ workFolder }: CarrierScene) => `${workFolder}/ckpt/a.pt`],
    ["as a URL", ({ workFolder }: CarrierScene) => `file://${workFolder}/ckpt/a.pt`],
    ["the whole folder", () => "ckpt"],
    ["the whole folder, seen from it", () => "."],
  ])("%s", async (_, named) => {
    expect(await stored({ "ckpt/a.pt": "w" }, named)).toMatchObject({ "a.pt": "w" });
  });

  test("by its real path, where the working directory is reached by a link", async () => {
    const link = path.join(scene.folder, "link");
    symlinkSync(scene.workFolder, link);
    const one = await begun({ workFolder: link });
    await saves(one, 5, scene.write({ "ckpt/a.pt": "w" }));
    expect(reports.at(-1)?.[1].checkpoint?.path).toContain("step-5-at-5");
  });

  test("a link in the folder stands for the file that it leads to", async () => {
    scene.write({ "ckpt/a.pt": "w" });
    symlinkSync("a.pt", path.join(scene.workFolder, "ckpt/latest.pt"));
    expect(await stored({}, () => "latest.pt")).toMatchObject({ "latest.pt": "w" });
  });

  test.each(["ckpt:5", "10:00:00/a;b%c\\d.pt", "_complete.json", `${"é".repeat(127)}x`])(
    "%s is the name of a file, and comes back as it was",
    async (name) => {
      const one = await begun();
      scene.write({ [`ckpt/${name}`]: "w" });
      await saves(one, 5, name);
      const address = lastAddress();
      expect(await one.begin(address)).toBe(path.join(scene.workFolder, "ckpt", name));
      expect(scene.read(path.join(scene.workFolder, "ckpt"))).toEqual({ [name]: "w" });
    },
  );

  test("by its first part, from which the names of its files go on", async () => {
    const files = { "model-5.index": "i", "model-5.data-00000-of-00001": "d" };
    const inFolder = Object.fromEntries(Object.entries(files).map(([name, text]) => [`ckpt/${name}`, text]));
    expect(await stored({ ...inFolder, "ckpt/model-50.index": "another" }, () => "ckpt/model-5")).toEqual({
      ...files,
      [MANIFEST]: expect.stringContaining('"name":"model-5"'),
    });
    expect(reports.at(-1)?.[1].checkpoint?.step).toBe(5);
  });

  test("a link to a file of the executor's own is none: nobody stores a secret under its name", async () => {
    const one = await begun();
    scene.write({ container_tokens: "secret" });
    symlinkSync("../container_tokens", path.join(scene.workFolder, "ckpt/a.pt"));
    await saves(one, 5, "a.pt");
    expect(transfers.at(-1)).toMatchObject({ state: "failed", reason: expect.stringContaining("a.pt does not exist") });
    expect(scene.read(scene.stays)).toEqual({});
  });

  test("one that is not there is told as failed, and nobody is told to go on from it", async () => {
    const one = await begun();
    scene.write({ "model.pt": "beside the folder" });
    expect(one.heard(1, progress(5, "model.pt"))).toEqual(progress(5));
    await one.settle({ last: true });
    expect(transfers.at(-1)).toMatchObject({
      state: "failed",
      reason: `${scene.workFolder}/ckpt/model.pt does not exist`,
    });
  });
});

describe("before a program starts", () => {
  test("its folders are there, and the checkpoint of another task of the job is in the local one", async () => {
    const saver = await begun();
    await saves(saver, 45, scene.write({ "ckpt/45.pt": "w" }));
    const address = lastAddress();

    const elsewhere = new CarrierScene();
    const other = carrier({ task: { role: "worker", index: 1 }, workFolder: elsewhere.workFolder });
    expect(await other.begin(address)).toBe(path.join(elsewhere.workFolder, "ckpt", "45.pt"));
    expect(elsewhere.read(elsewhere.workFolder)).toEqual({ "ckpt/45.pt": "w" });
    expect(readdirSync(elsewhere.workFolder)).toEqual(expect.arrayContaining(["ckpt", "results"]));
    elsewhere.remove();
  });

  /** Where an earlier job's checkpoint is. */
  async function uploadedBy(applicationId: string): Promise<string> {
    const earlier = await begun({ applicationId });
    await saves(earlier, 45, scene.write({ "ckpt/45.pt": "w" }));
    return lastAddress();
  }

  test("what a trial of an earlier search uploaded is in the local folder where a search goes on with it", async () => {
    const checkpoint = await uploadedBy("application_1_0001");
    const elsewhere = new CarrierScene();
    const later = { applicationId: "application_1_0002", workFolder: elsewhere.workFolder, isSearch: true };
    expect(await carrier(later).begin(checkpoint)).toBe(path.join(elsewhere.workFolder, "ckpt", "45.pt"));
    const outside = checkpoint.replace("/ckpt/", "/other/");
    expect(await carrier(later).begin(outside)).toBe(outside);
    elsewhere.remove();
  });

  test("what an earlier job uploaded is in the local folder where this job resumes from it", async () => {
    const resumeFrom = await uploadedBy("application_1_0001");

    const elsewhere = new CarrierScene();
    const later = { applicationId: "application_1_0002", workFolder: elsewhere.workFolder };
    expect(await carrier(later).begin(resumeFrom)).toBe(resumeFrom);
    const startsFrom = await carrier({ ...later, resumeFrom }).begin(resumeFrom);
    expect(startsFrom).toBe(path.join(elsewhere.workFolder, "ckpt", "45.pt"));
    expect(elsewhere.read(elsewhere.workFolder)).toEqual({ "ckpt/45.pt": "w" });
    elsewhere.remove();
  });

  test("one that is damaged gives way to the whole one before it, which the ApplicationMaster is told", async () => {
    const saver = await begun();
    for (const step of [30, 45]) {
      await saves(saver, step, scene.write({ [`ckpt/${step}.pt`]: "w" }));
    }
    const folder = path.join(scene.stays, "ckpt/application_1_0001/worker-0");
    rmSync(path.join(folder, "step-45-at-45/45.pt"));
    const startsFrom = await carrier().begin(`file://${folder}/step-45-at-45`);
    expect(startsFrom).toBe(path.join(scene.workFolder, "ckpt", "30.pt"));
    expect(transfers.at(-1)).toEqual({
      ...{ what: "restored", state: "done", url: `file://${folder}/step-30-at-30`, step: 30, atMs: 7 },
      ...{ files: 1, bytes: 1 },
      reason: expect.stringMatching(
        /^began with the checkpoint of step 30, as a later one cannot be used: .*45\.pt.* is not there/,
      ),
    });
  });

  test("what this job resumes from is downloaded from a file system, and left where the address leads to none", async () => {
    scene.write({ "../stays/pretrained/model.pt": "m" });
    const fileSystem = new LocalFileSystem();
    const fileSystems = {
      locate: (place: string) => {
        if (place.startsWith("s9:")) throw new Error("there is no such file system");
        return { fileSystem, path: place.replace(/^[a-z]+:\/\/(nn)?/, "") };
      },
    };
    const begin = (resumeFrom: string) => carrier({ resumeFrom, fileSystems }).begin(resumeFrom);
    const local = path.join(scene.workFolder, "ckpt", "pretrained");
    expect(await begin(`hdfs://nn${scene.stays}/pretrained`)).toBe(local);
    expect(scene.read(local)).toEqual({ "model.pt": "m" });
    expect(await begin("s9://bucket/pretrained")).toBe("s9://bucket/pretrained");
  });

  test("a file that this job resumes from is left where it is, as a plain path is: the nodes share it", async () => {
    const resumeFrom = `file://${scene.stays}/pretrained.pt`;
    expect(await carrier({ resumeFrom }).begin(resumeFrom)).toBe(resumeFrom);
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

  test("a checkpoint that is gone, or whose list cannot be read, is told apart: no other machine could read it", async () => {
    const name = "ckpt/application_1_0001/worker-0/step-45-at-45";
    await expect(carrier().begin(`file://${scene.stays}/${name}`)).rejects.toMatchObject({
      code: "CHECKPOINT_UNUSABLE",
    });
    scene.write({ [`../stays/${name}/${MANIFEST}`]: "{}" });
    await expect(carrier().begin(`file://${scene.stays}/${name}`)).rejects.toMatchObject({
      code: "CHECKPOINT_UNUSABLE",
    });
  });

  test("a checkpoint that cannot be brought back is no start from nothing; one that is stopped is left at once", async () => {
    const name = "ckpt/application_1_0001/worker-0/step-45-at-45";
    const manifest = { manifestVersion: 1, name: "m", step: 45, atMs: 45, files: [] };
    // There is no room for what is downloaded.
    scene.write({ [`../stays/${name}/${MANIFEST}`]: JSON.stringify(manifest), [CARRIER_FOLDER]: "a file" });
    const one = carrier();
    const failed = expect(one.begin(`file://${scene.stays}/${name}`)).rejects.toMatchObject({
      code: "CHECKPOINT_NOT_RESTORED",
      message: expect.stringContaining("it was stopped"),
    });
    await sleep(100);
    one.abandonStart();
    await failed;
  });
});

test("a checkpoint that is not downloaded in time keeps its program from starting", async () => {
  const place = "ckpt/application_1_0001/worker-0/step-45-at-45";
  const manifest = { manifestVersion: 1, name: "m", step: 45, atMs: 45, files: [] };
  scene.write({ [`../stays/${place}/${MANIFEST}`]: JSON.stringify(manifest), [CARRIER_FOLDER]: "a file" });
  const spec = { checkpoints: { localDir: "ckpt", keep: 2 }, outputRequired: true, timeoutMs: 20 };
  await expect(carrier({ spec }).begin(`file://${scene.stays}/${place}`)).rejects.toMatchObject({
    code: "CHECKPOINT_NOT_RESTORED",
    message: expect.stringMatching(/step-45-at-45 could not be downloaded: .* timeout$/),
  });
});

test("a start waits for the one before it, which may still fill the folder of checkpoints", async () => {
  const saver = await begun();
  await saves(saver, 45, scene.write({ "ckpt/45.pt": "w" }));
  const one = carrier();
  await Promise.all([one.begin(lastAddress()), one.begin("hdfs:///mine/60")]);
  // The second is another life: what only this container has is gone.
  expect(scene.read(scene.workFolder)).toEqual({});
});

test("after a start that was abandoned, and a life that was carried, the next program is brought what it needs", async () => {
  const one = await begun();
  const save = () => scene.write({ "ckpt/45.pt": "w" });
  await saves(one, 45, save());
  const address = lastAddress();
  one.abandonStart();
  expect(await one.begin(address)).toBe(path.join(scene.workFolder, "ckpt", "45.pt"));
  // It is another program's, though all that it says of it is the same.
  const before = transfers.length;
  one.heard(2, progress(45, save()));
  await one.settle({ last: false });
  expect(transfers.length).toBeGreaterThan(before);
});

describe("a checkpoint that is written over", () => {
  const reported = async (writtenAt: Date) => {
    const one = await begun();
    const file = scene.write({ "tony-progress-1.jsonl": "{}", "ckpt/last.pt": "half of the next" });
    utimesSync(path.join(scene.workFolder, "tony-progress-1.jsonl"), new Date(5_000), new Date(5_000));
    utimesSync(file, writtenAt, writtenAt);
    await saves(one, 5, "last.pt");
    return transfers.at(-1);
  };

  test("between its report and the look at it is refused by name", async () => {
    expect(await reported(new Date(5_001))).toMatchObject({
      state: "failed",
      reason: expect.stringMatching(/^last\.pt was written to after the checkpoint was reported: report it when /),
    });
    expect(reports).toEqual([]);
  });

  test("is one that was complete when it was reported", async () => {
    expect(await reported(new Date(5_000))).toMatchObject({ state: "done" });
  });
});

describe("empty folders and programs", () => {
  const keptOf = (folder: string) => ({
    folders: ["empty/10:00", "a"].filter((name) =>
      statSync(path.join(folder, name), { throwIfNoEntry: false })?.isDirectory(),
    ),
    programs: ["run.sh", "a/model"].filter((name) => (statSync(path.join(folder, name)).mode & 0o100) !== 0),
  });
  const write = (folder: string) => {
    scene.write({ [`${folder}/a/model`]: "m", [`${folder}/run.sh`]: "#!/bin/sh" });
    chmodSync(path.join(scene.workFolder, folder, "run.sh"), 0o755);
    mkdirSync(path.join(scene.workFolder, folder, "empty/10:00"), { recursive: true });
  };

  test("of a checkpoint come back with it", async () => {
    const one = await begun();
    write("ckpt");
    await saves(one, 5, "ckpt");
    await one.begin(lastAddress());
    const kept = keptOf(path.join(scene.workFolder, "ckpt"));
    expect(kept).toEqual({ folders: ["empty/10:00", "a"], programs: ["run.sh"] });
  });

  test("of results are stored, and are what they were where they are fetched", async () => {
    const one = await begun();
    write("results");
    await ended(one);
    expect(transfers.at(-1)).toMatchObject({ state: "done", files: 2 });
    expect(keptOf(await fetchResults())).toEqual({ folders: ["empty/10:00", "a"], programs: ["run.sh"] });
  });

  test("may be read by everybody where they are stored, programs started, and all of it changed by its owner alone", async () => {
    const one = await begun();
    write("results");
    write("ckpt");
    scene.write({ "results/10:00": "renamed, so that there is a list" });
    await saves(one, 5, "ckpt");
    await ended(one);
    const modesIn = (folder: string) => (name: string) => statSync(path.join(scene.stays, folder, name)).mode & 0o777;
    const inOutput = modesIn("out/application_1_0001/worker-0");
    expect(["", "a", "empty/10%3A00", "run.sh"].map(inOutput)).toEqual([0o755, 0o755, 0o755, 0o755]);
    expect(["a/model", NAMES].map(inOutput)).toEqual([0o644, 0o644]);
    const inCheckpoint = modesIn("ckpt/application_1_0001/worker-0/step-5-at-5");
    expect(["", "run.sh", "a/model", MANIFEST].map(inCheckpoint)).toEqual([0o755, 0o755, 0o644, 0o644]);
  });

  test("alone are no output", async () => {
    const one = await begun();
    mkdirSync(path.join(scene.workFolder, "results/empty"));
    await ended(one);
    expect(transfers.at(-1)).toMatchObject({ state: "empty" });
  });
});

/** What `tony-ts get` fetches. */
async function fetchResults(): Promise<string> {
  const status = aJobStatus({
    tasks: [{ task: "worker:0", state: "succeeded", restarts: 0, transfers: transfers.slice(-1) }],
  });
  const fileSystems = {
    locate: (url: string) => ({ fileSystem: new LocalFileSystem(), path: url.slice("file://".length) }),
  };
  const left = await resultsOf(status, "worker:0", fileSystems);
  const folder = path.join(scene.folder, "fetched");
  checkTargets(left, { folder, force: false });
  await fetchFiles(left, { folder, fetched: () => {} });
  expect(left.remarks).toEqual([]);
  return folder;
}

describe("names that are not UTF-8", () => {
  /** Writes the same as a folder and as a file in it. */
  const write = (folder: string) => {
    const odd = onDisk(path.join(scene.workFolder, folder, LATIN));
    mkdirSync(odd, { recursive: true });
    writeFileSync(onDisk(path.join(scene.workFolder, folder, LATIN, `${LATIN}.txt`)), "latin");
    mkdirSync(onDisk(path.join(scene.workFolder, folder, `empty-${LATIN}`)));
  };
  const LATIN = "caf\udce9";
  const within = (folder: string, below = ""): string[] =>
    readdirSync(onDisk(path.join(folder, below)), { withFileTypes: true, encoding: "buffer" })
      .flatMap((entry) => {
        const name = path.join(below, nameOf(entry.name));
        return entry.isDirectory() ? [name, ...within(folder, name)] : [name];
      })
      .sort();

  test("are stored encoded, in the list and in the report, and come back as they were", async () => {
    const one = await begun();
    write("results");
    await ended(one);
    const folder = path.join(scene.stays, "out/application_1_0001/worker-0");
    expect(within(folder)).toEqual([NAMES, "caf%E9", "caf%E9/caf%E9.txt", "empty-caf%E9"]);
    expect(JSON.parse(readFileSync(path.join(folder, NAMES), "utf8"))).toMatchObject({
      renamed: [{ path: `${LATIN}/${LATIN}.txt`, stored: "caf%E9/caf%E9.txt" }, { stored: "empty-caf%E9" }],
      leftOut: [],
    });
    const reason = "caf\\xe9/caf\\xe9.txt is stored as caf%E9/caf%E9.txt";
    expect(transfers.at(-1)).toMatchObject({ state: "done", files: 1, reason });
    const fetched = await fetchResults();
    expect(within(fetched)).toEqual([LATIN, `${LATIN}/${LATIN}.txt`, `empty-${LATIN}`]);
  });

  test("are those of a checkpoint's files, also after another one with such names", async () => {
    const one = await begun();
    write("ckpt/step");
    await saves(one, 5, "ckpt/step");
    write("ckpt/unfinished");
    await one.begin(lastAddress());
    const inside = [LATIN, `${LATIN}/${LATIN}.txt`, `empty-${LATIN}`].map((name) => `step/${name}`);
    expect(within(path.join(scene.workFolder, "ckpt"))).toEqual(["step", ...inside]);
  });

  test("are refused for a checkpoint itself, which TONY_CHECKPOINT could not name", async () => {
    const one = await begun();
    write("ckpt");
    await saves(one, 5, `ckpt/${LATIN}`);
    const reason = expect.stringMatching(/^caf\\xe9 cannot be stored: its name is not UTF-8, .* save it under another/);
    expect(transfers.at(-1)).toMatchObject({ state: "failed", reason });
  });
});

describe("when a program has ended", () => {
  test("what it left is stored when its last process has ended, and the report says that it did not wait for it", async () => {
    const one = await begun();
    scene.write({ "results/first": "f" });
    const words = "its command ended before 1 process of it (python3)";
    one.programEnded(
      sleep(20).then(() => {
        scene.write({ "results/late": "l" });
        return words;
      }),
    );
    await one.settle({ last: true });
    expect(scene.read(place())).toEqual({ "worker-0/first": "f", "worker-0/late": "l" });
    expect(transfers.at(-1)).toMatchObject({ state: "done", files: 2, reason: words });
  });

  const place = () => path.join(scene.stays, "out", "application_1_0001");

  test("odd names are stored encoded, and the report and a list beside them say so", async () => {
    const one = await begun();
    scene.write({ "results/runs/10:00:00/x": "odd", "results/model.pt": "m" });
    await ended(one);
    const { [`worker-0/${NAMES}`]: list = "", ...files } = scene.read(place());
    expect(files).toEqual({ "worker-0/runs/10%3A00%3A00/x": "odd", "worker-0/model.pt": "m" });
    const renamed = { path: "runs/10:00:00/x", stored: "runs/10%3A00%3A00/x", sizeBytes: 3 };
    expect(JSON.parse(list)).toEqual({ namesVersion: 1, renamed: [renamed], leftOut: [] });
    const reason = "runs/10:00:00/x is stored as runs/10%3A00%3A00/x";
    expect(transfers.at(-1)).toMatchObject({ state: "done", files: 2, reason });
  });

  test("what cannot be stored is left out and named; the rest is stored", async () => {
    const one = await begun();
    scene.write({ "results/model.pt": "m" });
    symlinkSync("../..", path.join(scene.workFolder, "results/up"));
    symlinkSync("nowhere", path.join(scene.workFolder, "results/dangling"));
    await ended(one);
    expect(Object.keys(scene.read(place()))).toEqual(expect.arrayContaining(["worker-0/model.pt"]));
    expect(transfers.at(-1)).toMatchObject({ state: "incomplete", files: 1 });
    expect(transfers.at(-1)?.reason).toMatch(
      /^up is not stored: the link leads to .*, in which containers have their secrets;/,
    );
    expect(transfers.at(-1)?.reason).toContain("dangling is not stored: the link leads to nothing");
  });

  test("what is lost is named before what only has another name, and counted apart", async () => {
    const one = await begun();
    const odd = ["a:1", "a:2", "a:3", "a:4"].map((name) => [`results/${name}`, "m"]);
    scene.write(Object.fromEntries(odd));
    // Wherever a folder has what was made first.
    symlinkSync("../..", path.join(scene.workFolder, "results/first"));
    for (const name of ["a", "b", "c"]) symlinkSync("nowhere", path.join(scene.workFolder, "results", name));
    symlinkSync("../..", path.join(scene.workFolder, "results/up"));
    await ended(one);
    const { state, reason } = transfers.at(-1) ?? {};
    expect(state).toBe("incomplete");
    expect(reason).toMatch(/^(first|up) is not stored: .*?; (first|up) is not stored: /);
    expect(reason).toMatch(/; 2 more not stored, 4 more stored under another name: see _tony-names.json$/);
  });

  test.each([
    // A folder in its place gives nobody a byte.
    ["cannot be read", "EISDIR", (disk: string) => mkdirSync(disk)],
    ["is gone", "ENOENT", () => undefined],
  ])("a file that %s when it is its turn is left out and named; the rest is stored", async (_what, why, replace) => {
    const disk = scene.write({ "results/model.pt": "m", "results/disk": "d" });
    class Replaced extends LocalFileSystem {
      override create(...[target, ...given]: Parameters<LocalFileSystem["create"]>): Promise<void> {
        if (path.basename(target) === "disk") {
          rmSync(disk);
          replace(disk);
        }
        return super.create(target, ...given);
      }
    }
    const one = outputCarrier(new Replaced());
    one.programEnded();
    await one.settled();
    const reason = `disk is not stored: it cannot be read (${why})`;
    expect(transfers.at(-1)).toMatchObject({ state: "incomplete", files: 1, reason });
    const stored = Object.keys(scene.read(scene.stays)).filter((name) => name.startsWith("worker-0/"));
    expect(stored.sort()).toEqual([`worker-0/${NAMES}`, "worker-0/model.pt"]);
  });

  test("a link to nothing, or to the folder itself, loses nothing; a folder behind a link is stored", async () => {
    const one = await begun();
    scene.write({ "elsewhere/big": "b" });
    mkdirSync(path.join(scene.workFolder, "results"), { recursive: true });
    symlinkSync("../elsewhere", path.join(scene.workFolder, "results/linked"));
    symlinkSync(".", path.join(scene.workFolder, "results/loop"));
    symlinkSync("nowhere", path.join(scene.workFolder, "results/dangling"));
    symlinkSync("itself", path.join(scene.workFolder, "results/itself"));
    symlinkSync("x".repeat(300), path.join(scene.workFolder, "results/long"));
    await ended(one);
    expect(scene.read(place())).toMatchObject({ "worker-0/linked/big": "b" });
    expect(transfers.at(-1)).toMatchObject({ state: "done", files: 1 });
  });

  test("a file that is written to during each of three tries is left out; the rest is stored", async () => {
    let tries = 0;
    class Growing extends LocalFileSystem {
      override create(...[target, ...given]: Parameters<LocalFileSystem["create"]>): Promise<void> {
        if (path.basename(target) === "log") {
          tries += 1;
          appendFileSync(path.join(scene.workFolder, "results/log"), "more");
        }
        return super.create(target, ...given);
      }
    }
    scene.write({ "results/log": "0", "results/model.pt": "m" });
    const one = outputCarrier(new Growing());
    one.programEnded();
    await one.settled();
    const reason = "log is not stored: it was written to during the upload";
    expect(transfers.at(-1)).toMatchObject({ state: "incomplete", files: 1, bytes: 1, reason });
    expect(tries).toBe(3);
  });

  test("a file and an empty folder that the file system refuses are left out, at once; the rest is stored", async () => {
    const refused: string[] = [];
    const refuseOdd = (target: string) => {
      const name = path.basename(target);
      if (!name.startsWith("odd")) return;
      refused.push(name);
      throw new FileSystemError("no such name", { code: "INVALID_REQUEST" });
    };
    class Refusing extends LocalFileSystem {
      override async create(...[target, ...given]: Parameters<LocalFileSystem["create"]>): Promise<void> {
        refuseOdd(target);
        await super.create(target, ...given);
      }
      override async mkdirs(target: string, permission: number): Promise<void> {
        refuseOdd(target);
        await super.mkdirs(target, permission);
      }
    }
    scene.write({ "results/odd.pt": "o", "results/model.pt": "m" });
    for (const folder of ["odd-folder", "empty"]) mkdirSync(path.join(scene.workFolder, "results", folder));
    const one = outputCarrier(new Refusing());
    one.programEnded();
    await one.settled();
    const reason = "odd-folder is not stored: no such name; odd.pt is not stored: no such name";
    expect(transfers.at(-1)).toMatchObject({ state: "incomplete", files: 1, bytes: 1, reason });
    expect(readdirSync(path.join(scene.stays, "worker-0")).sort()).toEqual([NAMES, "empty", "model.pt"]);
    expect(refused).toEqual(["odd-folder", "odd.pt"]);
  });

  test("a program that has left no output, or whose output cannot be stored, may have left processes: both are said", async () => {
    const words = "its command ended before 1 process of it (python3)";
    class Denied extends LocalFileSystem {
      override async mkdirs(): Promise<void> {
        throw new FileSystemError("ada may not write there", { code: "ACCESS_DENIED" });
      }
    }
    const one = outputCarrier(new Denied());
    one.programEnded(Promise.resolve(words));
    await one.settled();
    scene.write({ "results/model.pt": "m" });
    one.programEnded(Promise.resolve(words));
    await one.settled();
    expect(transfers.map(({ state, reason }) => [state, reason])).toEqual([
      ["empty", `no file was left in results (tony.output.local-dir); ${words}`],
      ["under-way", ""],
      ["failed", `ada may not write there; ${words}`],
    ]);
  });

  test("a file that a process goes on writing to does not keep the others back", async () => {
    const one = await begun();
    const file = scene.write({ "results/model.pt": "m", "results/log": "0" });
    const timer = setInterval(() => appendFileSync(file, "more"), 1);
    await ended(one);
    clearInterval(timer);
    expect(scene.read(place())["worker-0/model.pt"]).toBe("m");
  }, 30_000);

  test("its output is brought up, in place of what an earlier life left; nothing replaces something never", async () => {
    const one = await begun();
    scene.write({ "results/a/model": "first" });
    one.programEnded();
    await one.settle({ last: false });
    scene.write({ "results/a/model": "second" });
    await ended(one);
    expect(scene.read(place())).toEqual({ "worker-0/a/model": "second" });
    expect(transfers.at(-1)).toMatchObject({
      what: "output",
      state: "done",
      url: `file://${place()}/worker-0`,
      files: 1,
    });

    const elsewhere = new CarrierScene();
    const next = await begun({ workFolder: elsewhere.workFolder });
    await ended(next);
    expect(scene.read(place())).toEqual({ "worker-0/a/model": "second" });
    expect(transfers.at(-1)).toMatchObject({
      state: "empty",
      files: 0,
      reason: "no file was left in results (tony.output.local-dir)",
    });
    elsewhere.remove();
  });

  test("what a program left as a file in place of the folder is stored, and that is said", async () => {
    const one = await begun();
    rmSync(path.join(scene.workFolder, "results"), { recursive: true });
    scene.write({ results: "model" });
    await ended(one);
    expect(scene.read(place())).toEqual({ "worker-0/results": "model" });
    const reason = "results is a file, not a folder: it is stored alone";
    expect(transfers.at(-1)).toMatchObject({ state: "done", files: 1, reason });
  });

  test.each([
    ["is brought up again", 1, "done", ""],
    ["fails where that never ends", -1, "failed", "is not as it was uploaded: first is not there"],
  ])("what somebody removes while it is brought up %s", async (_what, times, state, reason) => {
    const one = outputCarrier(new CleanedFileSystem(times, (folder) => rmSync(path.join(folder, "first"))));
    scene.write({ "results/first": "1", "results/last": "2" });
    one.programEnded();
    await one.settled();
    expect(transfers.at(-1)).toMatchObject({ state, reason: expect.stringContaining(reason) });
    const stored = Object.keys(scene.read(scene.stays)).filter((name) => name.startsWith("worker-0/"));
    expect(stored.sort()).toEqual(state === "done" ? ["worker-0/first", "worker-0/last"] : []);
  });

  test("is not said to be stored where another process has taken its place meanwhile", async () => {
    class Taken extends LocalFileSystem {
      override async rename(): Promise<boolean> {
        return false;
      }
    }
    const one = outputCarrier(new Taken());
    scene.write({ "results/model": "m" });
    one.programEnded();
    await one.settled();
    const reason = expect.stringContaining("worker-0 is written by another process");
    expect(transfers.at(-1)).toMatchObject({ state: "failed", reason });
  });

  test("its output is brought up behind that of the program before it", async () => {
    const gate = new Gate();
    const one = carrier({ gate });
    scene.write({ "results/model": "m" });
    gate.close("nobody is reached");
    one.programEnded();
    await eventually("the first is under way", () => transfers.length > 0);
    one.programEnded();
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    gate.open();
    await one.settle({ last: true });
    expect(transfers.map(({ state }) => state)).toEqual(["under-way", "done", "under-way", "done"]);
  });

  test("what takes longer than the next generation waits for it is brought up beside that", async () => {
    const gate = new Gate();
    const spec = {
      output: { localDir: "results", dir: `file://${scene.stays}/out` },
      outputRequired: true,
      timeoutMs: 20,
    };
    const one = carrier({ spec, gate });
    scene.write({ "results/model": "m" });
    gate.close("nobody is reached");
    one.programEnded();
    await eventually("it is under way", () => transfers.length > 0);
    await one.settle({ last: false });
    expect(transfers.map(({ state }) => state)).toEqual(["under-way"]);
    gate.open();
    spec.timeoutMs = 60_000;
    await one.settle({ last: true });
    expect(transfers.at(-1)).toMatchObject({ state: "done" });
  });

  test("a checkpoint that takes longer than it may is given up with the output, and both are said", async () => {
    const gate = new Gate();
    const one = carrier({
      gate,
      spec: {
        checkpoints: { localDir: "ckpt", keep: 2 },
        output: { localDir: "results", dir: `file://${scene.stays}/out` },
        outputRequired: true,
        timeoutMs: 20,
      },
    });
    await one.begin("");
    scene.write({ "results/model": "m" });
    gate.close("nobody is reached");
    one.heard(1, progress(5, scene.write({ "ckpt/5.pt": "w" })));
    one.programEnded();
    await one.settle({ last: true });
    const last = Object.fromEntries(transfers.map((transfer) => [transfer.what, transfer]));
    const reason = expect.stringContaining("tony.carrier.timeout");
    expect(last).toMatchObject({ checkpoint: { state: "failed", reason }, output: { state: "failed", reason } });
  });

  test("what takes longer than it may is given up, and that is said", async () => {
    const one = carrier({
      spec: {
        output: { localDir: "results", dir: `file://${scene.stays}/out` },
        bytesPerSecond: 1,
        outputRequired: true,
        timeoutMs: 20,
      },
    });
    scene.write({ "results/model": "0123456789", "results/more": "0123456789" });
    await ended(one);
    expect(transfers.at(-1)).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("tony.carrier.timeout"),
    });
  });
});
