import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { WritableReader, writeText, writeVint } from "../../../src/hadoop/security/writable.ts";

describe("Hadoop's variable-length integers", () => {
  test.each([
    [0, "00"],
    [127, "7f"],
    [-112, "90"],
    [128, "8f80"],
    [-113, "8770"],
    [65_536, "8d010000"],
    [-65_537, "85010000"],
  ])("%d is %s", (value, hex) => {
    expect(Buffer.from(writeVint(value)).toString("hex")).toBe(hex);
    expect(new WritableReader(Buffer.from(hex, "hex")).vint()).toBe(value);
  });

  test("every whole number is read back", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => expect(new WritableReader(writeVint(value)).vint()).toBe(value)),
    );
  });

  test("one of 64 bits is out of range, one cut short is an error", () => {
    expect(() => new WritableReader(Buffer.from("88ffffffffffffffff", "hex")).vint()).toThrow(RangeError);
    expect(() => new WritableReader(Buffer.from("8f", "hex")).vint()).toThrow(/missing/);
  });
});

test("text is counted in bytes", () => {
  expect(Buffer.from(writeText("é")).toString("hex")).toBe("02c3a9");
  expect(new WritableReader(writeText("é")).text()).toBe("é");
});

test("bytes of a length below zero, or beyond what is there, are an error", () => {
  expect(() => new WritableReader(Buffer.of(0xff, 1)).bytes()).toThrow(RangeError);
  expect(() => new WritableReader(Buffer.of(2, 1)).bytes()).toThrow(RangeError);
  expect(new WritableReader(Buffer.of(1, 1)).bytes()).toEqual(Uint8Array.of(1));
});
