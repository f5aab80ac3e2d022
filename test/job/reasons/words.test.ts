import { describe, expect, test } from "@jest/globals";
import {
  amountWords,
  budgetWords,
  countedWords,
  countWords,
  durationWords,
  listWords,
  memoryValue,
  memoryWords,
  otherWords,
  placeWords,
  settingOf,
  settingWords,
  sizeWords,
} from "../../../src/job/reasons/words.ts";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

test.each([
  [-5, "0 s"],
  [999, "0 s"],
  [MINUTE - 1, "59 s"],
  [MINUTE, "1 min"],
  [HOUR - SECOND, "59 min 59 s"],
  [HOUR, "1 h"],
  [HOUR + 59 * SECOND, "1 h"],
  [48 * HOUR - MINUTE, "47 h 59 min"],
  [48 * HOUR, "2 d"],
  [52 * HOUR, "2 d 4 h"],
])("%i ms are %s", (ms, words) => {
  expect(durationWords(ms)).toBe(words);
});

test.each([
  [0, "0 B"],
  [1_023, "1023 B"],
  [1_024, "1 KiB"],
  [1_536, "1.5 KiB"],
  [10_752, "11 KiB"],
  [1_048_576, "1 MiB"],
  [98_880_000, "94.3 MiB"],
  [1_073_741_824, "1 GiB"],
  [1_331_439_862, "1.24 GiB"],
])("%i bytes are %s", (bytes, words) => {
  expect(sizeWords(bytes)).toBe(words);
});

describe("amounts", () => {
  test("of memory are told in words, and as keys take them", () => {
    expect([0, 512, 1_536].map(memoryWords)).toEqual(["0 MiB", "512 MiB", "1.5 GiB"]);
    expect([4_096, 1_536].map(memoryValue)).toEqual(["4g", "1536m"]);
  });

  test("are told by type, and only what the scheduler counts where that is asked", () => {
    const amount = { memoryMiB: 4_096, vcores: 2, others: { "yarn.io/gpu": 1, "yarn.io/fpga": 0 } };
    expect(amountWords(amount)).toBe("4 GiB, 2 cores, 1 GPU");
    expect(countedWords(amount, "all")).toBe("4 GiB, 2 cores, 1 GPU");
    expect(countedWords(amount, "all-but-cores")).toBe("4 GiB, 1 GPU");
    expect(countedWords(amount, "memory")).toBe("4 GiB");
    expect(countedWords({ ...amount, memoryMiB: -1, vcores: -1 }, "all")).toBe("0 MiB, 0 cores, 1 GPU");
  });

  test("of other types are counted where there is a limit", () => {
    expect([otherWords("yarn.io/gpu", 2), otherWords("yarn.io/fpga", 1)]).toEqual(["2 GPUs", "1 yarn.io/fpga"]);
    expect(["yarn.io/gpu", "yarn.io/fpga"].map((type) => otherWords(type, 2 ** 60))).toEqual([
      "any number of GPUs",
      "any number of yarn.io/fpga",
    ]);
  });

  test("of one are singular", () => {
    expect([0, 1, 2].map((count) => countWords(count, "core"))).toEqual(["0 cores", "1 core", "2 cores"]);
  });
});

test("of a long list five are told, or as many as are wanted", () => {
  const list = ["a", "b", "c", "d", "e", "f"];
  expect(listWords(list.slice(0, 5))).toBe("a, b, c, d, e");
  expect(listWords(list)).toBe("a, b, c, d, e and 1 more");
  expect(listWords(list, 2)).toBe("a, b and 4 more");
});

test("a key is told with its place, unless that is a file which is gone by then", () => {
  const sources = { "tony.a": "job.xml:3", "tony.b": "/tmp/tony-ts-submit.xml:4" };
  const words = (key: string) => settingWords(settingOf({ sources }, key));
  expect(["tony.a", "tony.b", "tony.c"].map(words)).toEqual(["tony.a (job.xml:3)", "tony.b", "tony.c"]);
  expect(placeWords(undefined)).toBeUndefined();
});

test.each([
  [{ used: 1, limit: 3 }, "program restarts: 1 of 3 used"],
  [{ used: 0, limit: 0, role: "ps" }, "program restarts of ps: none allowed"],
  [{ used: 2, limit: 10, windowMs: HOUR }, "program restarts: 2 of 10 used within 1 h"],
  [{ used: 0, limit: 10, windowMs: HOUR }, "program restarts: 0 of 10 used"],
])("a budget of %j is told as: %s", (budget, words) => {
  expect(budgetWords("program", budget)).toBe(words);
});
