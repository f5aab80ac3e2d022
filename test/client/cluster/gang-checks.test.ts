import { describe, expect, test } from "@jest/globals";
import { gangProblems } from "../../../client/cluster/gang-checks.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const [base] = aJobSpec().roles;
const am = { ...aJobSpec().am, resource: { memoryMiB: 512, vcores: 1, others: {} } };

function node(host: string, memoryMiB: number, { labels = [] as string[], gpus = 0 } = {}) {
  const total = { memoryMiB, vcores: 4, others: gpus === 0 ? {} : { "yarn.io/gpu": gpus } };
  return { nodeId: `${host}:1`, host, rack: "/r", labels, free: total, total };
}

function role(name: string, instances: number, memoryMiB: number, changes: Partial<JobSpec["roles"][number]> = {}) {
  if (base === undefined) throw new Error("a job has a role");
  return { ...base, name, instances, resource: { memoryMiB, vcores: 1, others: {} }, ...changes };
}

function problems(
  roles: JobSpec["roles"],
  nodes = [node("n1", 8192), node("n2", 8192)],
  nodesAreAway = false,
): string[] {
  const spec = { ...aJobSpec(), am, roles, sources: { "tony.worker.instances": "job.xml:9" } };
  return gangProblems(spec, { nodes, nodesAreAway }).map(formatProblem);
}

const remedy =
  "a gang starts when all are there, so the job waits for more nodes, unless you lower tony.worker.instances or what it asks for";

describe("tasks that start together", () => {
  test("are no problem where the empty nodes have room for them", () => {
    expect(problems([role("worker", 2, 6144)])).toEqual([]);
    expect(problems([role("worker", 30, 512)])).toEqual([]);
  });

  test("are more of a role than the nodes have room for: each node takes whole containers only", () => {
    expect(problems([role("worker", 3, 6144)])).toEqual([
      `job.xml:9: warning: 3 of worker ask for 6 GiB, 1 core each, and the cluster's 2 nodes have room for 2 when empty: ${remedy}`,
    ]);
  });

  test("are as many as there is room for beside the AM, which is on one of the nodes for as long as the job", () => {
    expect(problems([role("worker", 4, 4096)])[0]).toMatch(/have room for 3 beside the AM:/);
    expect(problems([role("worker", 3, 4096)])).toEqual([]);
    // The AM has room on a node of its own.
    expect(problems([role("worker", 4, 4096)], [node("n1", 8192), node("n2", 8192), node("n3", 1024)])).toEqual([]);
  });

  test("are as many as the nodes of their label have room for where the AM is on one of the others", () => {
    const nodes = [node("n1", 8192, { labels: ["gpu"] }), node("n2", 8192)];
    expect(problems([role("worker", 2, 4096, { nodeLabel: "gpu" })], nodes)).toEqual([]);
    expect(problems([role("worker", 3, 4096, { nodeLabel: "gpu" })], nodes)[0]).toMatch(/has room for 2 when empty/);
  });

  test("are fewer where the AM cannot go to the node that has room for it as well, because of its label", () => {
    const nodes = [node("n1", 9216, { labels: ["gpu"] }), node("n2", 8192)];
    expect(problems([role("worker", 4, 4096)], nodes)[0]).toMatch(/have room for 3 beside the AM:/);
    const unlabelled = [node("n1", 9216), node("n2", 8192)];
    expect(problems([role("worker", 4, 4096)], unlabelled)).toEqual([]);
  });

  test("lose nothing to an AM that none of the nodes may run", () => {
    const nodes = [node("n1", 8192, { labels: ["gpu"] })];
    expect(problems([role("worker", 3, 4096, { nodeLabel: "gpu" })], nodes)[0]).toMatch(/has room for 2 when empty/);
  });

  test("are not those that run in the AM's own container", () => {
    expect(problems([role("worker", 2, 6144), role("driver", 9, 6144, { inMaster: true })])).toEqual([]);
  });

  test("of which no node has room for one are told of as such, not here", () => {
    expect(problems([role("worker", 1, 10_240)], [node("n1", 8192), node("n2", 8192)])).toEqual([]);
  });

  test("are counted by GPUs, on nodes with the role's label", () => {
    const gpus = { resource: { memoryMiB: 512, vcores: 1, others: { "yarn.io/gpu": 1 } }, nodeLabel: "gpu" };
    const nodes = [node("n1", 8192, { labels: ["gpu"], gpus: 2 }), node("n2", 8192, { gpus: 8 })];
    expect(problems([role("worker", 3, 512, gpus)], nodes)[0]).toContain(
      "the cluster's 1 node with label gpu has room for 2 when empty",
    );
    expect(problems([role("worker", 2, 512, gpus)], nodes)).toEqual([]);
  });

  test("are of several roles, which share the nodes with the AM", () => {
    expect(problems([role("ps", 2, 3584), role("worker", 2, 4608)])).toEqual([
      `job.xml:9: warning: the AM and ps, worker ask for 16.5 GiB in all, and the cluster's 2 nodes have 16 GiB: ${remedy}`,
    ]);
  });

  test("may fill all nodes, with the AM", () => {
    expect(problems([role("ps", 2, 3584), role("worker", 2, 4352)])).toEqual([]);
  });

  test("are those of one stage: the next one gets what the first gave back", () => {
    expect(problems([role("prepare", 2, 6144), role("worker", 2, 6144, { dependsOn: ["prepare"] })])).toEqual([]);
  });

  test("may get room from nodes that are away, or whose size is not known", () => {
    expect(problems([role("worker", 3, 6144)], [node("n1", 8192)], true)).toEqual([]);
    const { total: _total, ...unknown } = node("n2", 8192);
    expect(problems([role("worker", 3, 6144)], [node("n1", 8192), unknown as ReturnType<typeof node>])).toEqual([]);
    expect(problems([role("worker", 3, 6144)], [])).toEqual([]);
  });

  test("need room only for as many as an elastic role can start with", () => {
    expect(problems([role("worker", 30, 6144, { minInstances: 2 })])).toEqual([]);
    expect(problems([role("worker", 30, 6144, { minInstances: 3 })])[0]).toContain("3 of worker ask for 6 GiB");
  });

  test("do not wait for each other in fcfs", () => {
    const spec = { ...aJobSpec(), am, distributedMode: "fcfs" as const, roles: [role("worker", 9, 6144)] };
    expect(gangProblems(spec, { nodes: [node("n1", 8192)], nodesAreAway: false })).toEqual([]);
  });
});
