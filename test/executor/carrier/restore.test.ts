import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { restoreCheckpoint } from "../../../executor/carrier/restore.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { MANIFEST } from "../../../src/job/stored/carried-names.ts";
import { CarrierScene } from "./scene.ts";

let scene: CarrierScene;
let passed: string[];
beforeEach(() => {
  passed = [];
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

const restore = (name: string, fileSystem = new LocalFileSystem()) =>
  restoreCheckpoint({
    fileSystem,
    checkpoint: `${scene.stays}/${name}`,
    localDir: path.join(scene.workFolder, "ckpt"),
    scratch: path.join(scene.workFolder, "scratch"),
    signal: new AbortController().signal,
    passed: (checkpoint, why) => passed.push(`${path.basename(checkpoint)}: ${why}`),
  });

describe("bringing a checkpoint back", () => {
  test("leaves nothing else in the program's folder, so that every task begins with the same", async () => {
    saved("step-45-at-45", 45, { model: "w" });
    scene.write({ "ckpt/model-60": "further, and nobody else's", "scratch/model-30": "left by one that died" });
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

  test.each([
    ["has lost a file", () => rmSync(path.join(scene.stays, "step-60-at-60", "deep/b"))],
    ["has a file that is cut", () => scene.write({ "../stays/step-60-at-60/a": "x" })],
    ["has a list that cannot be read", () => scene.write({ [`../stays/step-60-at-60/${MANIFEST}`]: "{" })],
    ["has no list", () => rmSync(path.join(scene.stays, "step-60-at-60", MANIFEST))],
    ["has lost all", () => rmSync(path.join(scene.stays, "step-60-at-60"), { recursive: true })],
  ])("takes the whole one before where it %s, and says so", async (_what, damage) => {
    saved("step-30-at-30", 30, { a: "at 30" });
    saved("step-45-at-45", 45, { a: "at 45" });
    saved("step-60-at-60", 60, { a: "at 60", "deep/b": "at 60" });
    damage();
    await restore("step-60-at-60");
    expect(scene.read(path.join(scene.workFolder, "ckpt"))).toEqual({ a: "at 45" });
    expect(passed).toEqual([expect.stringMatching(/^step-60-at-60: /)]);
  });

  test("fails where less comes than is stored, and leaves the program's folder as it is", async () => {
    saved("step-45-at-45", 45, { model: "whole" });
    scene.write({ "ckpt/model": "before" });
    class Cutting extends LocalFileSystem {
      override async open(file: string): Promise<Readable> {
        return path.basename(file) === "model" ? Readable.from([Buffer.from("who")]) : await super.open(file);
      }
    }
    await expect(restore("step-45-at-45", new Cutting())).rejects.toMatchObject({
      code: "CHECKPOINT_DAMAGED",
      message: expect.stringMatching(/step-45-at-45\/model has 3 bytes, 5 were saved$/),
    });
    expect(scene.read(path.join(scene.workFolder, "ckpt"))).toEqual({ model: "before" });
  });

  test("takes the empty folders of one that no executor stored, too", async () => {
    scene.write({ "../stays/model/a": "1" });
    mkdirSync(path.join(scene.stays, "model/assets/empty"), { recursive: true });
    await restore("model");
    expect(readdirSync(path.join(scene.workFolder, "ckpt"), { recursive: true }).sort()).toEqual([
      "model",
      "model/a",
      "model/assets",
      "model/assets/empty",
    ]);
  });

  test.each([
    ["a folder", "model", { "model/a": "1", "model/deep/b": "2" }],
    ["a file", "model/a", { a: "1" }],
  ])("takes %s that no executor stored as it is", async (_what, name, files) => {
    scene.write({ "../stays/model/a": "1", "../stays/model/deep/b": "2" });
    expect(await restore(name)).toBe(path.join(scene.workFolder, "ckpt", path.basename(name)));
    expect(scene.read(path.join(scene.workFolder, "ckpt"))).toEqual(files);
  });

  test("takes no later one in place of one that is damaged", async () => {
    saved("step-45-at-45", 45, { a: "at 45" });
    saved("step-60-at-60", 60, { a: "at 60" });
    rmSync(path.join(scene.stays, "step-45-at-45", "a"));
    await expect(restore("step-45-at-45")).rejects.toMatchObject({ code: "CHECKPOINT_DAMAGED" });
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
