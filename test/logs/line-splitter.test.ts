import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { LineSplitter, mayMatch } from "../../src/logs/line-splitter.ts";

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

  test("makes no line of a bar that goes on, however long and however often it is written", () => {
    const splitter = new LineSplitter();
    const states = Array.from({ length: 1_000 }, (_, done) => `\r${"#".repeat(100)} ${done} of 1000`);
    expect(states.flatMap((state) => splitter.push(Buffer.from(state)))).toEqual([]);
    expect(splitter.end()).toEqual([`${"#".repeat(100)} 999 of 1000`]);
  });

  test("has no state that was written over where it is just an unfinished line", () => {
    const splitter = new LineSplitter();
    splitter.push(Buffer.from("done\nhalf a line"));
    expect(splitter.overwritten).toBe("");
  });

  test("gives an unfinished line at the end", () => {
    expect(linesOf("no newline")).toEqual(["no newline"]);
  });

  test("does not gather a line without end", () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.alloc(16_384, "x"))).toEqual([]);
    expect(splitter.push(Buffer.alloc(1, "x"))).toEqual(["x".repeat(16_385)]);
    expect(splitter.push(Buffer.from("the rest\n"))).toEqual(["the rest"]);
  });
});

describe("lines that are searched for", () => {
  const found = (pattern: RegExp, pieces: readonly string[], mayHold = mayMatch(pattern)) => {
    const splitter = new LineSplitter();
    const lines = [...pieces.flatMap((piece) => splitter.push(Buffer.from(piece), mayHold)), ...splitter.end()];
    return lines.filter((line) => pattern.test(line));
  };

  test("are the same as if each line was looked at, whatever is searched for and wherever the bytes were cut", () => {
    const patterns = [
      "^a",
      "b$",
      "^$",
      "a.b",
      "a[^c]b",
      "\\[^b",
      "[^]b",
      "a\\s*b",
      "a\\Db",
      "a(?!b)",
      "(?<!a)b",
      "(?<=a)b",
      "\\bab\\b",
      "A",
    ];
    const pattern = fc
      .tuple(fc.constantFrom(...patterns), fc.constantFrom("", "i", "s", "m", "u"))
      .map(([source, flags]) => new RegExp(source, flags));
    const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c", " ", "[", "\n", "\r", "\u2028") }));
    fc.assert(
      fc.property(pattern, pieces, (wanted, texts) => {
        expect(found(wanted, texts)).toEqual(found(wanted, texts, () => true));
      }),
    );
  });

  test("are found by what must not be around them in a line, whatever the next line has", () => {
    expect(found(/^a(?!\s*b)/, ["a\nb\n"])).toEqual(["a"]);
    expect(found(/(?<!a\s*)b/, ["a\nb\n"])).toEqual(["b"]);
  });

  test("are not cut out of a text without a match, however long it is", () => {
    const text = `${"a line\n".repeat(10_000)}`;
    const [without, withOne] = [new LineSplitter(), new LineSplitter()];
    expect(without.push(Buffer.from(text), mayMatch(/^line/))).toEqual([]);
    expect(withOne.push(Buffer.from(text), mayMatch(/^a[^:]*line$/))).toHaveLength(10_000);
  });

  test("are found in time where a part of the pattern matches all but one character", () => {
    const text = "x".repeat(99).concat("\n").repeat(20_000);
    expect(mayMatch(/[^"]*"/)(text)).toBe(false);
  });
});
