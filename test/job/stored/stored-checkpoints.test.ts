import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import {
  latestOfJob,
  latestWhole,
  missingOf,
  readManifest,
  readWhole,
  wholeOrEarlier,
} from "../../../src/job/stored/stored-checkpoints.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const fileSystem = new LocalFileSystem();
const inFolder = (name: string) => path.join(folder.path, name);

/** A checkpoint with a file of four bytes, and one that is stored under another name. @returns its path */
function stored(name: string): string {
  const [, step = "0", atMs = "0"] = /step-(\d+)-at-(\d+)$/.exec(name) ?? [];
  mkdirSync(inFolder(`${name}/deep`), { recursive: true });
  writeFileSync(inFolder(`${name}/deep/model.pt`), "1234");
  writeFileSync(inFolder(`${name}/_file-1`), "12");
  const manifest = {
    ...{ manifestVersion: 1, name: "ckpt", step: Number(step), atMs: Number(atMs) },
    files: [
      { path: "deep/model.pt", sizeBytes: 4 },
      { path: "a:b", stored: "_file-1", sizeBytes: 2 },
    ],
  };
  writeFileSync(inFolder(`${name}/_complete.json`), JSON.stringify(manifest));
  return inFolder(name);
}

const damage = (checkpoint: string) => rmSync(path.join(checkpoint, "deep/model.pt"));

describe("a checkpoint", () => {
  test("is whole when all files of its list are there, by their stored names", async () => {
    const checkpoint = stored("step-4-at-1");
    expect(await readWhole(fileSystem, checkpoint)).toMatchObject({ path: checkpoint, manifest: { step: 4 } });
  });

  test.each([
    ["is gone", (checkpoint: string) => damage(checkpoint), "deep/model.pt is not there"],
    [
      "has another length",
      (checkpoint: string) => writeFileSync(path.join(checkpoint, "deep/model.pt"), "123"),
      "deep/model.pt has 3 bytes, not 4",
    ],
    [
      "is missing by its stored name",
      (checkpoint: string) => rmSync(path.join(checkpoint, "_file-1")),
      "_file-1 is not there",
    ],
  ])("whose file %s is damaged", async (_how, harm, why) => {
    const checkpoint = stored("step-4-at-1");
    harm(checkpoint);
    await expect(readWhole(fileSystem, checkpoint)).rejects.toMatchObject({
      code: "CHECKPOINT_DAMAGED",
      message: `${checkpoint}: ${why}`,
    });
  });

  test("whose list is none is damaged, and one without a list is not there", async () => {
    const checkpoint = stored("step-4-at-1");
    writeFileSync(path.join(checkpoint, "_complete.json"), "{}");
    await expect(readManifest(fileSystem, checkpoint)).rejects.toMatchObject({
      code: "CHECKPOINT_DAMAGED",
      message: expect.stringMatching(/_complete\.json is not a list of a checkpoint's files: /),
    });
    rmSync(path.join(checkpoint, "_complete.json"));
    await expect(readManifest(fileSystem, checkpoint)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  test("of which several files are missing tells the first, and how many more", async () => {
    const files = ["a", "b", "c"].map((name) => ({ path: name, sizeBytes: 1 }));
    expect(await missingOf(fileSystem, folder.path, { files, folders: ["d"] })).toBe(
      "a is not there, and 3 more are not as they were",
    );
    expect(await missingOf(fileSystem, folder.path, { files: [], folders: ["d"] })).toBe("the folder d is not there");
    mkdirSync(inFolder("d"));
    expect(await missingOf(fileSystem, folder.path, { files: [], folders: ["d"] })).toBeUndefined();
  });
});

describe("in place of a checkpoint that is damaged", () => {
  async function takenFor(checkpoint: string) {
    const passed: string[] = [];
    const pass = (skipped: string, why: string, taken: { readonly path: string }) =>
      passed.push(`${path.basename(skipped)} (${why.slice(skipped.length)}) → ${path.basename(taken.path)}`);
    const taken = await wholeOrEarlier(fileSystem, checkpoint, pass);
    return { taken: path.basename(taken.path), passed };
  }

  test("nothing is taken where it is not", async () => {
    stored("step-9-at-9");
    expect(await takenFor(stored("step-4-at-1"))).toEqual({ taken: "step-4-at-1", passed: [] });
  });

  test("the whole one before it is taken, and none that is later", async () => {
    stored("step-2-at-1");
    stored("step-4-at-1");
    damage(stored("step-4-at-2"));
    stored("step-9-at-9");
    const asked = stored("step-4-at-3");
    damage(asked);
    expect(await takenFor(asked)).toEqual({
      taken: "step-4-at-1",
      passed: ["step-4-at-3 (: deep/model.pt is not there) → step-4-at-1"],
    });
  });

  test("the latest one is taken where it is gone, because that may have replaced it", async () => {
    stored("step-2-at-1");
    stored("step-9-at-9");
    expect((await takenFor(inFolder("step-4-at-1"))).taken).toBe("step-9-at-9");
  });

  test("nothing is taken where there is no other, and the first trouble is told", async () => {
    const asked = stored("step-4-at-3");
    damage(asked);
    await expect(takenFor(asked)).rejects.toMatchObject({ code: "CHECKPOINT_DAMAGED" });
  });

  test("nothing is taken where the file system does not answer", async () => {
    stored("step-2-at-1");
    const away = Object.assign(new Error("no NameNode answers"), { code: "AWAY" });
    const broken = { list: fileSystem.list.bind(fileSystem), open: () => Promise.reject(away) };
    await expect(wholeOrEarlier(broken, inFolder("step-4-at-1"), () => undefined)).rejects.toBe(away);
    await expect(latestWhole(broken, folder.path)).rejects.toBe(away);
  });
});

describe("the latest checkpoint", () => {
  test("of a task is the furthest that is whole", async () => {
    expect(await latestWhole(fileSystem, inFolder("gone"))).toBeUndefined();
    stored("step-2-at-7");
    stored("step-10-at-1");
    damage(stored("step-11-at-1"));
    expect((await latestWhole(fileSystem, folder.path))?.path).toBe(inFolder("step-10-at-1"));
  });

  test("of a job is the furthest of any task, of the same step the newest", async () => {
    stored("worker-0/step-4-at-5");
    stored("worker-1/step-4-at-6");
    stored("worker-2/step-3-at-9");
    writeFileSync(inFolder("a-file"), "");
    expect((await latestOfJob(fileSystem, folder.path))?.path).toBe(inFolder("worker-1/step-4-at-6"));
    expect(await latestOfJob(fileSystem, inFolder("none"))).toBeUndefined();
  });
});
