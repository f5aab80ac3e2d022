import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { OutputIndex } from "../../../executor/output/output-index.ts";
import { OUTPUT_INDEX, parseMarks } from "../../../src/job/output-index.ts";
import { RotatingLog } from "../../../src/rotating-log.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

const write = (stream: "stdout" | "stderr", text: string) => appendFileSync(path.join(folder.path, stream), text);
const marks = () => parseMarks(readFileSync(path.join(folder.path, OUTPUT_INDEX), "utf8"));

test("there is a mark whenever there is more than at the last one", () => {
  const index = new OutputIndex(outputLogs({ logFolder: folder.path, logPrefix: "" }), 3);
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
  const index = new OutputIndex(outputLogs({ logFolder: folder.path, logPrefix: "" }), 1);
  index.mark(1_000);
  index.look(5_999);
  expect(index.isQuiet(5_999)).toBe(false);
  expect(index.isQuiet(6_000)).toBe(true);
  write("stdout", "x");
  index.look(7_000);
  expect(index.isQuiet(7_000)).toBe(false);
});

/** Logs of which the first grows whenever it is looked at. */
function growing() {
  class Growing extends RotatingLog {
    #bytes = 0;
    override get sizeBytes(): number {
      this.#bytes += 1;
      return this.#bytes;
    }
  }
  const logs = outputLogs({ logFolder: folder.path, logPrefix: "" });
  return new OutputIndex({ ...logs, stdout: new Growing(logs.stdout.file) }, 1);
}

test("the longer a program writes, the rarer are the marks: after each thousand the time between two doubles", () => {
  const index = growing();
  const marksIn = (from: number, seconds: number) => {
    for (let eighth = 0; eighth < 8 * seconds; eighth += 1) index.look(1_000 * from + 125 * eighth);
    return marks().length;
  };
  expect(marksIn(0, 125)).toBe(1_000);
  expect(marksIn(125, 250)).toBe(2_000);
  const hour = 3_600;
  expect(marksIn(375, hour)).toBeLessThan(6_000);
});

test("the last 256 marks are remembered, however long a program writes", () => {
  const index = growing();
  for (let second = 0; second < 300; second += 1) index.look(1_000 * second);
  const { recent } = index;
  expect([recent.length, recent[0]?.atMs, recent.at(-1)?.atMs]).toEqual([256, 44_000, 299_000]);
});

test("a folder that cannot be written leaves the program alone", () => {
  expect(() =>
    new OutputIndex(outputLogs({ logFolder: path.join(folder.path, "gone"), logPrefix: "" }), 1).mark(1_000),
  ).not.toThrow();
});
