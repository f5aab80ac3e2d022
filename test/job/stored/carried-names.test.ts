import { describe, expect, test } from "@jest/globals";
import {
  carriedName,
  folderOfTask,
  furthestFirst,
  parseCarriedName,
  surplus,
} from "../../../src/job/stored/carried-names.ts";

describe("the names of what is carried", () => {
  test("a task's folder lies below the application's", () => {
    expect(folderOfTask("hdfs://nn/ckpt/", "application_1_0001", { role: "worker", index: 3 })).toBe(
      "hdfs://nn/ckpt/application_1_0001/worker-3",
    );
  });

  test("a checkpoint's name says its step and when it was complete; nothing else is one", () => {
    expect(parseCarriedName(carriedName(45, 1000))).toEqual({ name: "step-45-at-1000", step: 45, atMs: 1000 });
    for (const name of ["_unfinished-step-45-at-1000", "step-45", "step-45-at-1000.part", "model.pt"]) {
      expect(parseCarriedName(name)).toBeUndefined();
    }
  });

  test("the furthest is that of the highest step, of the same step the later one", () => {
    const names = ["step-9-at-50", "step-45-at-10", "_unfinished-step-60-at-70", "step-45-at-20"];
    expect(furthestFirst(names).map(({ name }) => name)).toEqual(["step-45-at-20", "step-45-at-10", "step-9-at-50"]);
  });

  test("what goes is older than those that are kept, or was never complete; what is not ours stays", () => {
    const names = ["step-1-at-1", "step-2-at-2", "step-3-at-3", "_unfinished-step-2-at-9", "notes.txt"];
    expect(surplus(names, 2)).toEqual(["step-1-at-1", "_unfinished-step-2-at-9"]);
    expect(surplus(names.slice(0, 2), 2)).toEqual([]);
  });
});
