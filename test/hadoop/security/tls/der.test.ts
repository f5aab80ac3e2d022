import { describe, expect, test } from "@jest/globals";
import { derContent, derValues } from "../../../../src/hadoop/security/tls/der.ts";

const valuesIn = (hex: string) =>
  derValues(Buffer.from(hex, "hex")).map(({ tag, content }) => [tag, content.toString("hex")]);

describe("values in DER", () => {
  test.each([
    ["none", "", []],
    ["an empty one", "0500", [[5, ""]]],
    [
      "one after the other",
      "0401aa0202bbcc",
      [
        [4, "aa"],
        [2, "bbcc"],
      ],
    ],
    ["a length in one byte more", "048101aa", [[4, "aa"]]],
    [
      "a length in four bytes more",
      "048400000001aa0500",
      [
        [4, "aa"],
        [5, ""],
      ],
    ],
  ])("%s", (_what, bytes, expected) => {
    expect(valuesIn(bytes)).toEqual(expected);
  });

  test("the longest whose length takes one byte, and the shortest whose takes two", () => {
    expect(valuesIn(`047f${"aa".repeat(127)}`)).toEqual([[4, "aa".repeat(127)]]);
    expect(valuesIn(`048180${"aa".repeat(128)}`)).toEqual([[4, "aa".repeat(128)]]);
  });

  test.each([
    ["of a value that is cut off", "0402aa", "a value is longer than what is there"],
    ["of a value whose length is cut off", "0482ff", /range|outside/i],
    ["of a value without a length", "04", /range|outside/i],
    ["of a value of no definite length", "0480aa0000", "a length cannot be read"],
    ["of a length that takes five bytes", "04850000000001aa", "a length cannot be read"],
  ])("are not read out %s", (_what, bytes, said) => {
    expect(() => valuesIn(bytes)).toThrow(RangeError);
    expect(() => valuesIn(bytes)).toThrow(said);
  });

  test("are taken by their place, and of the right tag alone", () => {
    const values = derValues(Buffer.from("0401aa0201bb", "hex"));
    expect(derContent(values, 1, 0x02)).toEqual(Buffer.from("bb", "hex"));
    expect(derContent(values, 1)).toEqual(Buffer.from("bb", "hex"));
    expect(() => derContent(values, 1, 0x04)).toThrow("a value is missing");
    expect(() => derContent(values, 2)).toThrow("a value is missing");
  });
});
