import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { OutputIndex } from "../../../executor/output/output-index.ts";
import { OUTPUT_INDEX, parseMarks } from "../../../src/job/output-index.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "output-index-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (stream: "stdout" | "stderr", text: string) => appendFileSync(path.join(folder, stream), text);
const marks = () => parseMarks(readFileSync(path.join(folder, OUTPUT_INDEX), "utf8"));

test("there is a mark whenever there is more than at the last one", () => {
  const index = new OutputIndex(outputLogs({ logFolder: folder, logPrefix: "" }), 3);
  index.mark(1_000);
  write("stdout", "12345");
  index.look(1_100);
  index.look(2_000);
  index.look(3_000);
  write("stderr", "12");
  index.mark(3_100);
  expect(marks()).toEqual([
    { atMs: 1_000, generation: 3, stdoutBytes: 0, stderrBytes: 0 },
    { atMs: 2_000, generation: 3, stdoutBytes: 5, stderrBytes: 0 },
    { atMs: 3_100, generation: 3, stdoutBytes: 5, stderrBytes: 2 },
  ]);
});

test("it is quiet when there was no more for a while, until there is", () => {
  const index = new OutputIndex(outputLogs({ logFolder: folder, logPrefix: "" }), 1);
  index.mark(1_000);
  index.look(5_999);
  expect(index.isQuiet(5_999)).toBe(false);
  expect(index.isQuiet(6_000)).toBe(true);
  write("stdout", "x");
  index.look(7_000);
  expect(index.isQuiet(7_000)).toBe(false);
});

test("the longer a program writes, the rarer are the marks", () => {
  const index = new OutputIndex(outputLogs({ logFolder: folder, logPrefix: "" }), 1);
  const daySeconds = 86_400;
  for (let second = 0; second < daySeconds; second += 1) {
    write("stdout", "x");
    index.look(second * 1_000);
  }
  expect(marks().length).toBeLessThan(12_000);
});

test("a folder that cannot be written leaves the program alone", () => {
  expect(() =>
    new OutputIndex(outputLogs({ logFolder: path.join(folder, "gone"), logPrefix: "" }), 1).mark(1_000),
  ).not.toThrow();
});
