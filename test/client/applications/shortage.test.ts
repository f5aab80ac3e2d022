import { describe, expect, test } from "@jest/globals";
import { type ClusterUse, withShortages } from "../../../client/applications/shortage.ts";
import type { ApplicationReport, NodeReport, Resource } from "../../../src/hadoop/yarn/records.ts";
import type { Setting } from "../../../src/job/reasons/facts.ts";
import type { DelayReason } from "../../../src/job/reasons/waits.ts";
import type { RoleStatus } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus } from "../job-status.ts";

const amount = (memoryMiB: number, vcores: number, gpus = 0): Resource => ({
  memoryMiB,
  vcores,
  others: gpus === 0 ? {} : { "yarn.io/gpu": gpus },
});

function node(host: string, all: Resource, used: Resource, label = ""): NodeReport {
  const nothing = { rack: "/r", httpAddress: "", containerCount: 0, healthReport: "", state: "RUNNING" } as const;
  return { ...nothing, nodeId: `${host}:1`, host, capability: all, used, labels: label === "" ? [] : [label] };
}

function running(id: string, used: Resource, change: Partial<ApplicationReport> = {}): ApplicationReport {
  const usage = { usedContainers: 1, used, needed: used, memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };
  return aReport({ id, state: "RUNNING", usage, ...change });
}

const settings = ["memory", "vcores", "gpus"].map((name) => ({ key: `tony.worker.${name}` }));
const notGiven: DelayReason = { code: "not-given", nodes: 2 };

/** What a wait for so many workers says beside such a cluster. */
function waitFor(
  ask: Resource & { readonly nodeLabel?: string },
  use: Partial<ClusterUse>,
  {
    missing = 1,
    delays = [notGiven],
    many = "tony.worker.instances",
    keys = [{ key: many }, ...settings],
  }: {
    readonly missing?: number;
    readonly delays?: readonly DelayReason[];
    readonly many?: string;
    readonly keys?: readonly Setting[];
  } = {},
) {
  const reason = { code: "containers", role: "worker", missing, instances: missing, ask: "", settings: keys } as const;
  const role: RoleStatus = {
    name: "worker",
    instances: missing,
    allocated: 0,
    registered: 0,
    running: 0,
    ended: 0,
    ...ask,
  };
  const other = { ...role, name: "ps", ...amount(1, 1) };
  const status = aJobStatus({ roles: [other, role], waits: [waitOf({ reason, delays, sinceMs: 0 })] });
  const { waits } = withShortages(status, { nodes: [], sharedLabels: ["gpu"], applications: [], ...use });
  return { reasons: waits[0]?.reasons, remedy: waits[0]?.remedy };
}

describe("what is short for containers that do not come", () => {
  test("is less where fewer run at once: tasks, or trials of a search", () => {
    const nodes = [node("a", amount(8192, 32), amount(6144, 2))];
    for (const many of ["tony.worker.instances", "tony.search.max-parallel"])
      expect(waitFor(amount(2048, 1), { nodes }, { missing: 3, many }).remedy).toBe(
        `lower ${many} or tony.worker.memory, or wait for other jobs to end`,
      );
    // Fewer of those of which none has room are of no use.
    const full = [node("a", amount(8192, 32), amount(7168, 2))];
    expect(waitFor(amount(2048, 1), { nodes: full }, { missing: 3 }).remedy).toBe(
      "lower tony.worker.memory, or wait for other jobs to end",
    );
  });

  test("is nothing where there is room for just as many as are missing, and no node where none runs", () => {
    const notGivenYet = ["YARN has given none of them yet on the 2 usable nodes of the cluster"];
    const nodes = [node("a", amount(8192, 32), amount(7168, 2))];
    expect(waitFor(amount(1024, 1), { nodes }).reasons).toEqual(notGivenYet);
    expect(waitFor(amount(1024, 1), { nodes: [] }).reasons).toEqual(notGivenYet);
    const noCores = [node("a", amount(8192, 32), amount(7168, 32))];
    expect(waitFor(amount(1024, 1), { nodes: noCores }).reasons?.[0]).toMatch(/may run them: too few cores; free: /);
  });

  test("is what no node has in all: then nobody holds it, and only less of it helps", () => {
    const nodes = [node("a", amount(8192, 8), amount(0, 0)), node("b", amount(4096, 8), amount(0, 0))];
    expect(waitFor({ ...amount(16_384, 1), nodeLabel: "" }, { nodes })).toEqual({
      reasons: [
        "the 2 nodes of the cluster that may run them: too little memory; free: a 8 GiB, 8 cores, b 4 GiB, 8 cores",
      ],
      remedy: "lower tony.worker.memory",
    });
  });

  test("is counted in the kinds that the scheduler counts, by the keys that the wait names: all where it names none", () => {
    const key = (name: string) => ({ key: `tony.worker.${name}` });
    const reasons = (free: Resource, keys: readonly Setting[]) => {
      const used = { memoryMiB: 8192 - free.memoryMiB, vcores: 8 - free.vcores, others: {} };
      return waitFor(amount(1024, 1), { nodes: [node("a", amount(8192, 8), used)] }, { keys }).reasons?.[0];
    };
    expect(reasons(amount(8192, 0), [key("memory")])).toMatch(/^YARN has given none of them yet/);
    expect(reasons(amount(0, 0), [key("memory")])).toMatch(/: too little memory; free: a 0 MiB$/);
    expect(reasons(amount(0, 0), [])).toMatch(/: too little memory and too few cores; free: a 0 MiB, 0 cores$/);
  });

  const two = [node("a", amount(8192, 32), amount(6144, 2)), node("b", amount(8192, 32, 2), amount(3072, 3, 2), "gpu")];

  test("is the GPU that another's job has, though memory and cores would do", () => {
    const bert = running("application_1_0003", amount(3072, 3, 2), { user: "bob" });
    expect(waitFor(amount(1024, 1, 1), { nodes: two, applications: [bert] })).toEqual({
      reasons: [
        "the 1 node of the cluster that may run them: too few GPUs; free: b 5 GiB, 29 cores, 0 GPUs",
        "GPUs in use: application_1_0003 (bert of bob in queue ml: 2 GPUs)",
      ],
      remedy: "wait for other jobs to end",
    });
  });

  test("is what the job has itself: then nobody is waited for", () => {
    const own = running(aJobStatus({}).applicationId, amount(3072, 3, 2));
    const { reasons, remedy } = waitFor(amount(1024, 1, 1), { nodes: two, applications: [own] });
    expect(reasons?.[1]).toBe("GPUs in use: this job (2 GPUs)");
    expect(remedy).toBeUndefined();
  });

  test("is had by applications that one may not see, as far as those that one sees do not account for it", () => {
    const hidden = running("application_1_0004", { memoryMiB: -1, vcores: -1, others: {} });
    expect(waitFor(amount(1024, 1, 1), { nodes: two, applications: [hidden] }).reasons?.[1]).toBe(
      "GPUs in use: applications that you may not see (2 GPUs)",
    );
  });

  test("is nothing by itself where no node has all of it at once", () => {
    const nodes = [node("a", amount(8192, 8), amount(0, 8)), node("b", amount(8192, 8), amount(8192, 0))];
    expect(waitFor(amount(1024, 2), { nodes })).toEqual({
      reasons: [
        "the 2 nodes of the cluster that may run them: no node has enough of everything at once; free: a 8 GiB, 0 cores, b 0 MiB, 8 cores",
      ],
      remedy: "lower tony.worker.memory or tony.worker.vcores",
    });
  });

  test("is what the nodes with GPUs lack: the room of those that could never run it does not count", () => {
    const nodes = [node("a", amount(8192, 32), amount(0, 0)), node("b", amount(8192, 32, 2), amount(8192, 4))];
    const spark = running("application_1_0005", amount(8192, 4));
    expect(waitFor(amount(1024, 1, 1), { nodes, applications: [spark] }).reasons).toEqual([
      "the 1 node of the cluster that may run them: too little memory; free: b 0 MiB, 28 cores, 2 GPUs",
      "memory in use: application_1_0005 (bert of ada in queue ml: 8 GiB)",
    ]);
  });

  test("is told of nodes the most roomy first, and of who holds most first, wherever in the cluster that is", () => {
    const nodes = [
      node("a", amount(8192, 8), amount(8192, 8)),
      node("b", amount(8192, 8), amount(4096, 2)),
      node("c", amount(8192, 8), amount(6144, 2)),
      node("d", amount(8192, 8), amount(1024, 1), "ssd"),
      node("e", amount(8192, 8), amount(0, 0), "ssd"),
    ];
    const applications = [
      running("application_1_0003", amount(2048, 1), { user: "bob", queue: "root.etl" }),
      running("application_1_0004", amount(9216, 4)),
    ];
    const { reasons } = waitFor(amount(2048, 1), { nodes, applications, sharedLabels: [] }, { missing: 4 });
    expect(reasons?.[0]).toMatch(/free: b 4 GiB, 6 cores, c 2 GiB, 6 cores, a 0 MiB, 0 cores$/);
    expect(reasons?.[1]).toMatch(
      /application_1_0004 \(bert of ada in queue ml: 9 GiB\).*application_1_0003 \(bert of bob in queue etl: 2 GiB\)/,
    );
    expect(reasons?.[1]).toMatch(
      /^memory on all nodes of the cluster in use: .*applications that you may not see \(8 GiB\)/,
    );
  });

  test("is told of nodes that have just what is asked for, and of their label", () => {
    const nodes = [
      node("a", amount(8192, 8), amount(1024, 0), "ssd"),
      node("b", amount(16_384, 8), amount(10_240, 0), "ssd"),
    ];
    expect(waitFor({ ...amount(8192, 1), nodeLabel: "ssd" }, { nodes }).reasons?.[0]).toBe(
      "the 2 nodes of label ssd that may run them: too little memory; free: a 7 GiB, 8 cores, b 6 GiB, 8 cores",
    );
  });

  test("is told beside what else is known of the job", () => {
    const keys = [{ key: "tony.worker.memory" }];
    const reason = { code: "containers", role: "worker", missing: 1, instances: 1, ask: "", settings: keys } as const;
    const role = {
      name: "worker",
      instances: 1,
      allocated: 0,
      registered: 0,
      running: 0,
      ended: 0,
      ...amount(1024, 1),
    };
    const gang = waitOf({ reason: { code: "gang", setting: { key: "tony.container.hold-timeout" } }, sinceMs: 0 });
    const waits = [waitOf({ reason, delays: [notGiven], sinceMs: 7, endsAtMs: 9 }), gang];
    const status = aJobStatus({ roles: [role], waits });
    const full = { nodes: [node("a", amount(8192, 8), amount(8192, 0))], sharedLabels: [], applications: [] };
    const explained = withShortages(status, full);
    expect({ ...explained, waits: [] }).toEqual({ ...status, waits: [] });
    expect(explained.waits[0]).toMatchObject({ sinceMs: 7, endsAtMs: 9, delays: [{ code: "nodes-short" }, {}] });
    expect(explained.waits[1]).toEqual(gang);
    expect(withShortages(aJobStatus({ roles: [], waits }), full).waits).toEqual(waits);
  });

  test("is not told of nodes that the label, or its lack, excludes", () => {
    const full = node("a", amount(8192, 8), amount(8192, 8));
    const exclusive = node("b", amount(8192, 8), amount(0, 0), "ssd");
    expect(waitFor(amount(1024, 1), { nodes: [full, exclusive] }).reasons?.[0]).toMatch(
      /^the 1 node of the cluster that may run them: too little memory and too few cores; free: a 0 MiB, 0 cores$/,
    );
    expect(waitFor({ ...amount(1024, 1), nodeLabel: "ssd" }, { nodes: [full, exclusive] }).reasons).toEqual([
      "YARN has given none of them yet on the 2 usable nodes of the cluster",
    ]);
  });

  test("is the queue's where the nodes have room", () => {
    const queueFull = {
      code: "queue-full",
      queue: "ml",
      left: "512 MiB, 8 cores",
      room: 0,
      short: ["memory"],
    } as const;
    const free = [node("a", amount(8192, 8), amount(0, 0))];
    expect(waitFor(amount(1024, 1), { nodes: free }, { delays: [queueFull] }).reasons).toEqual([
      "in queue ml 512 MiB, 8 cores are free for this job: too little memory",
    ]);
    const full = [node("a", amount(8192, 8), amount(8192, 0))];
    expect(waitFor(amount(1024, 1), { nodes: full }, { delays: [queueFull] }).reasons).toEqual([
      "the 1 node of the cluster that may run them: too little memory; free: a 0 MiB, 8 cores",
      "memory in use: applications that you may not see (8 GiB)",
    ]);
  });

  test("is the queue's as well where that lacks something else", () => {
    const short = ["memory", "cores"];
    const queueFull = { code: "queue-full", queue: "ml", left: "0 MiB, 0 cores", room: 0, short } as const;
    const full = [node("a", amount(8192, 8), amount(8192, 0))];
    expect(waitFor(amount(1024, 1), { nodes: full }, { delays: [queueFull] }).reasons).toEqual([
      "the 1 node of the cluster that may run them: too little memory; free: a 0 MiB, 8 cores",
      "memory in use: applications that you may not see (8 GiB)",
      "in queue ml 0 MiB, 0 cores are free for this job: too little memory and too few cores",
    ]);
  });

  test("leaves alone what no waiting meets, and is told in front of it", () => {
    const never = { code: "gang-too-large", has: "2 GPUs", asked: "4 GPUs" } as const;
    expect(waitFor(amount(1024, 1, 1), { nodes: two }, { delays: [notGiven, never] }).reasons).toEqual([
      expect.stringContaining("too few GPUs"),
      "GPUs in use: applications that you may not see (2 GPUs)",
      expect.stringMatching(/^waiting will not help unless nodes join/),
    ]);
    expect(waitFor(amount(1024, 1, 1), { nodes: two }, { delays: [never] }).reasons).toEqual([
      "waiting will not help unless nodes join: the cluster has 2 GPUs in all, the job asks for 4 GPUs",
    ]);
  });
});
