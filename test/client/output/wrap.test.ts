import { expect, test } from "@jest/globals";
import { wrap } from "../../../client/output/wrap.ts";

test("a line that fits stays as it is, colours and all", () => {
  expect(wrap("\u001b[31mred\u001b[39m", 3)).toEqual(["\u001b[31mred\u001b[39m"]);
});

test("further rows hang below the first, at its own indentation", () => {
  expect(wrap("    why: the queue has only 1 GiB left for this job", 28)).toEqual([
    "    why: the queue has only",
    "      1 GiB left for this",
    "      job",
  ]);
});

test("a coloured line keeps its colour", () => {
  expect(wrap("\u001b[31mFAILED  after all\u001b[39m of it", 14)).toEqual([
    "\u001b[31mFAILED  after",
    "all\u001b[39m of it",
  ]);
});

test("an address can be left whole", () => {
  expect(wrap("  see http://127.0.0.1:8088/proxy now", 12, "whole")).toEqual([
    "  see",
    "http://127.0.0.1:8088/proxy",
    "now",
  ]);
});

test("a word wider than the terminal is broken", () => {
  expect(wrap("x".repeat(25), 10)).toEqual(["xxxxxxxxxx", "xxxxxxxxxx", "xxxxx"]);
  expect(wrap(`    ${"x".repeat(20)}`, 10)).toEqual(["    xxxxxx", "xxxxxxxxxx", "xxxx"]);
});
