import { describe, expect, test } from "@jest/globals";
import { waitingReason } from "../../../client/applications/waiting-reason.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { delayWords } from "../../../src/job/reasons/waits.ts";
import { aReport } from "../application-report.ts";

function reason(changes: Partial<ApplicationReport>) {
  return waitingReason(aReport({ state: "ACCEPTED", ...changes }));
}

function words(changes: Partial<ApplicationReport>): string {
  return delayWords(reason(changes));
}

/** As YARN 3.4.2 words an AM that may have a container, and has none. */
function activated({ node = "", partition = "<DEFAULT_PARTITION>", used = "40.0" } = {}): string {
  return (
    `[Mon Nov 23 02:56:42 +0000 2026] Application is Activated, waiting for resources to be assigned for AM. ${node} ` +
    `Details : AM Partition = ${partition} ; Partition Resource = <memory:8192, vCores:32> ; Queue's Absolute capacity = 40.0 % ; ` +
    `Queue's Absolute used capacity = ${used} % ; Queue's Absolute max capacity = 100.0 % ; `
  );
}

function lastNode(partition: string): string {
  return (
    ` Last Node which was processed for the application : 127.0.6.12:8041 ( Partition : [${partition}], ` +
    "Total resource : <memory:8192, vCores:32, yarn.io/gpu: 2>, Available resource : <memory:1664, vCores:31, yarn.io/gpu: 2> )."
  );
}

describe("why an application's AM does not run yet", () => {
  test("the queue is at its limit for AMs, as YARN 3.4.2 words it", () => {
    const diagnostics =
      "[Sun Nov 22 00:26:30 +0000 2026] Application is added to the scheduler and is not yet activated. Queue's AM resource limit " +
      "exceeded.  Details : AM Partition = <DEFAULT_PARTITION>; AM Resource Request = <memory:1024, vCores:1>; Queue Resource Limit for " +
      "AM = <memory:820, vCores:1>; User AM Resource Limit of the queue = <memory:820, vCores:1>; Queue AM Resource Usage = <memory:819, vCores:2>; ";
    expect(reason({ diagnostics })).toEqual({ code: "am-limit-of-queue", queue: "ml", limitMiB: 820, usedMiB: 819 });
    expect(words({ diagnostics })).toBe(
      "queue ml is at its limit for AMs (820 MiB, in use 819 MiB); tony-ts list --queue ml shows what runs there",
    );
  });

  test("one user is at the limit, as YARN 3.4.2 words it", () => {
    const diagnostics =
      "[x] Application is added to the scheduler and is not yet activated. User's AM resource limit exceeded.  Details : AM Partition = " +
      "<DEFAULT_PARTITION>; AM Resource Request = <memory:1024, vCores:1>; Queue Resource Limit for AM = <memory:4096, vCores:1>; " +
      "User AM Resource Limit of the queue = <memory:2048, vCores:1>; Queue AM Resource Usage = <memory:3072, vCores:2>; ";
    const user = "alice";
    expect(reason({ diagnostics, user })).toEqual({ code: "am-limit-of-user", queue: "ml", user, limitMiB: 2048 });
  });

  test.each([
    ["exceeds maximum AM resource allowed).", "am-limit-of-queue"],
    [
      "exceeds current queue or its parents maximum resource allowed). Max share of queue: <memory:4096, vCores:4>",
      "am-queue-full",
    ],
  ])("the fair scheduler says that it %s", (end, code) => {
    const diagnostics = `[x] Application is added to the scheduler and is not yet activated.  (Resource request: <memory:1024, vCores:1> ${end}`;
    expect(reason({ diagnostics })).toEqual({ code, queue: "ml" });
  });

  test("the queue has used all of its share", () => {
    const diagnostics = activated({ used: "100.0" });
    expect(reason({ diagnostics })).toEqual({
      code: "am-queue-full",
      queue: "ml",
      usedPercent: 100,
      limitPercent: 100,
    });
    expect(words({ diagnostics })).toBe(
      "queue ml has no room for the AM (100 % of the cluster, its limit is 100 %); tony-ts list --queue ml shows what runs there",
    );
  });

  test("the queue has used all of its share of the nodes with the label that the AM asks for", () => {
    const diagnostics = activated({ used: "100.0", partition: "gpu" });
    expect(reason({ diagnostics })).toMatchObject({ code: "am-queue-full", label: "gpu" });
  });

  test("a queue that is nearly full has room, to a tenth of a percent", () => {
    expect(reason({ diagnostics: activated({ used: "99.94" }) })).toMatchObject({ code: "am-not-placed" });
    expect(reason({ diagnostics: activated({ used: "99.95" }) })).toMatchObject({ code: "am-queue-full" });
  });

  test("no node has had room: the last one that was looked at, and what it has free", () => {
    const diagnostics = activated({ node: lastNode("") });
    const free = "1.63 GiB, 31 cores, 2 GPUs";
    expect(reason({ diagnostics })).toEqual({ code: "am-not-placed", queue: "ml", host: "127.0.6.12", free });
    expect(words({ diagnostics })).toBe(
      `no container for the AM in queue ml yet: the last node that was looked at, 127.0.6.12, has ${free} free`,
    );
  });

  test("a node of another label says nothing of an AM without one", () => {
    const diagnostics = activated({
      node: `Skipping assigning to Node in Ignore Exclusivity mode. ${lastNode("gpu")}`,
    });
    expect(reason({ diagnostics })).toEqual({ code: "am-not-placed", queue: "ml" });
  });

  test("no node with the label that the AM asks for has had room", () => {
    const diagnostics = activated({ node: lastNode("gpu"), partition: "gpu" });
    expect(reason({ diagnostics })).toMatchObject({ code: "am-not-placed", label: "gpu", host: "127.0.6.12" });
    expect(words({ diagnostics })).toMatch(/^no container for the AM on a node with label gpu yet: the last node /);
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
      "no container for the AM in queue ml yet",
    ],
    [
      "Attempt recovered after RM restart",
      "the ResourceManager has restarted or failed over, and the AM, which is still running, has not registered with it again yet",
    ],
    ["", "waiting in queue ml"],
    ["[x] Something new happened. More of it.", "Something new happened."],
  ])("%j", (diagnostics, said) => {
    expect(words({ diagnostics })).toBe(said);
  });

  test.each([
    ["NEW", "the ResourceManager is storing the application"],
    ["NEW_SAVING", "the ResourceManager is storing the application"],
    ["SUBMITTED", "the scheduler has not accepted the application yet"],
  ] as const)("while it is %s", (state, said) => {
    expect(words({ state })).toBe(said);
  });
});
