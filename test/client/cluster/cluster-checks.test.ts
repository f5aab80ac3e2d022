import { describe, expect, test } from "@jest/globals";
import { type ClusterFacts, checkAgainstCluster, withQueueLabel } from "../../../client/cluster/cluster-checks.ts";
import type { PlacementConstraint } from "../../../src/hadoop/yarn/placement-constraint.ts";
import type { QueueInfo } from "../../../src/hadoop/yarn/records.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const queue: QueueInfo = {
  name: "default",
  path: "root.default",
  state: "RUNNING",
  capacity: 0.6,
  maximumCapacity: 1,
  currentCapacity: 0,
  mostByLabel: {},
  accessibleNodeLabels: [],
  defaultNodeLabel: "",
  applications: [],
  children: [],
};

const facts: ClusterFacts = {
  maximum: { memoryMiB: 8192, vcores: 8, others: { "yarn.io/gpu": 2 } },
  configured: {},
  resourceTypes: ["memory-mb", "vcores", "yarn.io/gpu"].map((name) => ({ name, units: "" })),
  queue,
  leafQueues: ["default", "ml"],
  queuesAreOpen: false,
  nodeLabels: ["gpu"],
  nodes: [node("n1", [], 8192, {}), node("n2", ["gpu"], 4096, { "yarn.io/gpu": 2 })],
  nodesAreAway: false,
  awayNodes: [],
};

function node(host: string, labels: string[], memoryMiB: number, others: Record<string, number>) {
  const total = { memoryMiB, vcores: 8, others };
  return { nodeId: `${host}:1`, host, rack: "/r", labels, free: total, total };
}

function problems(changes: Partial<JobSpec>, cluster: Partial<ClusterFacts> = {}): string[] {
  const sources = { "tony.worker.memory": "job.xml:16", "tony.yarn.queue": "job.xml:3" };
  const spec = { ...aJobSpec(), queue: "default", sources, ...changes };
  return checkAgainstCluster(spec, { ...facts, ...cluster }).map(formatProblem);
}

function worker(changes: Partial<JobSpec["roles"][number]>): Pick<JobSpec, "roles"> {
  return { roles: aJobSpec().roles.map((role) => ({ ...role, name: "worker", ...changes })) };
}

describe("what a cluster would refuse is said before anything is uploaded", () => {
  test("a job that fits has no problem", () => {
    expect(problems({})).toEqual([]);
  });

  describe("places by constraints", () => {
    const java: PlacementConstraint = { kind: "attribute", name: "java", is: true, values: ["1.8"] };
    const constrained = (constraint: PlacementConstraint) =>
      worker({ constrained: { tags: [], constraint: { kind: "and", of: [constraint] } } });

    test("of a Hadoop that does not see them", () => {
      expect(problems(constrained(java))).toEqual([
        "a worker has placement constraints, which this cluster's Hadoop does not support: it is older than 3.2 (tony.worker.placement-spec)",
      ]);
    });

    test("by an attribute that no node has", () => {
      expect(problems(constrained(java), { nodeAttributes: ["rm.yarn.io/jave"] })).toEqual([
        "a worker needs nodes with attribute java, which no node has: did you mean jave? there are rm.yarn.io/jave (tony.worker.placement-spec)",
      ]);
      expect(problems(constrained(java), { nodeAttributes: [] })[0]).toContain("the cluster has none");
      expect(problems(constrained(java), { nodeAttributes: ["rm.yarn.io/zone", "nm.yarn.io/osType"] })[0]).toContain(
        "which no node has: there are rm.yarn.io/zone, nm.yarn.io/osType (",
      );
      // A part of a name is another attribute.
      expect(problems(constrained({ ...java, name: "ava" }), { nodeAttributes: ["rm.yarn.io/java"] })).toHaveLength(1);
      const either = { kind: "or", of: [java, { ...java, name: "zone" }] } as const;
      expect(problems(constrained(either), { nodeAttributes: ["rm.yarn.io/zone"] })).toHaveLength(1);
    });

    test("by the key that says so, for all roles or one", () => {
      const sources = { "tony.containers.placement-spec": "job.xml:7" };
      expect(problems({ ...constrained(java), sources }, { nodeAttributes: [] })).toEqual([
        "job.xml:7: a worker needs nodes with attribute java, which no node has: the cluster has none (tony.containers.placement-spec)",
      ]);
    });

    test("by tags alone, which need no attribute", () => {
      const apart = { kind: "tags", scope: "node", min: 0, max: 0, tags: [{ tag: "worker" }] } as const;
      expect(problems(constrained(apart), { nodeAttributes: [] })).toEqual([]);
      expect(problems(worker({ constrained: { tags: ["worker"] } }), { nodeAttributes: [] })).toEqual([]);
    });

    test("by one that there is, or that nodes are not to have", () => {
      for (const name of ["java", "rm.yarn.io/java"])
        expect(problems(constrained({ ...java, name }), { nodeAttributes: ["rm.yarn.io/java"] })).toEqual([]);
      expect(problems(constrained({ ...java, is: false }), { nodeAttributes: [] })).toEqual([]);
    });
  });

  test.each<[string, Partial<ClusterFacts>]>([
    ["the site's configuration says", { configured: { memoryMiB: 8192 } }],
    ["a larger node shows", { nodes: [node("n1", [], 16384, {})] }],
  ])("more memory than the largest container may have, as %s, with the line that asks for it", (_, cluster) => {
    expect(problems(worker({ resource: { memoryMiB: 9216, vcores: 1, others: {} } }), cluster)).toEqual([
      "job.xml:16: a worker asks for 9 GiB, the largest container of this cluster has 8 GiB: lower tony.worker.memory (yarn.scheduler.maximum-allocation-mb)",
    ]);
  });

  test("a node that is larger than any registered now may come: a warning", () => {
    const ask = worker({ resource: { memoryMiB: 9216, vcores: 1, others: {} } });
    const warning =
      "job.xml:16: warning: a worker asks for 9 GiB, with the nodes that are registered now the largest container has 8 GiB: the job waits for a larger node, unless you lower tony.worker.memory";
    expect(problems(ask)).toEqual([warning]);
    expect(problems(ask, { configured: { memoryMiB: 16384 } })).toEqual([warning]);
    // Of a node whose size is not known nothing follows.
    const { total: _total, ...unknown } = node("n1", [], 8192, {});
    expect(problems(ask, { nodes: [unknown] })).toEqual([warning]);
  });

  const asking = (memoryMiB: number, vcores = 1, others: Record<string, number> = {}) =>
    worker({ resource: { memoryMiB, vcores, others } });
  const sizes = [node("n1", [], 8192, {}), node("n2", [], 16384, { "yarn.io/gpu": 4 })];
  const cores = sizes.map((one) => ({ ...one, total: { ...one.total, vcores: 16 } }));

  test.each<[string, Pick<JobSpec, "roles">, Partial<ClusterFacts>, readonly string[]]>([
    [
      "one of several nodes shows, whatever is written here",
      asking(9216),
      { nodes: sizes, configured: { memoryMiB: 16384 } },
      [
        "job.xml:16: a worker asks for 9 GiB, the largest container of this cluster has 8 GiB: lower tony.worker.memory (yarn.scheduler.maximum-allocation-mb)",
      ],
    ],
    [
      "is written here, of which that of now is a part",
      asking(17408),
      { configured: { memoryMiB: 16384 } },
      [
        "job.xml:16: a worker asks for 17 GiB, the largest container of this cluster has 16 GiB: lower tony.worker.memory (yarn.scheduler.maximum-allocation-mb)",
      ],
    ],
    [
      "a node with more cores shows",
      asking(512, 9),
      { nodes: cores },
      [
        "a worker asks for 9 cores, the largest container of this cluster has 8 cores: lower tony.worker.vcores (yarn.scheduler.maximum-allocation-vcores)",
      ],
    ],
    [
      "a node with more GPUs shows, for which there is no setting",
      asking(512, 1, { "yarn.io/gpu": 3 }),
      { nodes: sizes },
      [
        "a worker asks for 3 GPUs, the largest container of this cluster has 2 GPUs: lower tony.worker.resource.yarn.io/gpu",
      ],
    ],
  ])("more than the largest container may have, as %s", (_, ask, cluster, said) => {
    expect(problems(ask, cluster)).toEqual(said);
  });

  test("all that a larger node may have, as it is configured, waits for one", () => {
    expect(problems(asking(16384), { configured: { memoryMiB: 16384 } })).toEqual([
      expect.stringMatching(
        /^job\.xml:16: warning: a worker asks for 16 GiB, with the nodes .* waits for a larger node/,
      ),
    ]);
  });

  test("of a single GPU, which nobody can lower, that no node has it now", () => {
    const maximum = { memoryMiB: 8192, vcores: 8, others: {} };
    expect(problems(asking(512, 1, { "yarn.io/gpu": 1 }), { maximum, nodes: [node("n1", [], 8192, {})] })).toEqual([
      "warning: a worker asks for 1 GPU, with the nodes that are registered now the largest container has 0 GPUs: the job waits for a larger node",
    ]);
    expect(problems(asking(512, 1, { "yarn.io/gpu": 2 }), { maximum, nodes: [node("n1", [], 8192, {})] })[0]).toMatch(
      /: the job waits for a larger node, unless you lower tony\.worker\.resource\.yarn\.io\/gpu$/,
    );
  });

  test("nothing of a type of which none is asked for", () => {
    expect(problems(asking(512, 1, { "yarn.io/fpga": 0 }))).toEqual([]);
  });

  test("more than any one node has, though YARN's largest container has each of it", () => {
    const resource = { memoryMiB: 8192, vcores: 1, others: { "yarn.io/gpu": 1 } };
    expect(problems(worker({ resource }))).toEqual([
      "job.xml:16: warning: a worker asks for 8 GiB, 1 core, 1 GPU, which no node has in all: they have 8 GiB, 8 cores; 4 GiB, 8 cores, 2 GPUs: the job waits for one, unless you lower what tony.worker.* asks for",
    ]);
    expect(problems(worker({ resource }), { nodesAreAway: true })).toEqual([]);
    // One whose size is not known may have all of it.
    const { total: _total, ...unknown } = node("n3", [], 8192, {});
    expect(problems(worker({ resource }), { nodes: [...facts.nodes, unknown] })).toEqual([]);
    const many = [1024, 1024, 2048, 3072, 4096].map((memoryMiB, index) => node(`n${index}`, [], memoryMiB, {}));
    expect(problems(worker({ resource }), { nodes: many })[0]).toContain(
      "which no node has in all: they have 1 GiB, 8 cores; 2 GiB, 8 cores; 3 GiB, 8 cores: the job waits",
    );
  });

  test("more than the nodes of its label have", () => {
    const resource = { memoryMiB: 6144, vcores: 1, others: {} };
    const anywhere = { ...queue, accessibleNodeLabels: ["*"] };
    expect(problems(worker({ resource, nodeLabel: "gpu" }), { queue: anywhere })).toEqual([
      "job.xml:16: warning: a worker asks for 6 GiB, 1 core, which no node with label gpu has in all: they have 4 GiB, 8 cores, 2 GPUs: the job waits for one, unless you lower what tony.worker.* asks for",
    ]);
  });

  test("that nodes of its label alone have, and none of them runs: their states, not the sizes of the others", () => {
    const total = { memoryMiB: 4096, vcores: 8, others: { "yarn.io/gpu": 4 } };
    const away = { nodeId: "n3:1", host: "n3", rack: "/r", labels: ["gpu"], total, state: "DECOMMISSIONING" } as const;
    const cluster = { queue: { ...queue, accessibleNodeLabels: ["*"] }, awayNodes: [away] };
    const resource = { memoryMiB: 512, vcores: 1, others: { "yarn.io/gpu": 4 } };
    expect(problems(worker({ resource, nodeLabel: "gpu" }), cluster)).toEqual([
      "warning: a worker asks for nodes with label gpu, and none runs: n3 (DECOMMISSIONING); the job waits for one (tony.application.node-label)",
    ]);
    const five = ["a", "b", "c", "d", "e"].map((host) => ({ ...away, host }));
    expect(problems(worker({ resource, nodeLabel: "gpu" }), { ...cluster, awayNodes: five })[0]).toContain(
      "and none runs: a (DECOMMISSIONING), b (DECOMMISSIONING), c (DECOMMISSIONING), d (DECOMMISSIONING) and 1 more;",
    );
    const unknown = { ...resource, others: { "yarn.io/fpga": 1 } };
    expect(problems(worker({ resource: unknown, nodeLabel: "gpu" }), cluster)[0]).toMatch(/asks for 1 yarn\.io\/fpga/);
    expect(problems({}, cluster)).toEqual([]);
  });

  test("of the AM more than the nodes of its partition have, which it does not leave", () => {
    const am = { ...aJobSpec().am, resource: { memoryMiB: 512, vcores: 1, others: { "yarn.io/gpu": 1 } } };
    expect(problems({ am })).toEqual([
      "warning: the AM asks for 512 MiB, 1 core, 1 GPU, which no node without a label has in all: they have 8 GiB, 8 cores: the job waits for one, unless you lower what tony.am.* asks for",
    ]);
    const labelled = { ...queue, accessibleNodeLabels: ["*"], defaultNodeLabel: "gpu" };
    expect(problems({ am }, { queue: labelled })).toEqual([]);
    // A label of its own comes before its queue's.
    expect(problems({ am: { ...am, nodeLabel: "tpu" } }, { queue: labelled })).toEqual([
      "the AM asks for nodes with label tpu, which does not exist: there are gpu (tony.application.node-label)",
    ]);
  });

  test("more cores, for the AM too", () => {
    const am = { ...aJobSpec().am, resource: { memoryMiB: 512, vcores: 9, others: {} } };
    expect(problems({ am }, { configured: { vcores: 8 } })).toEqual([
      "the AM asks for 9 cores, the largest container of this cluster has 8 cores: lower tony.am.vcores (yarn.scheduler.maximum-allocation-vcores)",
    ]);
  });

  test("a resource type that the cluster does not have: YARN would drop it in silence", () => {
    const resource = { memoryMiB: 512, vcores: 1, others: { "yarn.io/fpga": 1 } };
    expect(problems(worker({ resource }))).toEqual([
      "a worker asks for 1 yarn.io/fpga, a resource type that this cluster does not have (it has memory-mb, vcores, yarn.io/gpu): remove tony.worker.resource.yarn.io/fpga, or have yarn.io/fpga added to yarn.resource-types",
    ]);
  });

  test("more GPUs than any node has", () => {
    const resource = { memoryMiB: 512, vcores: 1, others: { "yarn.io/gpu": 3 } };
    expect(problems({ ...worker({ resource }), sources: { "tony.worker.gpus": "job.xml:18" } })).toEqual([
      "job.xml:18: warning: a worker asks for 3 GPUs, with the nodes that are registered now the largest container has 2 GPUs: the job waits for a larger node, unless you lower tony.worker.gpus",
    ]);
  });

  test("an unknown queue, with the nearest: YARN would take the job and then fail it", () => {
    const { queue: _queue, ...none } = facts;
    const spec = { ...aJobSpec(), queue: "mll", sources: { "tony.yarn.queue": "job.xml:3" } };
    expect(checkAgainstCluster(spec, none).map(formatProblem)).toEqual([
      "job.xml:3: warning: there is no queue mll: did you mean ml? the queues are default, ml (tony.yarn.queue); YARN refuses the job, unless rules of its own make or choose a queue",
    ]);
  });

  test("an unknown queue that no other is like", () => {
    const { queue: _queue, ...none } = facts;
    expect(checkAgainstCluster({ ...aJobSpec(), queue: "research" }, none).map(formatProblem)[0]).toContain(
      "there is no queue research: the queues are default, ml (",
    );
  });

  test("no queue at all where only the scheduler knows what it takes", () => {
    const { queue: _queue, ...none } = facts;
    const refusals = (name: string, cluster: ClusterFacts) =>
      checkAgainstCluster({ ...aJobSpec(), queue: name }, cluster);
    expect(refusals("mll", { ...none, queuesAreOpen: true })).toEqual([]);
    expect(refusals("default", none)).toEqual([]);
    expect(refusals("root.team.new", none)).toEqual([]);
    expect(refusals("root", { ...facts, queue: { ...queue, children: [queue] }, queuesAreOpen: true })).toEqual([]);
  });

  test("not cores that no single node has: a scheduler that counts memory alone gives them", () => {
    const nodes = [node("n1", [], 8192, {}), node("n2", [], 512, {})].map((one, index) => ({
      ...one,
      total: { ...one.total, vcores: index === 0 ? 1 : 8 },
    }));
    expect(problems(worker({ resource: { memoryMiB: 4096, vcores: 8, others: {} } }), { nodes })).toEqual([]);
  });

  test.each([
    ["STOPPED", "is stopped"],
    ["DRAINING", "is being drained"],
  ] as const)("a queue that is %s", (state, words) => {
    expect(problems({}, { queue: { ...queue, state } })).toEqual([
      `job.xml:3: warning: queue default ${words} and takes no new applications: the queues are default, ml (tony.yarn.queue); YARN refuses the job, unless rules of its own make or choose a queue`,
    ]);
  });

  test("a queue that only holds others", () => {
    expect(problems({}, { queue: { ...queue, children: [{ ...queue, name: "small" }] } })).toEqual([
      "job.xml:3: warning: queue default takes no applications itself: choose one of small (tony.yarn.queue); YARN refuses the job, unless rules of its own make or choose a queue",
    ]);
  });

  test("an unknown label", () => {
    expect(problems(worker({ nodeLabel: "tpu" }))).toEqual([
      "a worker asks for nodes with label tpu, which does not exist: there are gpu (tony.application.node-label)",
    ]);
  });

  test("a label of which the cluster has none, with the key that asks for it", () => {
    const sources = { "tony.worker.node-label": "job.xml:20" };
    expect(problems({ ...worker({ nodeLabel: "tpu" }), sources }, { nodeLabels: [] })).toEqual([
      "job.xml:20: a worker asks for nodes with label tpu, which does not exist: the cluster has none (tony.worker.node-label)",
    ]);
  });

  test("a label that the queue does not reach, with those that it does", () => {
    const some = { ...queue, accessibleNodeLabels: ["", "ssd", "big"] };
    expect(problems(worker({ nodeLabel: "gpu" }), { queue: some })[0]).toContain("but queue default reaches ssd, big:");
    const { queue: _queue, ...none } = facts;
    expect(checkAgainstCluster({ ...aJobSpec(), queue: "default", ...worker({ nodeLabel: "gpu" }) }, none)).toEqual([]);
  });

  test("a label that a queue does not reach which reaches none", () => {
    expect(problems(worker({ nodeLabel: "gpu" }))).toEqual([
      "a worker asks for nodes with label gpu, but queue default reaches nodes without a label only: choose another queue (tony.yarn.queue) or label (tony.application.node-label)",
    ]);
  });

  test.each([["*"], ["gpu"]])("a queue that reaches %s reaches the label", (label) => {
    expect(problems(worker({ nodeLabel: "gpu" }), { queue: { ...queue, accessibleNodeLabels: [label] } })).toEqual([]);
  });

  test("the queue's own label is that of the roles that name none", () => {
    const roles = [...worker({}).roles, ...worker({ nodeLabel: "ssd" }).roles];
    const spec = { ...aJobSpec(), roles };
    const labels = (defaultNodeLabel: string) =>
      withQueueLabel(spec, { ...queue, defaultNodeLabel }).roles.map(({ nodeLabel }) => nodeLabel);
    expect(withQueueLabel(spec, { ...queue, defaultNodeLabel: "gpu" })).toEqual({ ...spec, roles: expect.any(Array) });
    expect(labels("gpu")).toEqual(["gpu", "ssd"]);
    expect(labels("")).toEqual([undefined, "ssd"]);
  });

  test("a gang that does not fit on all nodes together", () => {
    expect(problems(worker({ instances: 9, resource: { memoryMiB: 4096, vcores: 1, others: {} } }))).toEqual([
      expect.stringMatching(/^warning: 9 of worker ask for 4 GiB, 1 core each, .* have room for \d /),
    ]);
  });

  test("everything wrong is said at once, the queue first", () => {
    const resource = { memoryMiB: 9216, vcores: 9, others: {} };
    expect(problems(worker({ resource, nodeLabel: "tpu" }), { queue: { ...queue, state: "STOPPED" } })).toEqual([
      expect.stringContaining("queue default is stopped"),
      expect.stringContaining("a worker asks for 9 GiB"),
      expect.stringContaining("a worker asks for 9 cores"),
      expect.stringContaining("label tpu, which does not exist"),
    ]);
  });
});
