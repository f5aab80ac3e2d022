import { describe, expect, test } from "@jest/globals";
import type { CountedResources, NodeView } from "../../../../am/core/state/events.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import type { Resource, RoleSpec } from "../../../../src/job/spec.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const amount = (memoryMiB: number, vcores = 1): Resource => ({ memoryMiB, vcores, others: {} });

function node(host: string, change: Partial<NodeView> = {}): NodeView {
  const size = { free: amount(8192, 8), total: amount(8192, 8) };
  return { nodeId: `${host}:1`, host, rack: "/r", usable: true, labels: [], ...size, ...change };
}

/** What the wait for two workers of 1 GiB and 1 core says. */
function waitFor(facts: {
  readonly nodes?: readonly NodeView[];
  readonly headroom?: Resource;
  readonly counted?: CountedResources;
  readonly worker?: Partial<RoleSpec>;
  readonly types?: { readonly resourceTypes: readonly string[] };
}) {
  const scenario = new Scenario(jobSpec([{ ...role("worker", 2), ...facts.worker }]));
  scenario.on({ type: "nodes-changed", nodes: facts.nodes ?? [node("a")] });
  scenario.register({ ...facts.types, ...(facts.counted === undefined ? {} : { counted: facts.counted }) });
  if (facts.headroom !== undefined) scenario.on({ type: "headroom-changed", available: facts.headroom });
  const [wait] = statusOf(scenario.core, scenario.nowMs).waits;
  return { reasons: wait?.reasons, remedy: wait?.remedy };
}

const gpuLabel = { others: { "yarn.io/gpu": 1 } };

describe("why containers do not come", () => {
  test("no node of the label runs: in which states they are", () => {
    const away = (host: string, state: NonNullable<NodeView["state"]>) =>
      node(host, { usable: false, state, labels: ["gpu"], ...(state.startsWith("DECOM") && { decommissioning: {} }) });
    const worker = { nodeLabel: "gpu" };
    expect(waitFor({ worker, nodes: [node("a"), away("b", "UNHEALTHY"), away("c", "LOST")] })).toEqual({
      reasons: ["label gpu has no usable node: b (UNHEALTHY), c (LOST)"],
      remedy: undefined,
    });
    expect(waitFor({ worker, nodes: [node("a"), away("b", "DECOMMISSIONING"), away("c", "DECOMMISSIONED")] })).toEqual({
      reasons: ["label gpu has no usable node: c (DECOMMISSIONED)", "being taken out of the cluster: b"],
      remedy: undefined,
    });
  });

  test("the queue has too little left, by what the last heartbeat said: of which kind, and the keys for that", () => {
    expect(waitFor({ headroom: amount(1536, 4) })).toEqual({
      reasons: ["in queue default 1.5 GiB, 4 cores are free for this job: too little memory for more than 1 of them"],
      remedy: "lower tony.worker.instances or tony.worker.memory (job.xml:16)",
    });
    expect(waitFor({ headroom: amount(512, 0) })).toEqual({
      reasons: ["in queue default 512 MiB, 0 cores are free for this job: too little memory and too few cores"],
      // A program has one core at the least.
      remedy: "lower tony.worker.memory (job.xml:16)",
    });
  });

  test("for trials of a search they are as many as run at once, of which there may be fewer", () => {
    const search = { ...searchOf({ x: "float 0 1" }), maxTrials: 12, maxParallel: 3 };
    const scenario = new Scenario(searchRun(jobSpec([role("worker", 1)]), search));
    scenario.on({ type: "nodes-changed", nodes: [node("a")] });
    scenario.register();
    scenario.on({ type: "headroom-changed", available: amount(1536, 4) });
    expect(statusOf(scenario.core, scenario.nowMs).waits).toMatchObject([
      {
        what: "3 of 3 containers of worker: 1 GiB, 1 core",
        remedy: "lower tony.search.max-parallel or tony.worker.memory (job.xml:16)",
      },
    ]);
  });

  test("for trials of a search they are awaited since one was missing, not since the search began", () => {
    const search = { ...searchOf({ x: "float 0 1" }), maxTrials: 12, maxParallel: 1 };
    const scenario = new Scenario(searchRun(jobSpec([role("worker", 1)]), search));
    scenario.toRunning();
    scenario.after(60_000);
    const { containerId } = scenario.task("worker:0");
    scenario.on({ type: "executor-lost", task: "worker:0", containerId, cause: "goodbye" });
    scenario.completes(containerId, -100);
    const [wait] = statusOf(scenario.core, scenario.nowMs).waits;
    expect(wait).toMatchObject({ what: "1 container of worker: 1 GiB, 1 core", sinceMs: scenario.nowMs });
  });

  test("for trials of a search they are awaited no shorter since the ResourceManager restarted", () => {
    const search = { ...searchOf({ x: "float 0 1" }), maxTrials: 12, maxParallel: 2 };
    const scenario = new Scenario(searchRun(jobSpec([role("worker", 1)]), search));
    scenario.register();
    const sinceMs = scenario.nowMs;
    scenario.after(60_000);
    scenario.on({ type: "resource-manager-resynced" });
    expect(statusOf(scenario.core, scenario.nowMs).waits).toMatchObject([{ sinceMs }]);
  });

  test("what the queue has left says nothing while containers come: beyond its share that is always one smallest container", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a")] });
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.on({ type: "headroom-changed", available: amount(64) });
    const reasons = () => statusOf(scenario.core, scenario.nowMs).waits[0]?.reasons;
    expect(reasons()).toEqual(["YARN has given none of them yet on the 1 usable node of the cluster"]);
    scenario.after(30_000);
    expect(reasons()).toEqual(["in queue default 64 MiB, 1 core are free for this job: too little memory"]);
  });

  test("of a GPU that others have it says neither memory nor cores", () => {
    const worker = { resource: { ...amount(1024), ...gpuLabel } };
    const gpus = { others: { "yarn.io/gpu": 2 } };
    const nodes = [node("a", { total: { ...amount(8192, 8), ...gpus } })];
    const types = { resourceTypes: ["yarn.io/gpu"] };
    expect(waitFor({ headroom: amount(2304, 11), worker, nodes, types })).toEqual({
      reasons: ["in queue default 2.25 GiB, 11 cores, 0 GPUs are free for this job: too few GPUs"],
      remedy: undefined,
    });
  });

  test("a GPU is named by the key that asks for it, whatever the site calls GPUs", () => {
    const worker = { resource: { ...amount(1024), others: { "acme.com/a100": 1 } } };
    const nodes = [node("a", { total: { ...amount(8192, 8), others: { "acme.com/a100": 2 } } })];
    const types = { resourceTypes: ["acme.com/a100"] };
    expect(waitFor({ headroom: amount(2304, 11), worker, nodes, types })).toEqual({
      reasons: ["in queue default 2.25 GiB, 11 cores, 0 acme.com/a100 are free for this job: too few acme.com/a100"],
      remedy: undefined,
    });
  });

  test("the queue has room, so that nothing is known to be short", () => {
    expect(waitFor({ headroom: amount(8192, 8), nodes: [node("a"), node("b")] })).toEqual({
      reasons: ["YARN has given none of them yet on the 2 usable nodes of the cluster"],
      remedy: undefined,
    });
  });

  test("what is left on nodes without a label says nothing where a labelled one serves these asks, too", () => {
    const nodes = [node("a"), node("b", { labels: ["gpu"], nonExclusive: true })];
    expect(waitFor({ headroom: amount(0, 0), nodes })).toEqual({
      reasons: ["YARN has given none of them yet on the 2 usable nodes of the cluster"],
      remedy: undefined,
    });
  });

  test("what is left for two labels together says nothing of one of them", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1, { nodeLabel: "gpu" }), role("ps", 1)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a"), node("b", { labels: ["gpu"] })] });
    scenario.register();
    scenario.on({ type: "headroom-changed", available: amount(0, 0) });
    expect(statusOf(scenario.core, scenario.nowMs).waits.flatMap(({ reasons }) => reasons)).toEqual([
      "YARN has given none of them yet on the 1 usable node of label gpu",
      "YARN has given none of them yet on the 1 usable node of the cluster",
    ]);
  });

  test("YARN refused their size, and is asked again by now: that is told no more", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a")] });
    scenario.register();
    scenario.on({ type: "ask-too-large", role: "worker", message: "too large", allowed: amount(512, 4) });
    const reasons = () => statusOf(scenario.core, scenario.nowMs).waits[0]?.reasons;
    expect(reasons()).toEqual(["no registered node is large enough: the largest has 512 MiB, 4 cores"]);
    scenario.after(60_000);
    expect(reasons()).toEqual(["YARN has given none of them yet on the 1 usable node of the cluster"]);
  });

  test("YARN refuses their size while the one node that is large enough is away", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    const nodes = [node("a", { total: amount(512) }), node("b", { usable: false })];
    scenario.on({ type: "nodes-changed", nodes });
    scenario.register();
    scenario.on({ type: "ask-too-large", role: "worker", message: "too large", allowed: amount(512, 4) });
    expect(statusOf(scenario.core, scenario.nowMs).waits).toMatchObject([
      {
        what: "1 container of worker: 1 GiB, 1 core",
        reasons: ["no registered node is large enough: the largest has 512 MiB, 4 cores"],
      },
    ]);
  });

  test("cores are not spoken of where the scheduler does not count them", () => {
    expect(waitFor({ counted: "memory", headroom: amount(1024, -5) }).reasons).toEqual([
      "in queue default 1 GiB are free for this job: too little memory for more than 1 of them",
    ]);
    expect(waitFor({ counted: "memory", headroom: amount(4096, -5) }).reasons).toEqual([
      "YARN has given none of them yet on the 1 usable node of the cluster",
    ]);
  });

  test("a node that the role's label excludes is not counted", () => {
    const nodes = [node("a"), node("b", { labels: ["gpu"] }), node("c", { labels: ["ssd"], nonExclusive: true })];
    expect(waitFor({ nodes }).reasons).toEqual([
      "YARN has given none of them yet on the 2 usable nodes of the cluster",
    ]);
  });

  test("no node that could take them is usable: lowering anything does not help", () => {
    const nodes = [node("a", { usable: false }), node("b", { labels: ["gpu"] })];
    expect(waitFor({ nodes })).toEqual({ reasons: ["the cluster has no usable node"], remedy: undefined });
  });

  test("no node has the label: waiting does not help", () => {
    expect(waitFor({ worker: { nodeLabel: "tpu" } })).toEqual({
      reasons: ["waiting will not help unless nodes join: no node has label tpu"],
      remedy: "set tony.worker.node-label to a label that nodes have",
    });
  });
});
