import { expect, test } from "@jest/globals";
import { type StopReason, stopWords } from "../../../src/job/reasons/stops.ts";

test.each<[StopReason, string]>([
  [{ code: "generation-ended", why: "worker:1 exited 1 on n1" }, "worker:1 exited 1 on n1"],
  [{ code: "hung", noProgressMs: 300_000, step: 7 }, "hung: no progress for 5 min at step 7"],
  [{ code: "ran-too-long", limitMs: 60_000 }, "ran longer than 60 s (tony.task.executor.execution-timeout-ms)"],
  [{ code: "container-terminated" }, "the container was told to end (SIGTERM)"],
  [{ code: "orphaned", silentMs: 899_600 }, "no ApplicationMaster for 900 s (tony.task.orphan-timeout)"],
  [{ code: "refused", why: "speaks 99" }, "the ApplicationMaster refused it: speaks 99"],
])("a program was stopped: %j", (stop, words) => {
  expect(stopWords(stop)).toBe(words);
});
