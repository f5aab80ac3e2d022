import { expect, test } from "@jest/globals";
import { allEarlierWords, earlierWords } from "../../../client/logs/earlier-search.ts";
import type { TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus, role } from "../job-status.ts";

/** Four trials of two workers each, of which the first three ended in earlier searches. */
const status = aJobStatus({
  roles: [role("worker", 8)],
  tasks: ["application_1_0001", "application_1_0001", "application_1_0002", undefined].flatMap((application, trial) =>
    [0, 1].map(
      (worker): TaskStatus => ({
        ...{ task: `worker:${trial * 2 + worker}`, state: "succeeded", restarts: 0 },
        // A trial's first task has what is known of it.
        ...(worker === 0 && { trial: { state: "completed", ...(application !== undefined && { application }) } }),
      }),
    ),
  ),
  search: { metric: "loss", direction: "minimize", parameters: [], command: "", trials: 4 },
});

test("a trial of an earlier search is that one's, by whichever name it is asked for", () => {
  const ended = "trial:1 ended in application_1_0001, which has what it left: tony-ts get application_1_0001";
  expect(earlierWords(status, "trial:1", "get")).toBe(`${ended} trial:1`);
  expect(earlierWords(status, "trial:1/worker:1", "get")).toBe(`${ended} trial:1/worker:1`);
  expect(earlierWords(status, "worker:3", "get")).toBe(`${ended} trial:1/worker:1`);
  for (const own of ["trial:3", "worker:6", "worker:9", "trial:9"])
    expect(earlierWords(status, own, "get")).toBeUndefined();
});

test("all trials of earlier searches are told in one sentence for each of these", () => {
  expect(allEarlierWords(status, "get")).toEqual([
    "trial:0, trial:1 ended in application_1_0001, which has what they left: tony-ts get application_1_0001",
    "trial:2 ended in application_1_0002, which has what it left: tony-ts get application_1_0002",
  ]);
  expect(allEarlierWords(status, "logs")[0]).toContain("which has their logs: tony-ts logs application_1_0001");
  expect(allEarlierWords(aJobStatus(), "get")).toEqual([]);
});
