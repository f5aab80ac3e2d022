import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { latestStored } from "../../../client/results/latest-stored.ts";
import { withWholeCheckpoint } from "../../../client/submission/resume-check.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { MANIFEST } from "../../../src/job/stored/carried-names.ts";
import { aJobSpec } from "../../support/job-spec.ts";

let folder = "";
let told: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "resume-check-"));
  told = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A cluster whose files are below the test's folder. */
const fileSystem = Object.assign(new LocalFileSystem(), { uri: "hdfs://nn" });
const thisMachine = new LocalFileSystem();
const fileSystems = {
  locate: (address: string) =>
    address.startsWith("file://")
      ? { fileSystem: thisMachine, path: address.replace("file://", "") }
      : { fileSystem, path: address.replace("hdfs://nn", "") },
  home: async () => ({ fileSystem, path: folder }),
};
const task = () => path.join(folder, "ckpt/application_1_0001/worker-0");
const other = () => path.join(folder, "ckpt/application_1_0001/worker-1");

function save(place: string, step: number): string {
  const checkpoint = path.join(place, `step-${step}-at-${step}`);
  mkdirSync(checkpoint, { recursive: true });
  writeFileSync(path.join(checkpoint, "w"), "weights");
  const files = [{ path: "w", sizeBytes: 7 }];
  const list = { manifestVersion: 1, name: "w", step, atMs: step, files };
  writeFileSync(path.join(checkpoint, MANIFEST), JSON.stringify(list));
  return `hdfs://nn${checkpoint}`;
}

const carrier = { checkpoints: { localDir: "c", keep: 2 }, outputRequired: true, timeoutMs: 1 };
const resume = async (resumeFrom: string, carried = true) => {
  const sources = { "tony.application.resume-from": "--resume-from" };
  const spec = aJobSpec({ resumeFrom, sources, ...(carried && { carrier }) });
  return (await withWholeCheckpoint(spec, fileSystems, (words) => told.push(words))).resumeFrom;
};
const refused = (why: string) => ({
  code: "NO_CHECKPOINT",
  message: expect.stringMatching(new RegExp(`^tony.application.resume-from = .* \\(--resume-from\\): ${why}`)),
});

describe("what a job resumes from", () => {
  test("is the checkpoint that is named, where it is whole", async () => {
    const last = save(task(), 20);
    expect(await resume(last)).toBe(last);
    expect(told).toEqual([]);
  });

  test.each([
    ["a file is missing", (place: string) => rmSync(path.join(place, "w")), "w is not there"],
    ["a file is cut", (place: string) => writeFileSync(path.join(place, "w"), "w"), "w has 1 bytes, not 7"],
    ["its list is missing", (place: string) => rmSync(path.join(place, MANIFEST)), MANIFEST],
  ])("is the one before it where %s, which is said", async (_what, damage, why) => {
    const before = save(task(), 10);
    const last = save(task(), 20);
    damage(last.replace("hdfs://nn", ""));
    expect(await resume(last)).toBe(before);
    expect(told).toEqual([
      expect.stringMatching(
        new RegExp(`step-20-at-20 is damaged \\(.*${why}.*\\): the job begins with .*step-10-at-10$`),
      ),
    ]);
    rmSync(path.join(task(), "step-10-at-10"), { recursive: true });
    await expect(resume(last)).rejects.toMatchObject(refused("it is damaged, and no earlier one"));
  });

  test("is no upload that did not end, nor a folder of checkpoints, nor a part of one", async () => {
    const last = save(task(), 20);
    save(other(), 10);
    const unfinished = `hdfs://nn${task()}/_unfinished-step-30-at-30`;
    for (const carried of [true, false]) {
      await expect(resume(unfinished, carried)).rejects.toMatchObject(refused("it is an upload that did not end"));
      await expect(resume(`${unfinished}/w`, carried)).rejects.toMatchObject(refused("it is an upload"));
      const folders = refused(`it is a folder of checkpoints: name one of them, such as ${last}`);
      await expect(resume(`hdfs://nn${task()}`, carried)).rejects.toMatchObject(folders);
      await expect(resume(`hdfs://nn${path.dirname(task())}`, carried)).rejects.toMatchObject(folders);
    }
    await expect(resume(`${last}/w`)).rejects.toMatchObject(refused(`it is a part of a checkpoint: name ${last}$`));
  });

  test("is anything else of the program's own", async () => {
    mkdirSync(path.join(folder, "own/step-5-at-6"), { recursive: true });
    expect(await resume(`hdfs://nn${folder}/own`)).toBe(`hdfs://nn${folder}/own`);
    expect(await resume(`hdfs://nn${folder}/own/step-5-at-6`, false)).toBe(`hdfs://nn${folder}/own/step-5-at-6`);
    expect(await resume("/mnt/nfs/own")).toBe("/mnt/nfs/own");
    expect(await withWholeCheckpoint(aJobSpec(), fileSystems, (words) => told.push(words))).toEqual(aJobSpec());
  });

  test("is what only the program reads: on its nodes, on this machine, or within a checkpoint", async () => {
    const last = save(task(), 20);
    for (const place of [task(), `file://${task()}`]) expect(await resume(place)).toBe(place);
    expect(await resume(`${last}/w`, false)).toBe(`${last}/w`);
    const own = path.join(folder, "own/step-5-at-6");
    mkdirSync(own, { recursive: true });
    writeFileSync(path.join(own, "weights"), "");
    expect(await resume(`hdfs://nn${own}`, false)).toBe(`hdfs://nn${own}`);
  });

  test("is looked at as well where executors stored it once and the program reads it now", async () => {
    const before = save(task(), 10);
    const last = save(task(), 20);
    rmSync(path.join(last.replace("hdfs://nn", ""), "w"));
    expect(await resume(last, false)).toBe(before);
  });

  test("changes nothing else of the job", async () => {
    const before = save(task(), 10);
    const last = save(task(), 20);
    rmSync(path.join(last.replace("hdfs://nn", ""), "w"));
    const spec = aJobSpec({ resumeFrom: last, carrier });
    const begun = await withWholeCheckpoint(spec, fileSystems, (words) => told.push(words));
    expect(begun).toEqual({ ...spec, resumeFrom: before });
  });

  test("is not known where the file system does not answer, which is the error", async () => {
    const silence = new FileSystemError("no answer", { code: "TIMEOUT" });
    const silent = Object.assign(new LocalFileSystem(), { uri: "hdfs://nn", open: () => Promise.reject(silence) });
    const places = {
      ...fileSystems,
      locate: (address: string) => ({ ...fileSystems.locate(address), fileSystem: silent }),
    };
    const spec = aJobSpec({ resumeFrom: save(task(), 20), carrier });
    await expect(withWholeCheckpoint(spec, places, () => undefined)).rejects.toBe(silence);
  });

  test("is refused by its key alone where nothing says who set it", async () => {
    const resumeFrom = `hdfs://nn${task()}/_unfinished-step-30-at-30`;
    const refusal = withWholeCheckpoint(aJobSpec({ resumeFrom }), fileSystems, () => undefined);
    await expect(refusal).rejects.toThrow(`tony.application.resume-from = ${resumeFrom}: it is an upload`);
  });
});

describe("the latest checkpoint of a job of which nobody was told", () => {
  test("is the furthest whole one of all its tasks, wherever its folder is written to start", async () => {
    save(task(), 10);
    const last = save(other(), 20);
    rmSync(path.join(save(task(), 30).replace("hdfs://nn", ""), "w"));
    mkdirSync(path.join(task(), "_unfinished-step-40-at-40"));
    const found = { address: last, step: 20, atMs: 20 };
    expect(await latestStored("application_1_0001", `hdfs://nn${folder}/ckpt/`, fileSystems)).toEqual(found);
    expect(await latestStored("application_1_0001", "ckpt", fileSystems)).toEqual(found);
    expect(await latestStored("application_1_0002", "ckpt", fileSystems)).toBeUndefined();
  });
});
