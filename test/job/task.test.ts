import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { formatTaskId, parseTaskId, ROLE_NAME, taskSpans } from "../../src/job/task.ts";

describe("task ids", () => {
  test("are read back as they were written", () => {
    fc.assert(
      fc.property(fc.stringMatching(ROLE_NAME), fc.nat(999_999_999), (role, index) => {
        expect(parseTaskId(formatTaskId(role, index))).toEqual({ role, index });
      }),
    );
  });

  test.each(["worker", "worker:", "worker:-1", "worker:01", "Worker:0", ":0", "worker:1:2", "am"])(
    "%s is none",
    (text) => {
      expect(parseTaskId(text)).toBeUndefined();
    },
  );
});

test.each([
  [[], ""],
  [["worker:0"], "worker:0"],
  [["worker:0", "worker:1"], "worker:0, worker:1"],
  [["worker:9", "worker:10", "worker:11", "ps:0"], "worker:9 to worker:11, ps:0"],
  [["worker:0", "ps:1", "ps:2", "worker:1"], "worker:0, ps:1, ps:2, worker:1"],
])("tasks are told as spans where three follow each other: %j", (tasks, words) => {
  expect(taskSpans(tasks)).toBe(words);
});
