import { describe, expect, test } from "@jest/globals";
import { storedName } from "../../../executor/carrier/stored-name.ts";

describe("the name under which a file is stored", () => {
  test.each([
    ["runs/2026-10-30/model (1).pt", "runs/2026-10-30/model (1).pt"],
    ["10:00/a;b%c\\d", "10%3A00/a%3Bb%25c%5Cd"],
    ["a\tb\u0085", "a%09b%85"],
    ["caf\udce9", "caf%E9"],
    [".snapshot", "%2Esnapshot"],
    ["runs/_complete.json", "runs/%5Fcomplete.json"],
    ["_tony-names.json/a", "%5Ftony-names.json/a"],
    ["my.snapshot", "my.snapshot"],
  ])("of %j is %s: it has nothing that HDFS or its clients refuse", (name, stored) => {
    expect(storedName(name)).toBe(stored);
  });

  test.each([
    ["x".repeat(255), "x".repeat(255)],
    ["é".repeat(127), "é".repeat(127)],
    [":".repeat(100), `${"%3A".repeat(79)}%%27dc9c8a7198fcff`],
    [`${"é".repeat(120)}${":".repeat(10)}`, `${"é".repeat(119)}%8970a71b3838408f`],
  ])("has at most 255 bytes, whole characters, and where it is cut a digest of the name: %s", (name, stored) => {
    expect(storedName(`a/${name}/b`)).toBe(`a/${stored}/b`);
    expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(255);
  });
});
