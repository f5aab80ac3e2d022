import { describe, expect, test } from "@jest/globals";
import type { CountedResources, NodeView } from "../../../../am/core/state/events.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import type { JobSpec, Resource, RoleSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const gpus = (count: number) => ({ "yarn.io/gpu": count });
const amount = (memoryMiB: number, others: Record<string, number> = {}) => ({ memoryMiB, vcores: 1, others });

function node(host: string, total: Resource | undefined, labels: string[] = [], usable = true): NodeView {
  const sizes = total === undefined ? {} : { total: { ...total, vcores: 8 }, free: amount(0) };
  return { nodeId: `${host}:1`, host, rack: "/r", usable, labels, ...sizes };
}

/** What the first role's wait says, and how it is mended. */
function waitFor(
  roles: readonly RoleSpec[],
  nodes: readonly NodeView[],
  counted: CountedResources = "all",
  change: Partial<JobSpec> = {},
) {
  const scenario = new Scenario(jobSpec([...roles], change));
  scenario.on({ type: "nodes-changed", nodes });
  scenario.register({ resourceTypes: ["yarn.io/gpu"], counted });
  const { reasons, remedy } = statusOf(scenario.core, scenario.nowMs).waits[0] ?? {};
  return { never: reasons?.find((reason) => reason.startsWith("waiting will not help")), remedy };
}

const worker = (instances: number, resource: Resource, change: Partial<RoleSpec> = {}) => ({
  ...role("worker", instances),
  resource,
  ...change,
});

describe("an ask that no waiting can meet", () => {
  test("is one for a container larger than every node, and the job says what would fit", () => {
    const nodes = [node("a", amount(4096)), node("b", amount(2048, gpus(2)))];
    expect(waitFor([worker(1, amount(4096, gpus(1)))], nodes)).toEqual({
      never:
        "waiting will not help unless nodes join: no node of the cluster is large enough for one container, whatever else runs there; they have 4 GiB, 8 cores; 2 GiB, 8 cores, 2 GPUs",
      remedy: "lower tony.worker.memory (job.xml:16)",
    });
  });

  test("says what every node has too little of, and three of the nodes' sizes at most", () => {
    const ask = { ...amount(8192, gpus(2)), vcores: 8 };
    const nodes = [4096, 3072, 2048, 1024].map((memoryMiB, at) => node(`n${at}`, amount(memoryMiB, gpus(at * 2))));
    expect(waitFor([worker(2, ask)], nodes)).toEqual({
      never:
        "waiting will not help unless nodes join: no node of the cluster is large enough for one container, whatever else runs there; they have 4 GiB, 8 cores; 3 GiB, 8 cores, 2 GPUs; 2 GiB, 8 cores, 4 GPUs",
      remedy: "lower tony.worker.memory (job.xml:16)",
    });
    const labelled = [node("a", amount(4096), ["gpu"])];
    expect(waitFor([worker(1, amount(8192), { nodeLabel: "gpu" })], labelled).never).toMatch(
      /^waiting will not help unless nodes join: no node of label gpu is large enough/,
    );
  });

  test("has no remedy in the job where it is for a task's only GPU, and the only task", () => {
    const nodes = [node("a", amount(8192, gpus(1)))];
    const one = { ...role("ps", 1), resource: amount(1024, gpus(1)) };
    expect(waitFor([worker(1, amount(1024, gpus(1))), one], nodes)).toEqual({
      never: "waiting will not help unless nodes join: the cluster has 1 GPU in all, the job asks for 2 GPUs",
      remedy: undefined,
    });
    expect(waitFor([worker(1, amount(5000)), { ...one, resource: amount(5000) }], nodes).remedy).toBe(
      "lower tony.worker.memory (job.xml:16)",
    );
    expect(waitFor([worker(2, amount(5000))], nodes).remedy).toBe(
      "lower tony.worker.instances or tony.worker.memory (job.xml:16)",
    );
  });

  test("names the key by which the job asks for GPUs, or the one for any resource where it names none", () => {
    const nodes = [node("a", amount(8192, gpus(1)))];
    const remedyWith = (sources: JobSpec["sources"]) =>
      waitFor([worker(1, amount(1024, gpus(2)))], nodes, "all", { sources }).remedy;
    expect(remedyWith({ "tony.worker.gpus": "job.xml:18" })).toBe("lower tony.worker.gpus (job.xml:18)");
    expect(remedyWith({})).toBe("lower tony.worker.resource.yarn.io/gpu");
  });

  test("is none for a job whose tasks need not run together, as long as each container fits somewhere", () => {
    const nodes = [node("a", amount(4096))];
    expect(waitFor([worker(5, amount(1024))], nodes, "all", { distributedMode: "fcfs" }).never).toBeUndefined();
  });

  test("is none where no node is known yet", () => {
    expect(waitFor([worker(1, amount(1024))], [])).toEqual({ never: undefined, remedy: undefined });
  });

  test("counts all of a node of which the queue's share is not known", () => {
    const half = { memoryMiB: 0.5, vcores: 0.5, others: {} };
    const nodes = [{ ...node("a", amount(8192), ["gpu"]), queueShare: half }, node("b", amount(8192), ["gpu"])];
    const gang = (instances: number) => [worker(instances, amount(1024), { nodeLabel: "gpu" })];
    expect(waitFor(gang(13), nodes).never).toBe(
      "waiting will not help unless the queue may have more: queue default may have at most 12 GiB of label gpu, the job asks for 13 GiB",
    );
    expect(waitFor(gang(12), nodes).never).toBeUndefined();
  });

  test("does not count an AM that two nodes claim to run, because one of them is mistaken", () => {
    const nodes = ["a", "b"].map((host) => ({ ...node(host, amount(4096)), master: amount(1024) }));
    expect(waitFor([worker(8, amount(1024))], nodes).never).toBeUndefined();
  });

  test("counts no role for other nodes, where it names a label", () => {
    const nodes = [node("a", amount(4096), ["gpu"]), node("b", amount(8192))];
    const ps = { ...role("ps", 4), resource: amount(1024) };
    expect(waitFor([worker(4, amount(1024), { nodeLabel: "gpu" }), ps], nodes).never).toBeUndefined();
  });

  test("names what limits how many containers fit on a node, and nothing else", () => {
    const ask = { ...amount(3072), vcores: 3 };
    const gpu = { nodeLabel: "gpu" };
    const [small, large] = [node("a", amount(5120), ["gpu"]), node("b", amount(16_384), ["gpu"])];
    expect(waitFor([worker(2, { ...ask, vcores: 2 }, gpu)], [small, node("c", amount(1024), ["gpu"])])).toEqual({
      never:
        "waiting will not help unless nodes join: the nodes of label gpu have room for 1 such container in all, the job asks for 2",
      remedy: "lower tony.worker.instances or tony.worker.memory (job.xml:16)",
    });
    expect(waitFor([worker(4, ask, gpu)], [small, large]).remedy).toBe(
      "lower tony.worker.instances or tony.worker.memory (job.xml:16) or tony.worker.vcores",
    );
  });

  test("does not count tasks that have ended", () => {
    const base = jobSpec([]);
    const failure = {
      ...base.failure,
      onWorkerFailure: "tolerate",
      budgets: { program: 0, infrastructure: 5 },
    } as const;
    const roles = [worker(5, amount(1024), { restartPolicy: "task", chief: "none" })];
    const scenario = new Scenario(jobSpec(roles, { failure }));
    scenario.toRunning();
    scenario.exits("worker:0");
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.completes(scenario.task("worker:2").containerId, -100);
    const reasonsOn = (memoryMiB: number) => {
      scenario.on({ type: "nodes-changed", nodes: [node("a", amount(memoryMiB))] });
      return statusOf(scenario.core, scenario.nowMs).waits[0]?.reasons;
    };
    expect(reasonsOn(3072)).toEqual(["YARN has given none of them yet on the 1 usable node of the cluster"]);
    expect(reasonsOn(2048)).toEqual([
      "waiting will not help unless nodes join: the cluster has 2 GiB in all, the job asks for 3 GiB",
    ]);
  });

  test("is one for a gang that wants more in all than the nodes of its label have", () => {
    const nodes = [node("a", amount(8192)), node("b", amount(8192, gpus(2)), ["gpu"])];
    expect(waitFor([worker(4, amount(1024, gpus(1)), { nodeLabel: "gpu" })], nodes)).toEqual({
      never: "waiting will not help unless nodes join: label gpu has 2 GPUs in all, the job asks for 4 GPUs",
      remedy: "lower tony.worker.instances",
    });
  });

  test("is one for a gang that wants more of any resource than its queue may ever have, with the AM's share counted", () => {
    const half = { memoryMiB: 0.5, vcores: 0.5, others: { "yarn.io/gpu": 0.5 } };
    const inQueue = (view: NodeView): NodeView => ({ ...view, queueShare: half });
    const nodes = [
      inQueue({ ...node("a", amount(8192, gpus(4))), master: amount(1024) }),
      inQueue(node("b", amount(8192))),
    ];
    expect(waitFor([worker(8, amount(1024))], nodes)).toEqual({
      never:
        "waiting will not help unless the queue may have more: queue default may have at most 8 GiB of the cluster, the job asks for 9 GiB, including 1 GiB for its AM",
      remedy: "lower tony.worker.instances or tony.worker.memory (job.xml:16)",
    });
    expect(waitFor([worker(7, amount(1024))], nodes).never).toBeUndefined();
    expect(waitFor([worker(3, amount(1024, gpus(1)))], nodes).never).toMatch(/at most 2 GPUs of .*asks for 3 GPUs$/);
  });

  test("is one for a gang that only nodes already taken out would have had room for; a node that is still being taken out may stay", () => {
    const leaving = (state: NonNullable<NodeView["state"]>) =>
      ({ ...node("b", amount(8192), [], false), state, decommissioning: { timeoutMs: 0 } }) as const;
    const gang = [worker(3, amount(4096))];
    expect(waitFor(gang, [node("a", amount(8192)), leaving("DECOMMISSIONED")]).never).toMatch(
      /the cluster has 8 GiB in all, the job asks for 12 GiB/,
    );
    expect(waitFor(gang, [node("a", amount(8192)), leaving("DECOMMISSIONING")]).never).toBeUndefined();
    expect(waitFor(gang, [leaving("DECOMMISSIONED")]).never).toBeUndefined();
  });

  test("is none where a third of the nodes, of which no whole number is a third, could still hold the gang", () => {
    const third = { memoryMiB: 5461 / 16384, vcores: 1 / 3, others: {} };
    const nodes = ["a", "b"].map((host) => ({ ...node(host, amount(8192)), queueShare: third }));
    expect(waitFor([worker(1, amount(5461))], nodes).never).toBeUndefined();
    expect(waitFor([worker(1, amount(5462))], nodes).never).toMatch(/queue default may have at most/);
  });

  test("is none for a gang with more cores than this machine has, because its own scheduler lets them share cores; they do not share GPUs", () => {
    const nodes = [node("here", amount(8192, gpus(1)))];
    expect(waitFor([worker(9, amount(512))], nodes, "all-but-cores").never).toBeUndefined();
    expect(waitFor([worker(2, amount(512, gpus(1)))], nodes, "all-but-cores").never).toMatch(
      /the cluster has 1 GPU in all, the job asks for 2 GPUs$/,
    );
  });

  test("adds up several roles", () => {
    const ps = { ...role("ps", 1), resource: amount(3072) };
    expect(waitFor([worker(2, amount(1024)), ps], [node("a", amount(4096))]).never).toMatch(
      /the cluster has 4 GiB in all, the job asks for 5 GiB$/,
    );
  });

  test("counts the AM's own container, which exists as long as the job", () => {
    const beside = [{ ...node("a", amount(4096)), master: amount(1024) }, node("b", amount(4096))];
    expect(waitFor([worker(8, amount(1024))], beside).never).toMatch(
      /has 8 GiB in all, the job asks for 9 GiB, including 1 GiB for its AM$/,
    );
    expect(waitFor([worker(2, amount(3500))], beside).never).toMatch(
      /room for 1 such container in all beside the job's AM \(1 GiB, 1 core\), the job asks for 2$/,
    );
    expect(waitFor([worker(2, amount(3072))], beside).never).toBeUndefined();
  });

  test("does not count a role that runs in the AM's own container", () => {
    const notebook = { ...role("notebook", 1), resource: amount(4096), inMaster: true as const };
    expect(waitFor([worker(1, amount(4096)), notebook], [node("a", amount(4096))]).never).toBeUndefined();
  });

  test("does not count roles of other stages, which run before or after", () => {
    const prep = { ...role("prep", 3), resource: amount(1024) };
    const after = worker(3, amount(1024), { dependsOn: ["prep"] });
    expect(waitFor([prep, after], [node("a", amount(4096))]).never).toBeUndefined();
  });

  test("is one for more containers than the nodes can be divided into", () => {
    const nodes = [node("a", amount(5120)), node("b", amount(5120))];
    const { never, remedy } = waitFor([worker(3, amount(3072))], nodes);
    expect(never).toMatch(/have room for 2 such containers in all, .* 3$/);
    expect(remedy).toBe("lower tony.worker.instances or tony.worker.memory (job.xml:16)");
  });

  test("is none while the end of another job would meet it, or a node that is down", () => {
    const roles = [worker(2, amount(4096))];
    expect(waitFor(roles, [node("a", amount(8192))]).never).toBeUndefined();
    expect(waitFor(roles, [node("a", amount(4096)), node("b", amount(4096), [], false)]).never).toBeUndefined();
  });

  test("does not count nodes that the ask's label, or its lack of one, excludes", () => {
    const roles = [worker(2, amount(4096))];
    const nodes = [node("a", amount(4096)), node("b", amount(8192), ["gpu"])];
    expect(waitFor(roles, nodes).never).toMatch(/the cluster has 4 GiB in all, the job asks for 8 GiB$/);
    expect(waitFor(roles, [node("b", amount(8192), ["gpu"])]).never).toMatch(/every node has a label and serves only/);
  });

  test("is none for cores where the scheduler counts only memory", () => {
    const many = [worker(4, { ...amount(1024), vcores: 8 })];
    const nodes = [node("a", amount(8192))];
    expect(waitFor(many, nodes).never).toMatch(/the cluster has 8 cores in all, the job asks for 32 cores$/);
    expect(waitFor(many, nodes, "memory").never).toBeUndefined();
    expect(waitFor([worker(9, amount(1024))], nodes, "memory").never).toMatch(/9 GiB$/);
  });

  test("is not claimed where a node's size is unknown", () => {
    expect(waitFor([worker(4, amount(4096))], [node("a", amount(1024)), node("b", undefined)]).never).toBeUndefined();
  });

  test("counts the size that YARN gives, which only the first container shows: YARN rounds asks up without saying how", () => {
    const roles = [worker(4, amount(3500)), { ...role("ps", 1), resource: amount(64) }];
    const scenario = new Scenario(jobSpec([...roles]));
    const nodes = [{ ...node("a", amount(8192)), master: amount(1024) }, node("b", amount(8192))];
    scenario.on({ type: "nodes-changed", nodes });
    scenario.register();
    const given = { nodeId: "a:1", host: "a", nodeHttpAddress: "a:8042", priority: 1, resource: amount(4096) };
    scenario.on({
      type: "containers-allocated",
      containers: [{ ...given, containerId: "container_1_0001_01_000002" }],
    });
    const { waits, roles: told } = statusOf(scenario.core, scenario.nowMs);
    expect(told.map(({ memoryMiB }) => memoryMiB)).toEqual([4096, 64]);
    expect(waits[0]?.reasons.join()).toMatch(
      /has 16 GiB in all, the job asks for 17\.06 GiB, including 1 GiB for its AM/,
    );
    // What is asked for again is what was asked for: another size would be another ask.
    const asks = scenario.effects.flatMap((effect) => (effect.type === "ask" ? effect.asks : []));
    expect(asks.filter(({ role: name }) => name === "worker").map(({ resource }) => resource.memoryMiB)).not.toContain(
      4096,
    );
  });
});
