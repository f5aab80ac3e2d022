import { describe, expect, test } from "@jest/globals";
import { causeOf, jobTable, moreWords } from "../../../client/applications/job-list.ts";
import { aReport } from "../application-report.ts";
import { noonishMs } from "../job-status.ts";

const nothing = { memoryMiB: -1, vcores: -1, others: {} };
const seconds = { memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };
const ended = { usage: { usedContainers: -1, used: nothing, needed: nothing, ...seconds }, startTimeMs: noonishMs };
const running = (others: Readonly<Record<string, number>>) =>
  aReport({
    state: "RUNNING",
    startTimeMs: noonishMs,
    usage: { usedContainers: 3, used: { memoryMiB: 9216, vcores: 5, others }, needed: nothing, ...seconds },
  });

describe("a list of jobs", () => {
  test("shows what each holds, and of those that failed why", () => {
    const failed = aReport({
      ...ended,
      state: "FINISHED",
      finalStatus: "FAILED",
      finishTimeMs: noonishMs + 60_000,
      diagnostics: "worker:1 ran out of memory on 127.0.0.12\nsecond line",
    });
    expect(jobTable([running({ "yarn.io/gpu": 2 }), failed], { nowMs: noonishMs + 90_000, gpuTypes: [] })).toEqual([
      "application                      state     name   user   queue   start              time         memory   cores   GPUs   cause",
      "application_1795305600000_0009   RUNNING   bert   ada    ml      2026-11-21 14:00   1 min 30 s   9 GiB    5       2",
      "application_1795305600000_0009   FAILED    bert   ada    ml      2026-11-21 14:00   1 min        –        –       –      worker:1 ran out of memory on 127.0.0.12",
    ]);
  });

  test("shows nothing held by one that has no container, whatever it asks for", () => {
    const usage = { usedContainers: 0, used: { memoryMiB: 1024, vcores: 1, others: {} }, needed: nothing, ...seconds };
    const [, row] = jobTable([aReport({ usage, startTimeMs: noonishMs })], { nowMs: noonishMs, gpuTypes: [] });
    expect(row).toMatch(/ – {8}–$/);
  });

  test("has no column of GPUs or causes where no job has any", () => {
    const [head] = jobTable([running({})], { nowMs: noonishMs, gpuTypes: [] });
    expect(head).toMatch(/memory {3}cores$/);
  });

  test("says how many it leaves out", () => {
    expect(moreWords(50, 0)).toEqual([]);
    expect(moreWords(50, 1)).toEqual(["1 older job not shown: --limit 51 shows all"]);
  });
});

test("GPUs are counted whatever the site calls them", () => {
  const others = { "nvidia.com/gpu": 2, "nvidia.com/mig-1g.5gb": 4, "acme.com/a100": 8, "yarn.io/fpga": 16 };
  const [, row] = jobTable([running(others)], { nowMs: noonishMs, gpuTypes: ["acme.com/a100"] });
  expect(row).toMatch(/ 14$/);
});

describe("a cause", () => {
  test.each([
    ["of a job that runs is none", { state: "RUNNING", diagnostics: "waits" }, ""],
    ["of one that succeeded is none", { state: "FINISHED", finalStatus: "SUCCEEDED", diagnostics: "2 of 2" }, ""],
    ["is the first line that says something", { state: "KILLED", diagnostics: "\n by bob \n" }, "by bob"],
    ["names no id", { state: "FAILED", diagnostics: "Application application_1_0002 submitted" }, "submitted"],
    ["is whole where it fits", { state: "FAILED", diagnostics: "x".repeat(80) }, "x".repeat(80)],
    ["is not cut behind a blank", { state: "FAILED", diagnostics: `${"x".repeat(78)} yy` }, `${"x".repeat(78)}…`],
    ["is cut to one line", { state: "FAILED", diagnostics: "x".repeat(90) }, `${"x".repeat(79)}…`],
  ] as const)("%s", (_which, changes, expected) => {
    expect(causeOf(aReport(changes))).toBe(expected);
  });
});
