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

test("rows hang no deeper than leaves them twenty columns", () => {
  expect(wrap(`${" ".repeat(20)}one two three four`, 32)).toEqual([
    `${" ".repeat(20)}one two`,
    `${" ".repeat(12)}three four`,
  ]);
});

test("a line keeps the colours within it, whichever words stand before them", () => {
  expect(wrap("some \u001b[31mred words\u001b[39m here", 9)).toEqual(["some \u001b[31mred", "words\u001b[39m", "here"]);
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
  expect(wrap("  see http://127.0.0.1:8088/proxy now", 22, "whole")).toEqual([
    "  see",
    "  http://127.0.0.1:8088/proxy",
    "  now",
  ]);
  expect(wrap("http://127.0.0.1:8088/proxy", 12, "whole")).toEqual(["http://127.0.0.1:8088/proxy"]);
});

test("a word wider than the terminal is broken", () => {
  expect(wrap("x".repeat(25), 10)).toEqual(["xxxxxxxxxx", "xxxxxxxxxx", "xxxxx"]);
  expect(wrap(`    ${"x".repeat(20)}`, 10)).toEqual(["    xxxxxx", "xxxxxxxxxx", "xxxx"]);
});
