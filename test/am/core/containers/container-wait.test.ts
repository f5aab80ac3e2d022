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

describe("a wait for containers says", () => {
  test("in which states a label's nodes are, where none of them is usable", () => {
    const away = (host: string, state: NonNullable<NodeView["state"]>, label = "gpu") =>
      node(host, { usable: false, state, labels: [label], ...(state.startsWith("DECOM") && { decommissioning: {} }) });
    const worker = { nodeLabel: "gpu" };
    expect(
      waitFor({ worker, nodes: [node("a"), away("b", "UNHEALTHY"), away("c", "LOST"), away("d", "LOST", "ssd")] }),
    ).toEqual({
      reasons: ["label gpu has no usable node: b (UNHEALTHY), c (LOST)"],
      remedy: undefined,
    });
    expect(waitFor({ worker, nodes: [node("a"), away("b", "DECOMMISSIONING"), away("c", "DECOMMISSIONED")] })).toEqual({
      reasons: ["label gpu has no usable node: c (DECOMMISSIONED)", "being taken out of the cluster: b"],
      remedy: undefined,
    });
  });

  test("what the queue has too little of by the last heartbeat, and which keys to lower", () => {
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

  test("how many containers a search needs for the trials that run at once, and that fewer may run at once", () => {
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

  test("for a search's trials: since when a container is missing, not since when the search runs", () => {
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

  test("for a search's trials: the same beginning after a restart of the ResourceManager", () => {
    const search = { ...searchOf({ x: "float 0 1" }), maxTrials: 12, maxParallel: 2 };
    const scenario = new Scenario(searchRun(jobSpec([role("worker", 1)]), search));
    scenario.register();
    const sinceMs = scenario.nowMs;
    scenario.after(60_000);
    scenario.on({ type: "resource-manager-resynced" });
    expect(statusOf(scenario.core, scenario.nowMs).waits).toMatchObject([{ sinceMs }]);
  });

  test("nothing about the queue's room while containers come: with its share used up that room is always one smallest container", () => {
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

  test("that GPUs are short which others have, not memory or cores", () => {
    const worker = { resource: { ...amount(1024), ...gpuLabel } };
    const gpus = { others: { "yarn.io/gpu": 2 } };
    const nodes = [node("a", { total: { ...amount(8192, 8), ...gpus } })];
    const types = { resourceTypes: ["yarn.io/gpu"] };
    expect(waitFor({ headroom: amount(2304, 11), worker, nodes, types })).toEqual({
      reasons: ["in queue default 2.25 GiB, 11 cores, 0 GPUs are free for this job: too few GPUs"],
      remedy: undefined,
    });
  });

  test("what a label has too little of, where what runs beside it is in the AM's own container", () => {
    const notebook = role("notebook", 1, { inMaster: true });
    const scenario = new Scenario(jobSpec([role("worker", 2, { nodeLabel: "gpu" }), notebook]));
    scenario.on({ type: "nodes-changed", nodes: [node("a", { labels: ["gpu"] })] });
    scenario.register();
    scenario.on({ type: "headroom-changed", available: amount(512, 4) });
    expect(statusOf(scenario.core, scenario.nowMs).waits[0]?.reasons).toEqual([
      "in queue default 512 MiB, 4 cores are free for this job: too little memory",
    ]);
  });

  test("nothing where no node is known yet", () => {
    expect(waitFor({ nodes: [] })).toEqual({ reasons: [], remedy: undefined });
  });

  test("which hosts are avoided, of those in the role's reach, and counts them as none that it may use", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2), role("ps", 1, { nodeLabel: "gpu" })]));
    const hosts = [node("a"), node("b"), node("e"), node("c", { labels: ["gpu"] }), node("d", { labels: ["gpu"] })];
    scenario.on({ type: "nodes-changed", nodes: hosts });
    scenario.register();
    for (const host of ["a", "a"]) {
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host })] });
      scenario.completes(scenario.task("worker:0").containerId, -101);
    }
    scenario.on({ type: "nodes-changed", nodes: [node("d", { labels: ["gpu"], usable: false, decommissioning: {} })] });
    scenario.after(30_000);
    expect(statusOf(scenario.core, scenario.nowMs).waits.map(({ reasons }) => reasons)).toEqual([
      ["YARN has given none of them yet on the 2 usable nodes of the cluster", "avoided after failures: a"],
      ["YARN has given none of them yet on the 1 usable node of label gpu", "being taken out of the cluster: d"],
    ]);
  });

  test("only that no node is large enough where YARN refused the size, though the queue is short of room as well", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a")] });
    scenario.register();
    scenario.on({ type: "headroom-changed", available: amount(512, 4) });
    scenario.on({ type: "ask-too-large", role: "worker", message: "too large" });
    const [wait] = statusOf(scenario.core, scenario.nowMs).waits;
    expect(wait?.reasons).toEqual(["no registered node is large enough"]);
    expect(wait?.remedy).toBeUndefined();
  });

  test("which key asks for a GPU, whatever the site calls GPUs", () => {
    const worker = { resource: { ...amount(1024), others: { "acme.com/a100": 1 } } };
    const nodes = [node("a", { total: { ...amount(8192, 8), others: { "acme.com/a100": 2 } } })];
    const types = { resourceTypes: ["acme.com/a100"] };
    expect(waitFor({ headroom: amount(2304, 11), worker, nodes, types })).toEqual({
      reasons: ["in queue default 2.25 GiB, 11 cores, 0 acme.com/a100 are free for this job: too few acme.com/a100"],
      remedy: undefined,
    });
  });

  test("nothing about a shortage where the queue has room", () => {
    expect(waitFor({ headroom: amount(8192, 8), nodes: [node("a"), node("b")] })).toEqual({
      reasons: ["YARN has given none of them yet on the 2 usable nodes of the cluster"],
      remedy: undefined,
    });
  });

  test("nothing about the room on nodes without a label where a labelled node may serve these asks, too", () => {
    const nodes = [node("a"), node("b", { labels: ["gpu"], nonExclusive: true })];
    expect(waitFor({ headroom: amount(0, 0), nodes })).toEqual({
      reasons: ["YARN has given none of them yet on the 2 usable nodes of the cluster"],
      remedy: undefined,
    });
  });

  test("nothing about one label from what is left for two together", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1, { nodeLabel: "gpu" }), role("ps", 1)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a"), node("b", { labels: ["gpu"] })] });
    scenario.register();
    scenario.on({ type: "headroom-changed", available: amount(0, 0) });
    expect(statusOf(scenario.core, scenario.nowMs).waits.flatMap(({ reasons }) => reasons)).toEqual([
      "YARN has given none of them yet on the 1 usable node of label gpu",
      "YARN has given none of them yet on the 1 usable node of the cluster",
    ]);
  });

  test("no longer that YARN refused the size, once it is asked again", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a")] });
    scenario.register();
    scenario.on({ type: "ask-too-large", role: "worker", message: "too large", allowed: amount(512, 4) });
    const reasons = () => statusOf(scenario.core, scenario.nowMs).waits[0]?.reasons;
    expect(reasons()).toEqual(["no registered node is large enough: the largest has 512 MiB, 4 cores"]);
    scenario.after(60_000);
    expect(reasons()).toEqual(["YARN has given none of them yet on the 1 usable node of the cluster"]);
  });

  test("that no node is large enough while the one that is large enough is away", () => {
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

  test("nothing about cores where the scheduler does not count them", () => {
    expect(waitFor({ counted: "memory", headroom: amount(1024, -5) }).reasons).toEqual([
      "in queue default 1 GiB are free for this job: too little memory for more than 1 of them",
    ]);
    expect(waitFor({ counted: "memory", headroom: amount(4096, -5) }).reasons).toEqual([
      "YARN has given none of them yet on the 1 usable node of the cluster",
    ]);
  });

  test("how many nodes are usable, without those that the role's label excludes", () => {
    const nodes = [node("a"), node("b", { labels: ["gpu"] }), node("c", { labels: ["ssd"], nonExclusive: true })];
    expect(waitFor({ nodes }).reasons).toEqual([
      "YARN has given none of them yet on the 2 usable nodes of the cluster",
    ]);
  });

  test("to lower nothing where no node is usable that could take the containers", () => {
    const nodes = [node("a", { usable: false }), node("b", { labels: ["gpu"] })];
    expect(waitFor({ nodes })).toEqual({ reasons: ["the cluster has no usable node"], remedy: undefined });
  });

  test("that waiting does not help where no node has the label", () => {
    expect(waitFor({ worker: { nodeLabel: "tpu" } })).toEqual({
      reasons: ["waiting will not help unless nodes join: no node has label tpu"],
      remedy: "set tony.worker.node-label to a label that nodes have",
    });
  });
});
