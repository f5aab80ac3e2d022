import { describe, expect, test } from "@jest/globals";
import { clockFinding } from "../../../client/cluster/clock-finding.ts";

describe("the clock", () => {
  const request = { startMs: 10_000, endMs: 15_800 };

  test("agrees where HDFS's time lies within the request, however long that took", () => {
    for (const atMs of [10_000, 12_100, 15_800])
      expect(clockFinding(atMs, request)).toEqual({ subject: "clock", state: "well", found: "agrees with HDFS's" });
  });

  test("differs by what lies before the request or after it", () => {
    expect(clockFinding(8_500, request)).toMatchObject({ state: "well", found: "differs from HDFS's by 1.5 s" });
    expect(clockFinding(16_800, request)).toMatchObject({ state: "well", found: "differs from HDFS's by 1.0 s" });
  });

  test("is worth a remark when it is far off", () => {
    expect(clockFinding(60_000, request)).toMatchObject({ state: "remark", found: "differs from HDFS's by 44.2 s" });
  });
});
