import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { misnamedBy } from "../../../executor/program/misnamed.ts";
import { childExit } from "../../support/child-exit.ts";

let outer: string;
let container: string;

beforeAll(() => {
  outer = mkdtempSync(path.join(tmpdir(), "tony-misnamed-"));
  container = path.join(outer, "container_1_2_01_000002");
  for (const file of [
    "train.py",
    "utils.py",
    "data/train.csv",
    "lib/helpers.py",
    "models/resnet.py",
    "first/config.json",
    "second/config.json",
    "executor.cjs",
    "run.sh",
  ]) {
    const place = path.join(container, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, "");
  }
  mkdirSync(path.join(outer, "archive/inner"), { recursive: true });
  writeFileSync(path.join(outer, "archive/inner/vocab.txt"), "");
  symlinkSync(path.join(outer, "archive"), path.join(container, "assets"));
});

afterAll(() => rmSync(outer, { recursive: true }));

const found = async (said: string, changes = {}) =>
  (await misnamedBy(childExit(5, { exitCode: 1, errorSummary: said, ...changes }), container)).misnamed?.found;
const noFile = (name: string) => `FileNotFoundError: [Errno 2] No such file or directory: '${name}'`;
const noModule = (name: string) => `ModuleNotFoundError: No module named '${name}'`;

describe("what a program may have meant that did not find a file", () => {
  it.each([
    ["data/trian.csv", "data/train.csv"],
    ["./dat/train.csv", "data/train.csv"],
    ["src/train.py", "train.py"],
    ["Train.py", "train.py"],
    ["vocab.txt", "assets/inner/vocab.txt"],
    ["asets/inner/vocab.txt", "assets/inner/vocab.txt"],
  ])("%s: its container has %s", async (name, meant) => {
    expect(await found(noFile(name))).toBe(meant);
  });

  it("is found by the words of shells and other programs", async () => {
    for (const line of [
      "cat: data/trian.csv: No such file or directory",
      "tar: data/trian.csv: Cannot open: No such file or directory",
      "ls: cannot access 'data/trian.csv': No such file or directory",
      "Error: ENOENT: no such file or directory, open 'data/trian.csv'",
    ]) {
      expect(await found("", { lastLines: ["reading", line] })).toBe("data/train.csv");
    }
    const script = `python3: can't open file '${container}/trian.py': [Errno 2] No such file or directory`;
    expect(await found("", { exitCode: 2, lastLines: [script] })).toBe("train.py");
    const shell = {
      exitCode: 127,
      failedToStart: true,
      lastLines: ["/bin/bash: line 1: ./rum.sh: No such file or directory"],
    };
    expect(await found("", shell)).toBe("run.sh");
  });

  it.each([
    "checkpoint.pt",
    "config.json",
    "/data/trian.csv",
    "../trian.py",
    "hdfs://nn/train.py",
    "executor.cj",
    "a' -> 'b",
    "data/train.csv",
  ])("is not said of %s", async (name) => {
    expect(await found(noFile(name))).toBeUndefined();
  });

  it("is looked for four folders deep, and not among packages, hidden files or what is not there", async () => {
    const folder = path.join(outer, "deep");
    for (const file of ["a/b/c/four.txt", "a/b/c/d/five.txt", "site-packages/six.txt", ".cache/seven.txt"]) {
      mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(folder, file), "");
    }
    const foundOf = async (name: string, workFolder = folder) =>
      (await misnamedBy(childExit(5, { exitCode: 1, errorSummary: noFile(name) }), workFolder)).misnamed?.found;
    expect(await foundOf("four.txt")).toBe("a/b/c/four.txt");
    for (const name of ["five.txt", "six.txt", "seven.txt"]) expect(await foundOf(name)).toBeUndefined();
    expect(await foundOf("four.txt", path.join(outer, "nowhere"))).toBeUndefined();
  });

  it("is not said of a program that succeeded, was stopped, or wrote on", async () => {
    const lastLines = ["cat: trian.py: No such file or directory"];
    expect(await found("", { exitCode: 0, lastLines })).toBeUndefined();
    expect(await found("", { stopReason: { code: "job-ended" }, lastLines })).toBeUndefined();
    expect(await found("", { lastLines: [...lastLines, "giving up"] })).toBeUndefined();
  });
});

describe("what a program may have meant that did not find a module", () => {
  it.each([
    ["utlis", "utils.py"],
    ["models.resnt", "models/resnet.py"],
    ["model", "models"],
    ["helpers", "lib/helpers.py"],
  ])("%s: its container has %s", async (name, meant) => {
    expect(await found(noModule(name))).toBe(meant);
  });

  it.each(["torch", "yaml", "data.csv"])("is not said of %s", async (name) => {
    expect(await found(noModule(name))).toBeUndefined();
  });

  it("is found by what its exception followed from, unless that was caught", async () => {
    const error = noModule("utlis");
    expect(await found("RuntimeError: no", { errorOrigin: { how: "cause", error } })).toBe("utils.py");
    expect(await found("RuntimeError: no", { errorOrigin: { how: "context", error } })).toBeUndefined();
    const file = noFile("data/trian.csv");
    expect(await found("RuntimeError: no", { errorOrigin: { how: "context", error: file } })).toBe("data/train.csv");
  });
});
