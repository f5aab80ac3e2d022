import { describe, expect, test } from "@jest/globals";
import { nodeReportFromWire, queueInfoFromWire } from "../../../src/hadoop/yarn/convert-reports.ts";

test("a node that is taken out of the cluster says how long it has; a negative number of Java's is no limit", () => {
  const timeout = (decommissioning_timeout?: number) =>
    nodeReportFromWire(decommissioning_timeout === undefined ? {} : { decommissioning_timeout })
      .decommissioningTimeoutS;
  expect([timeout(60), timeout(0), timeout(0xffffffff), timeout()]).toEqual([60, 0, undefined, undefined]);
});

describe("a queue", () => {
  test("is named by its path, which older ResourceManagers do not tell", () => {
    expect(queueInfoFromWire({ queueName: "ml", queuePath: "root.ml" }).path).toBe("root.ml");
    expect(queueInfoFromWire({ queueName: "ml", queuePath: "" }).path).toBe("ml");
    expect(queueInfoFromWire({}).path).toBe("");
  });

  test("of a FairScheduler has its most where that is told, wherever 3.4 writes the cores", () => {
    const most = (changes: object) => queueInfoFromWire({ schedulerType: "FairScheduler", ...changes }).mostByLabel;
    expect(most({ maxResourceMemory: 2_048, minResourceVCore: 3 })).toEqual({
      "": { memoryMiB: 2_048, vcores: 3, others: {} },
    });
    expect(most({ maxResourceMemory: 2_048, minResourceVCore: 1, maxResourceVCore: 4 })[""]?.vcores).toBe(4);
    expect(most({})).toEqual({});
  });
});
