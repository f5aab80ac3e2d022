import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { LineSplitter } from "../../../client/logs/line-splitter.ts";

function linesOf(...pieces: Uint8Array[]): string[] {
  const splitter = new LineSplitter();
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

describe("a program's output, cut into lines", () => {
  test("is the same wherever the bytes were cut", () => {
    const text = fc.array(fc.string({ unit: fc.constantFrom("a", "é", "漢", "🙂", " ") }));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(linesOf(...pieces)).toEqual(lines);
      }),
    );
  });

  test("ends a line at CRLF, even between two pieces, and at the carriage returns of a progress bar", () => {
    expect(linesOf(Buffer.from("a\r"), Buffer.from("\nb\r 10 %\r 20 %\n"))).toEqual(["a", "b", " 10 %", " 20 %"]);
  });

  test("gives an unfinished line at the end", () => {
    expect(linesOf(Buffer.from("no newline"))).toEqual(["no newline"]);
  });

  test("does not gather a line without end", () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.alloc(20_000, "x"))).toHaveLength(1);
  });
});
