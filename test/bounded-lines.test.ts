import { describe, expect, test } from "@jest/globals";
import { BoundedLines } from "../src/bounded-lines.ts";

describe("lines of a stream", () => {
  const push = (lines: BoundedLines, text: string) => lines.push(Buffer.from(text));

  test("come when they end, wherever the stream is cut", () => {
    const lines = new BoundedLines(100);
    expect(push(lines, "a\nb")).toEqual(["a"]);
    expect(push(lines, "c\n\n")).toEqual(["bc", ""]);
    const euro = Buffer.from("€\n");
    expect(lines.push(euro.subarray(0, 1))).toEqual([]);
    expect(lines.push(euro.subarray(1))).toEqual(["€"]);
  });

  test("are left out where they are too long, and nothing of an endless one is kept", () => {
    const lines = new BoundedLines(10);
    for (let count = 0; count < 100; count += 1) expect(push(lines, "x".repeat(1_000))).toEqual([]);
    expect(push(lines, "y\n0123456789\n0123456789a\nb\n")).toEqual(["0123456789", "b"]);
  });
});
