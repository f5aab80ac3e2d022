import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  formatHostPort,
  parseDurationMs,
  parseHostPort,
  parseInteger,
  parseList,
  parseSizeBytes,
} from "../../../src/hadoop/conf/values.ts";

describe("Hadoop's typed values", () => {
  test.each([
    ["42", 42],
    [" -7 ", -7],
    ["+3", 3],
    ["0x1F", 31],
    ["-0x10", -16],
    ["1.5", undefined],
    ["", undefined],
    ["9007199254740993", undefined],
    ["-0", 0],
  ])("the whole number %j is %p", (text, expected) => {
    expect(parseInteger(text)).toBe(expected);
  });

  test.each([
    ["100ms", 100],
    ["30s", 30_000],
    ["5M", 300_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["1500us", 1],
    ["7", 7000],
    [" 7 s ", 7000],
    ["1000000ns", 1],
    ["soon", undefined],
    ["1.5s", undefined],
  ])("the duration %j with seconds as unit is %p ms", (text, expected) => {
    expect(parseDurationMs(text, "s")).toBe(expected);
  });

  test.each([
    ["1024", 1024],
    ["128m", 134_217_728],
    ["128MB", 134_217_728],
    ["1.5gb", 1_610_612_736],
    ["2 terabytes", 2_199_023_255_552],
    ["10b", 10],
    [" 3k ", 3072],
    ["1.5", 2],
    ["-1k", -1024],
    ["10bytes", 10],
    ["many", undefined],
    ["1x", undefined],
    ["16e", undefined],
  ])("the size %j is %p bytes", (text, expected) => {
    expect(parseSizeBytes(text)).toBe(expected);
  });

  test.each([
    ["ns", 3_000_000, 3],
    ["us", 3000, 3],
    ["ms", 3, 3],
    ["m", 3, 180_000],
    ["h", 3, 10_800_000],
    ["d", 3, 259_200_000],
  ] as const)("a bare number is in the unit of its key: %s", (unit, count, expected) => {
    expect(parseDurationMs(String(count), unit)).toBe(expected);
  });

  test("a list is trimmed and has no empty parts", () => {
    expect(parseList(" a, b,,c ,\n")).toEqual(["a", "b", "c"]);
  });

  test.each([
    ["rm:8032", { host: "rm", port: 8032 }],
    ["rm", { host: "rm", port: 1 }],
    ["hdfs://nn:8020/path", { host: "nn", port: 8020 }],
    ["hdfs://nn", { host: "nn", port: 1 }],
    ["[::1]:80", { host: "::1", port: 80 }],
    ["rm:port", undefined],
    ["rm:65535", { host: "rm", port: 65_535 }],
    ["rm:65536", undefined],
    [" rm:5 ", { host: "rm", port: 5 }],
    ["rm:70000", undefined],
    ["rm/path", undefined],
    ["", undefined],
  ])("the address %j with default port 1 is %p", (text, expected) => {
    expect(parseHostPort(text, 1)).toEqual(expected);
  });

  test("without a default an address needs its port", () => {
    expect(parseHostPort("rm")).toBeUndefined();
  });

  test("an address that is written is read back", () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6()), fc.nat(65_535), (host, port) => {
        expect(parseHostPort(formatHostPort({ host, port }))).toEqual({ host, port });
      }),
    );
  });
});
