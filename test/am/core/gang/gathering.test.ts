import { describe, expect, test } from "@jest/globals";
import { statusOf } from "../../../../am/core/status/status.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, idleNode, Scenario, sentOf } from "../scenario.ts";

describe("a heterogeneous gang is gathered", () => {
  const spec = jobSpec([
    role("worker", 2, { resource: { memoryMiB: 3000, vcores: 2, others: { "yarn.io/gpu": 1 } }, nodeLabel: "gpu" }),
    role("ps", 1),
  ]);
  const resources = { resourceTypes: ["yarn.io/gpu"] };

  test("each role is asked for by a priority, resource and label of its own", () => {
    const asks = asksOf(new Scenario(spec).register(resources));
    expect(asks).toEqual([
      {
        role: "worker",
        priority: 1,
        resource: { memoryMiB: 3000, vcores: 2, others: { "yarn.io/gpu": 1 } },
        count: 2,
        nodeLabel: "gpu",
        hosts: [],
        racks: [],
      },
      { role: "ps", priority: 2, resource: spec.roles[1]?.resource, count: 1, hosts: [], racks: [] },
    ]);
  });

  test("a container is matched by its priority, however the scheduler rounded its resources", () => {
    const scenario = new Scenario(spec);
    scenario.register(resources);
    const rounded = scenario.container(2, { resource: { memoryMiB: 4096, vcores: 1, others: {} } });
    const effects = scenario.on({ type: "containers-allocated", containers: [rounded] });
    expect(effects).toContainEqual({
      type: "launch",
      launches: [{ containerId: "c1", task: "ps:0", generation: 1 }],
    });
    expect(asksOf(effects)).toEqual([]);
  });

  test("containers for which no task waits go back, and a repeated allocation changes nothing", () => {
    const scenario = new Scenario(spec);
    scenario.register(resources);
    const containers = [scenario.container(2), scenario.container(2)];
    const effects = scenario.on({ type: "containers-allocated", containers });
    expect(effects).toContainEqual({ type: "release", containerIds: ["c2"], reason: "no task needs it" });
    expect(scenario.on({ type: "containers-allocated", containers })).toEqual([]);
  });

  test("nothing starts before every task has registered; then one spec goes to all", () => {
    const scenario = new Scenario(spec);
    scenario.register(resources);
    scenario.allocateAll();
    expect(sentOf([...scenario.ready("worker:0"), ...scenario.ready("ps:0")], "start-child")).toEqual([]);
    const effects = scenario.ready("worker:1");
    expect(sentOf(effects, "start-child")).toEqual(["worker:0", "worker:1", "ps:0"]);
    const specs = effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "start-child" ? [effect.message.clusterSpec] : [],
    );
    expect(new Set(specs).size).toBe(1);
    expect(specs[0]?.tasks.map(({ task }) => task)).toEqual(["worker:0", "worker:1", "ps:0"]);
  });

  test("no program starts before the journal knows its generation", () => {
    const scenario = new Scenario(spec);
    scenario.journalWorks = false;
    scenario.register(resources);
    scenario.allocateAll();
    scenario.readyAll();
    expect(sentOf(scenario.effects, "start-child")).toEqual([]);
    scenario.journalWorks = true;
    expect(sentOf(scenario.after(2_000), "start-child")).toHaveLength(3);
  });

  test("a container that is lost before the start is replaced, and no generation ends", () => {
    const scenario = new Scenario(spec);
    scenario.register(resources);
    scenario.allocateAll();
    scenario.ready("worker:0");
    const asks = asksOf(scenario.completes(scenario.task("worker:1").containerId, -102));
    expect(asks).toMatchObject([{ role: "worker", count: 1 }]);
    expect(scenario.gang.generation).toBe(1);
    expect(scenario.task("worker:0").phase).toBe("registered");
  });

  test("a container that YARN first reports as over is asked for again", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.register();
    const given = scenario.container(1);
    scenario.completes(given.containerId, -100);
    const effects = scenario.on({ type: "containers-allocated", containers: [given] });
    expect(effects).toContainEqual(
      expect.objectContaining({ type: "ask", asks: [expect.objectContaining({ role: "worker", count: 1 })] }),
    );
    expect(scenario.on({ type: "containers-allocated", containers: [given] })).not.toContainEqual(
      expect.objectContaining({ type: "ask" }),
    );
  });

  test("a resource type the cluster does not know fails the job instead of being dropped", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    expect(scenario.core.state.outcome?.summary).toContain(
      "yarn.io/gpu, a resource type that the cluster does not know",
    );
  });

  test("after a restart of the ResourceManager everything outstanding is asked for again", () => {
    const scenario = new Scenario(spec);
    scenario.register(resources);
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    expect(asksOf(scenario.on({ type: "resource-manager-resynced" }))).toMatchObject([
      { role: "worker", count: 1 },
      { role: "ps", count: 1 },
    ]);
  });

  test("a gang that stays incomplete gives back what it holds and asks again after a pause", () => {
    const scenario = new Scenario(spec);
    scenario.register(resources);
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    const given = scenario.after(spec.timeouts.gangHoldMs);
    expect(given).toContainEqual({ type: "release", containerIds: ["c1"], reason: "the gang could not be completed" });
    expect(asksOf(given)).toMatchObject([
      { role: "worker", count: 0 },
      { role: "ps", count: 0 },
    ]);
    expect(asksOf(scenario.after(15_000))).toMatchObject([
      { role: "worker", count: 2 },
      { role: "ps", count: 1 },
    ]);
  });
});

describe("hosts are named where that lets a gang come in one heartbeat:", () => {
  const node = (host: string, memoryMiB: number, usable = true) => ({
    nodeId: `${host}:45454`,
    host,
    rack: "/default-rack",
    usable,
    labels: [],
    free: { memoryMiB, vcores: 16, others: {} },
  });

  test("where the scheduler counts only memory, hosts are named by their memory, however few cores they have left", () => {
    const scenario = new Scenario(jobSpec([role("worker", 4)]));
    const free = { memoryMiB: 8192, vcores: -3, others: {} };
    const node = { nodeId: "a:1", host: "a", rack: "/r", usable: true, labels: [], free };
    scenario.on({ type: "nodes-changed", nodes: [node] });
    scenario.register({ counted: "memory" });
    expect(scenario.effects).toContainEqual(
      expect.objectContaining({
        type: "ask",
        asks: [expect.objectContaining({ count: 4, hosts: [{ host: "a", count: 4 }] })],
      }),
    );
  });

  test("with more containers than nodes, the hosts that last had room are named, the full one is not, and * stands for all", () => {
    const scenario = new Scenario(jobSpec([role("worker", 5)]));
    scenario.on({ type: "nodes-changed", nodes: [node("idle", 8192), node("half", 2048), node("full", 100)] });
    expect(asksOf(scenario.register())).toMatchObject([
      {
        count: 5,
        hosts: [
          { host: "idle", count: 3 },
          { host: "half", count: 2 },
        ],
        racks: [{ rack: "/default-rack", count: 5 }],
      },
    ]);
  });

  test("a gang that did not fit into the room last known names the hosts that could hold it, because other containers may have ended since", () => {
    const total = { memoryMiB: 16_384, vcores: 16, others: {} };
    const busy = { ...node("busy", 2048), total };
    const full = { ...node("full", 0), total };
    const scenario = new Scenario(jobSpec([role("worker", 13)]));
    scenario.on({ type: "nodes-changed", nodes: [busy, full, node("small", 100)] });
    expect(asksOf(scenario.register())).toMatchObject([
      {
        count: 13,
        hosts: [
          { host: "busy", count: 7 },
          { host: "full", count: 7 },
        ],
      },
    ]);
  });

  test("with no more containers than nodes, no host is named", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a", 8192), node("b", 8192)] });
    expect(asksOf(scenario.register())).toMatchObject([{ count: 2, hosts: [], racks: [] }]);
  });

  test("after two node heartbeats without success, any place will do", () => {
    const scenario = new Scenario(jobSpec([role("worker", 3)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a", 8192)] });
    expect(asksOf(scenario.register())).toMatchObject([{ hosts: [{ host: "a", count: 3 }] }]);
    expect(asksOf(scenario.after(2_000))).toMatchObject([{ count: 3, hosts: [], racks: [] }]);
  });

  test("a number that was asked for twice is taken back when all containers are there, because some that nobody needs may be pending", () => {
    const scenario = new Scenario(jobSpec([role("worker", 3)]));
    scenario.on({ type: "nodes-changed", nodes: [node("a", 8192)] });
    scenario.register();
    scenario.after(2_000);
    expect(asksOf(scenario.allocateAll())).toEqual([expect.objectContaining({ count: 0, hosts: [], racks: [] })]);
    expect(asksOf(scenario.after(2_000))).toEqual([]);
  });

  test("pack names as few hosts as hold the role, and spread as many", () => {
    const nodes = [node("a", 2048), node("b", 8192), node("c", 8192)];
    const hostsOf = (placement: "pack" | "spread") => {
      const scenario = new Scenario(jobSpec([role("worker", 3, { placement })]));
      scenario.on({ type: "nodes-changed", nodes });
      return asksOf(scenario.register())[0]?.hosts;
    };
    expect(hostsOf("pack")).toEqual([{ host: "b", count: 3 }]);
    expect(hostsOf("spread")).toEqual([
      { host: "a", count: 1 },
      { host: "b", count: 1 },
      { host: "c", count: 1 },
    ]);
  });

  test("when spread has fewer hosts than tasks, only those hosts get tasks, in equal numbers", () => {
    const nodes = [node("a", 8192), node("b", 1024), node("c", 8192)];
    const countsOf = (workers: number) => {
      const scenario = new Scenario(jobSpec([role("worker", workers, { placement: "spread" })]));
      scenario.on({ type: "nodes-changed", nodes });
      return asksOf(scenario.register())[0]?.hosts.map(({ host, count }) => `${host} ${count}`);
    };
    expect(countsOf(4)).toEqual(["a 2", "b 1", "c 1"]);
    expect(countsOf(5)).toEqual(["a 2", "b 1", "c 2"]);
    expect(countsOf(2)).toEqual(["a 1", "b 1", "c 1"]);
  });

  test("hosts named to spread or pack are the only ones asked for, twice as long as those named for speed; then any place will do", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { placement: "spread" })]));
    scenario.on({ type: "nodes-changed", nodes: [node("a", 8192), node("b", 8192)] });
    expect(asksOf(scenario.register())).toMatchObject([{ count: 2, relaxLocality: false }]);
    expect(asksOf(scenario.after(2_000))).toEqual([]);
    const [ask] = asksOf(scenario.after(2_000));
    expect(ask).toMatchObject({ count: 2, hosts: [] });
    expect(ask).not.toHaveProperty("relaxLocality");
  });

  test("to replace a lost container, spread looks for a host without one, and pack for a host with one", () => {
    const hostsOf = (placement: "pack" | "spread") => {
      const scenario = new Scenario(jobSpec([role("worker", 2, { placement })]));
      scenario.on({ type: "nodes-changed", nodes: [node("a", 4096), node("b", 8192), node("c", 8192)] });
      scenario.register();
      const containers = [scenario.container(1, { host: "a" }), scenario.container(1, { host: "b" })];
      scenario.on({ type: "containers-allocated", containers });
      return asksOf(scenario.completes(scenario.task("worker:1").containerId, -101))[0]?.hosts;
    };
    expect(hostsOf("spread")).toEqual([
      { host: "b", count: 1 },
      { host: "c", count: 1 },
    ]);
    expect(hostsOf("pack")).toEqual([{ host: "a", count: 1 }]);
  });

  test("a node whose label is not exclusive is named only by roles that spread, because it comes late", () => {
    const nodes = [node("own", 8192), { ...node("gpu", 8192), labels: ["gpu"], nonExclusive: true } as const];
    const hostsOf = (given: Parameters<typeof role>[2]) => {
      const scenario = new Scenario(jobSpec([role("worker", 2, given)]));
      scenario.on({ type: "nodes-changed", nodes });
      return asksOf(scenario.register())[0]?.hosts;
    };
    expect(hostsOf({ placement: "spread" })).toEqual([
      { host: "own", count: 1 },
      { host: "gpu", count: 1 },
    ]);
    expect(hostsOf({ placement: "pack" })).toEqual([{ host: "own", count: 2 }]);
    expect(hostsOf({ placement: "pack", nodeLabel: "gpu" })).toEqual([{ host: "gpu", count: 2 }]);
  });
});

describe("a file that a node cannot fetch", () => {
  const missing =
    "[2026-11-22 04:05:41.120]File does not exist: hdfs://nn:8020/words.txt\njava.io.FileNotFoundException: File does not exist: hdfs://nn:8020/words.txt\n\tat org.apache.hadoop.hdfs.DistributedFileSystem$29.doCall(DistributedFileSystem.java:1835)\n";
  const failingOn = (...hosts: string[]) => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.register();
    for (const host of hosts) {
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host })] });
      scenario.completes(scenario.task("worker:0").containerId, -1000, missing);
    }
    return scenario.core;
  };

  test("is first blamed on that node, and another container is asked for", () => {
    expect(failingOn("a", "a").state).toMatchObject({ outcome: undefined, blame: { a: { failures: 2 } } });
  });

  test("ends its task as the report says, although the task had gone on to wait for another container", () => {
    const { tasks } = statusOf(failingOn("a", "b"), 1_000_000);
    expect(tasks).toMatchObject([
      { task: "worker:0", state: "lost", host: "b", exit: "-1000" },
      { task: "worker:1", state: "stopped" },
    ]);
  });

  test("is the job's error when a second node cannot fetch it either: the file is named", () => {
    expect(failingOn("a", "b").state).toMatchObject({
      outcome: {
        result: "failed",
        rule: "a failed on the same file before: the file is at fault, not the nodes",
        cause: {
          class: "program",
          summary: "worker:0 could not get its files on b: File does not exist: hdfs://nn:8020/words.txt",
        },
      },
      blame: { a: { failures: 1 } },
    });
  });
});

describe("a file for which HDFS no longer accepts the job's token", () => {
  test("is not blamed on the node: the job names what would have lasted", () => {
    const why = "token (token for ada: HDFS_DELEGATION_TOKEN owner=ada) can't be found in cache";
    const base = jobSpec([role("worker", 1)]);
    const scenario = new Scenario({
      ...base,
      failure: { ...base.failure, budgets: { program: 0, infrastructure: 5 } },
    });
    scenario.register();
    scenario.allocateAll();
    scenario.completes("c1", -1000, `[2026-11-22 04:05:41.120]${why}\n`);
    expect(scenario.core.state).toMatchObject({
      outcome: { result: "failed", cause: { class: "program", lines: [why], fix: { code: "outlive-tokens" } } },
      blame: {},
    });
  });
});

describe("a file that the launch script may not read", () => {
  const denied = "Last 4096 bytes of prelaunch.err :\nfind: ‘./venv/bin/python’: Permission denied\n";
  const venv = { source: "/home/ada/envs/torch", name: "venv", as: "archive" } as const;
  const base = jobSpec([role("worker", 1)]);

  function lost(diagnostics: string): Scenario {
    const failure = { ...base.failure, budgets: { program: 0, infrastructure: 5 } };
    const scenario = new Scenario({ ...base, failure, files: [venv] });
    scenario.register();
    scenario.allocateAll();
    scenario.completes("c1", 1, diagnostics);
    return scenario;
  }

  test("is the job's error, not its node's: the job names the file and its archive, and how to pack it", () => {
    const scenario = lost(denied);
    expect(scenario.core.state.outcome?.cause).toMatchObject({
      class: "program",
      summary:
        "worker:0 could not be launched on n1: the node's user may not read venv/bin/python of /home/ada/envs/torch, or what it links to",
      remedy: expect.stringContaining("python3 -m venv --copies"),
    });
    expect(scenario.task("worker:0").machineFailures).toBe(0);
  });

  test("does not explain the end of an executor that had begun", () => {
    const scenario = lost(`${denied}Last 4096 bytes of stderr :\ntony-ts: the executor could not begin\n`);
    expect(scenario.core.state.outcome).toBeUndefined();
    expect(scenario.used).toMatchObject({ program: 0 });
  });
});

describe("a launch that fails", () => {
  const nodes = ["a", "b", "c"].map(idleNode);
  const failingLaunches = (nodeAtFault: boolean, ...hosts: string[]) => {
    const scenario = new Scenario(jobSpec([role("worker", 4)]));
    scenario.on({ type: "nodes-changed", nodes });
    scenario.register();
    for (const host of hosts) {
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host })] });
      const { containerId } = scenario.task("worker:0");
      scenario.on({ type: "launch-failed", containerId, message: "InvalidToken", nodeAtFault });
    }
    return scenario.core.state;
  };

  test("by the node's fault counts against the node", () => {
    expect(failingLaunches(true, "a", "a").blame).toMatchObject({ a: { failures: 2, excluded: true } });
  });

  test("through a fault of what we asked for blames no node, and ends the job when it goes on", () => {
    expect(failingLaunches(false, "a", "a")).toMatchObject({ outcome: undefined, blame: {} });
    expect(failingLaunches(false, "a", "b", "c").outcome).toMatchObject({
      result: "failed",
      cause: { summary: "worker:0 on c could not be launched: InvalidToken" },
      rule: "worker:0 could not be launched 3 times in a row, which ends the job: tony.failure.blame.job",
    });
  });
});
