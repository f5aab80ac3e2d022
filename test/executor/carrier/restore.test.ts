import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { restoreCheckpoint } from "../../../executor/carrier/restore.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { MANIFEST } from "../../../src/job/stored/carried-names.ts";
import { CarrierScene } from "./scene.ts";

let scene: CarrierScene;
beforeEach(() => {
  scene = new CarrierScene();
});
afterEach(() => scene.remove());

const saved = (name: string, step: number, files: Readonly<Record<string, string>>) =>
  scene.write({
    ...Object.fromEntries(Object.entries(files).map(([file, text]) => [`../stays/${name}/${file}`, text])),
    [`../stays/${name}/${MANIFEST}`]: JSON.stringify({
      manifestVersion: 1,
      name: "model",
      step,
      atMs: step,
      files: Object.entries(files).map(([file, text]) => ({ path: file, sizeBytes: text.length })),
    }),
  });

const restore = (name: string) =>
  restoreCheckpoint({
    fileSystem: new LocalFileSystem(),
    checkpoint: `${scene.stays}/${name}`,
    localDir: path.join(scene.workFolder, "ckpt"),
    scratch: path.join(scene.workFolder, "scratch"),
    signal: new AbortController().signal,
  });

describe("bringing a checkpoint back", () => {
  test("leaves nothing else in the program's folder, so that every task begins with the same", async () => {
    saved("step-45-at-45", 45, { model: "w" });
    scene.write({ "ckpt/model-60": "further, and nobody else's", "scratch/model": "left by one that died" });
    expect(await restore("step-45-at-45")).toBe(path.join(scene.workFolder, "ckpt", "model"));
    expect(scene.read(path.join(scene.workFolder, "ckpt"))).toEqual({ model: "w" });
  });

  test("is no failure for one without files, which earlier releases stored", async () => {
    saved("step-45-at-45", 45, {});
    expect(await restore("step-45-at-45")).toBe(path.join(scene.workFolder, "ckpt", "model"));
  });

  test("takes the furthest beside it when it has gone for a further one", async () => {
    saved("step-60-at-60", 60, { model: "at 60" });
    saved("step-75-at-75", 75, { model: "at 75" });
    await restore("step-45-at-45");
    expect(scene.read(path.join(scene.workFolder, "ckpt"))).toEqual({ model: "at 75" });
  });

  test("fails when none is there, or when it is not as it was saved; the program's folder stays as it is", async () => {
    scene.write({ "ckpt/model": "before" });
    await expect(restore("step-45-at-45")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    saved("step-45-at-45", 45, { model: "whole" });
    scene.write({ "../stays/step-45-at-45/model": "cut" });
    await expect(restore("step-45-at-45")).rejects.toMatchObject({ code: "CHECKPOINT_DAMAGED" });
    expect(scene.read(path.join(scene.workFolder, "ckpt"))).toEqual({ model: "before" });
  });

  const inside = { path: "model", sizeBytes: 4 };
  test.each([
    ["a file", { files: [inside, { ...inside, path: "../../sitecustomize.py" }] }],
    ["a file by its whole path", { files: [inside, { ...inside, path: "/tmp/evil" }] }],
    ["where a file is stored", { files: [inside, { path: "other", stored: "../../secret", sizeBytes: 4 }] }],
    ["the checkpoint", { name: "../../../etc" }],
  ])("takes none that leads out of its folder by the name of %s: it may be somebody else's", async (_what, changes) => {
    const complete = { manifestVersion: 1, name: "model", step: 45, atMs: 45, files: [inside], ...changes };
    scene.write({
      "../stays/step-45-at-45/model": "evil",
      "../secret": "mine",
      [`../stays/step-45-at-45/${MANIFEST}`]: JSON.stringify(complete),
      "ckpt/model": "before",
    });
    await expect(restore("step-45-at-45")).rejects.toThrow("leads out of its folder");
    expect(scene.read(path.join(scene.workFolder, "ckpt"))).toEqual({ model: "before" });
    expect(existsSync(path.join(scene.workFolder, "sitecustomize.py"))).toBe(false);
  });

  test("touches nothing behind a link", async () => {
    saved("step-45-at-45", 45, { model: "w" });
    mkdirSync(path.join(scene.folder, "shared"));
    scene.write({ "../shared/others": "file" });
    symlinkSync(path.join(scene.folder, "shared"), path.join(scene.workFolder, "ckpt"));
    await expect(restore("step-45-at-45")).rejects.toMatchObject({ code: "FOLDER_IS_A_LINK" });
    expect(existsSync(path.join(scene.folder, "shared", "others"))).toBe(true);
  });
});
