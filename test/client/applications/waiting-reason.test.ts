import { describe, expect, test } from "@jest/globals";
import { waitingReason } from "../../../client/applications/waiting-reason.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";

function reason(changes: Partial<ApplicationReport>): string {
  return waitingReason(aReport({ state: "ACCEPTED", ...changes }));
}

describe("why an application's AM does not run yet", () => {
  test("the queue is at its limit for AMs, as YARN 3.4.2 words it", () => {
    const diagnostics =
      "[Sun Nov 22 00:26:30 +0000 2026] Application is added to the scheduler and is not yet activated. Queue's AM resource limit " +
      "exceeded.  Details : AM Partition = <DEFAULT_PARTITION>; AM Resource Request = <memory:1024, vCores:1>; Queue Resource Limit for " +
      "AM = <memory:820, vCores:1>; User AM Resource Limit of the queue = <memory:820, vCores:1>; Queue AM Resource Usage = <memory:819, vCores:2>; ";
    expect(reason({ diagnostics })).toBe(
      "queue ml is at its limit for AMs (820 MiB, in use 819 MiB); tony-ts list --queue ml shows what runs there",
    );
  });

  test.each([
    ["Skipping AM assignment as cluster resource is empty.  ", "the cluster has no running NodeManager"],
    [
      "[x] Scheduler has assigned a container for AM, waiting for AM container to be launched",
      "the AM has its container, which is being started",
    ],
    ["[x] AM container is launched, waiting for AM container to Register with RM", "the AM is starting"],
    [
      "[x] Application is Activated, waiting for resources to be assigned for AM.  ",
      "no container for the AM in queue ml yet; tony-ts list --queue ml shows what runs there",
    ],
    [
      "Attempt recovered after RM restart",
      "the ResourceManager has restarted or failed over, and the AM, which runs on, has yet to register with it",
    ],
    ["", "waiting in queue ml"],
    ["[x] Something new happened. More of it.", "Something new happened."],
  ])("%j", (diagnostics, words) => {
    expect(reason({ diagnostics })).toBe(words);
  });

  test.each([
    ["NEW_SAVING", "the ResourceManager is storing the application"],
    ["SUBMITTED", "the scheduler has not taken the application up yet"],
  ] as const)("while it is %s", (state, words) => {
    expect(reason({ state })).toBe(words);
  });
});
