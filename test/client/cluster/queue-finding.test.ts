import { expect, test } from "@jest/globals";
import { queueFinding } from "../../../client/cluster/queue-finding.ts";
import type { QueueInfo } from "../../../src/hadoop/yarn/records.ts";

function queue(name: string, children: readonly QueueInfo[] = []): QueueInfo {
  const shares = { capacity: 0.6, maximumCapacity: 1, currentCapacity: 0.25 };
  const rest = { mostByLabel: {}, accessibleNodeLabels: [], defaultNodeLabel: "", applications: [] };
  return { name, path: name, state: "RUNNING", ...shares, ...rest, children };
}

const acls = new Map<string, readonly string[]>();

test("a queue of the capacity scheduler is told with its shares", () => {
  const found = queueFinding("ml", { queue: queue("ml"), root: queue("root", [queue("ml")]), acls });
  expect(found).toEqual({
    subject: "queue",
    state: "well",
    found: "ml: 60 % of its parent, up to 100 %, now 25 % used",
  });
});

test("one that is not there is wrong, and the others are named", () => {
  const root = queue("root", [queue("default"), queue("ml")]);
  expect(queueFinding("mll", { queue: undefined, root, acls })).toMatchObject({
    state: "wrong",
    found: "there is no queue mll",
    remedy: "choose another with tony.yarn.queue: default, ml",
  });
});

test("of FairScheduler, which makes queues as jobs name them, a missing one is no fault", () => {
  expect(queueFinding("default", { queue: undefined, root: queue("root"), acls })).toMatchObject({
    state: "remark",
    found: "there is no queue default yet: FairScheduler makes queues, or places jobs, by its rules",
  });
});

test("of FairScheduler no shares are told: it has none", () => {
  const ada = queue("root.ada");
  expect(queueFinding("ada", { queue: ada, root: queue("root", [ada]), acls })).toMatchObject({
    state: "well",
    found: "ada is there (FairScheduler)",
  });
});
