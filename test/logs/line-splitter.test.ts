import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { LineSplitter } from "../../src/logs/line-splitter.ts";

function linesOf(...pieces: (Uint8Array | string)[]): string[] {
  const splitter = new LineSplitter();
  return [...pieces.flatMap((piece) => splitter.push(Buffer.from(piece))), ...splitter.end()];
}

describe("a program's output, cut into lines", () => {
  test("is the same wherever the bytes were cut", () => {
    const text = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "漢", "🙂", " ", "\r") }));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(linesOf(...pieces)).toEqual(linesOf(bytes));
      }),
    );
  });

  test("keeps every character of lines without carriage returns", () => {
    const text = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "漢", " ") }));
    fc.assert(fc.property(text, (lines) => expect(linesOf(lines.map((line) => `${line}\n`).join(""))).toEqual(lines)));
  });

  test("ends a line at CRLF, even between two pieces", () => {
    expect(linesOf("a\r", "\nb\r\n", "\r\n")).toEqual(["a", "b", ""]);
  });

  test("leaves of a progress bar its last state, however it is written", () => {
    expect(linesOf("0 %\r 10 %\r", " 20 %\r100 %\ndone\n")).toEqual(["100 %", "done"]);
    expect(linesOf("\r 10 %", "\r 20 %", "\r100 %\n")).toEqual(["100 %"]);
    expect(linesOf("\r 10 %\r 20 %\r      \rnext\n")).toEqual(["next"]);
    expect(linesOf("\r 90 %\r      \r\n")).toEqual([" 90 %"]);
  });

  test("tells the last whole state of a bar that still goes on", () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.from("\r 10 %\r 2"))).toEqual([]);
    expect(splitter.overwritten).toBe(" 10 %");
    splitter.push(Buffer.from("0 %\r 3"));
    expect(splitter.overwritten).toBe(" 20 %");
    splitter.push(Buffer.from("0 %\n"));
    expect(splitter.overwritten).toBe("");
  });

  test("gives an unfinished line at the end", () => {
    expect(linesOf("no newline")).toEqual(["no newline"]);
  });

  test("does not gather a line without end", () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.alloc(20_000, "x"))).toHaveLength(1);
  });
});
