import { afterAll, describe, expect, test } from "@jest/globals";
import { isRemoteError } from "../../src/hadoop/rpc/remote-error.ts";
import { noRetry } from "../../src/hadoop/rpc/retry.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import type { Token } from "../../src/hadoop/security/token.ts";
import { NodeManagerPool } from "../../src/hadoop/yarn/node-manager.ts";
import { type Container, ContainerExitStatus, type Resource } from "../../src/hadoop/yarn/records.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { SchedulerClient } from "../../src/hadoop/yarn/scheduler.ts";
import { ClusterUser, controlDaemon, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import {
  applicationIn,
  endpointsOf,
  heartbeatUntil,
  nothingGathered,
  resourceManagerOf,
  shell,
  smallest,
  unmanagedApplication,
} from "../support/yarn.ts";

const master = { host: "test-host", rpcPort: 45_678, trackingUrl: "http://127.0.0.1:1/ui" };
const withGpu: Resource = { memoryMiB: 128, vcores: 1, others: { "yarn.io/gpu": 1 } };
const cpuPriority = 1;
const gpuPriority = 2;

const cluster = await testCluster();
const client = resourceManagerOf(cluster);
afterAll(() => client.close());

function schedulerWith(token: Token): SchedulerClient {
  return new SchedulerClient({ endpoints: endpointsOf(cluster.endpoints.schedulerRpc), token });
}

/**
 * Between the moment when its scheduler has forgotten an attempt and the one when its ApplicationMasterService has, the ResourceManager
 * answers a heartbeat with a NullPointerException.
 */
function whileItIsTakenOut(error: unknown): undefined {
  if (isRemoteError(error, "REMOTE_EXCEPTION") && error.javaClass.endsWith(".NullPointerException")) return undefined;
  throw error;
}

/** Rows for containers anywhere, told apart by priority and request id. */
function anywhere(priority: number, count: number, capability: Resource, nodeLabelExpression?: string) {
  return {
    priority,
    resourceName: "*",
    capability,
    count,
    allocationRequestId: priority * 10,
    ...(nodeLabelExpression === undefined ? {} : { nodeLabelExpression }),
  };
}

test("a master registers, gets containers by priority, starts, inspects and stops them, and finishes", async () => {
  const { id, token } = await unmanagedApplication(client, { queue: "ml" });
  const scheduler = schedulerWith(token);
  const nodes = new NodeManagerPool();
  try {
    const registered = await scheduler.register(master);
    expect(registered.queue).toMatch(/(^|\.)ml$/);
    expect(registered.resourceTypes).toContainEqual({ name: "yarn.io/gpu", units: "" });
    // The ResourceManager answers a registration before its own record of the application has changed.
    const running = await eventually("the application to run", async () => {
      const report = await client.report(id);
      return report.state === "RUNNING" && report;
    });
    expect(running).toMatchObject({ amHost: "test-host", amRpcPort: 45_678 });
    expect(() => scheduler.ask([anywhere(1, 1, { ...smallest, others: { "yarn.io/tpu": 1 } })])).toThrow(
      /yarn.io\/tpu/,
    );

    scheduler.ask([anywhere(cpuPriority, 2, smallest), anywhere(gpuPriority, 1, withGpu, "gpu")]);
    const gathered = await heartbeatUntil(
      scheduler,
      nothingGathered(),
      "three containers",
      (all) => all.allocated.length >= 3,
    );
    expect(scheduler.outstanding).toEqual([]);
    const onGpu = gathered.allocated.filter(({ priority }) => priority === gpuPriority);
    expect(onGpu.map(({ resource, allocationRequestId }) => ({ resource, allocationRequestId }))).toEqual([
      { resource: withGpu, allocationRequestId: gpuPriority * 10 },
    ]);
    const gpuNodes = (await client.nodes()).filter(({ labels }) => labels.includes("gpu"));
    expect(gpuNodes.map(({ nodeId }) => nodeId)).toContain(onGpu[0]?.nodeId);

    nodes.addTokens(gathered.nodeTokens);
    const cpu = gathered.allocated.filter(({ priority }) => priority === cpuPriority);
    const commands = new Map(
      gathered.allocated.map((container, index) => [container.id, index === 0 ? "exit 7" : "exec sleep 300"]),
    );
    for (const [node, containers] of byNode(gathered.allocated)) {
      const starts = containers.map((container) => ({ container, launch: shell(commands.get(container.id) ?? "") }));
      // Asking twice is harmless; a NodeManager answers in the order of a set.
      for (const _time of [1, 2]) {
        const { succeeded, failed } = await nodes.start(node, starts);
        expect([...succeeded].sort()).toEqual(starts.map(({ container }) => container.id).sort());
        expect(failed).toEqual([]);
      }
    }
    expect(cpu.length).toBe(2);

    const [first] = gathered.allocated;
    const rest = gathered.allocated.slice(1);
    if (first === undefined) throw new Error("no container");
    await heartbeatUntil(scheduler, gathered, "the first to exit", (all) => all.completed.length >= 1);
    expect(gathered.completed).toMatchObject([{ containerId: first.id, state: "COMPLETE", exitStatus: 7 }]);

    for (const [node, containers] of byNode(rest)) {
      const ids = containers.map(({ id: containerId }) => containerId);
      expect((await nodes.stop(node, ids)).succeeded).toEqual(ids);
    }
    await heartbeatUntil(scheduler, gathered, "the rest to end", (all) => all.completed.length >= 3);
    const stopped = gathered.completed.filter(({ containerId }) => containerId !== first.id);
    for (const { exitStatus } of stopped) {
      expect([ContainerExitStatus.killedByApplicationMaster, 143, 137]).toContain(exitStatus);
    }

    await scheduler.finish({ status: "SUCCEEDED", diagnostics: "all well", trackingUrl: master.trackingUrl });
    expect(await applicationIn(client, id, "FINISHED")).toMatchObject({
      finalStatus: "SUCCEEDED",
      diagnostics: "all well",
    });
  } finally {
    nodes.close();
    scheduler.close();
    await client.kill(id);
  }
});

test("a container that was released is told as ended", async () => {
  const { id, token } = await unmanagedApplication(client);
  const scheduler = schedulerWith(token);
  try {
    await scheduler.register(master);
    scheduler.ask([anywhere(cpuPriority, 1, smallest)]);
    const gathered = await heartbeatUntil(
      scheduler,
      nothingGathered(),
      "a container",
      (all) => all.allocated.length >= 1,
    );
    const [released] = gathered.allocated;
    if (released === undefined) throw new Error("no container");
    scheduler.release([released.id]);
    await heartbeatUntil(scheduler, gathered, "its end", (all) => all.completed.length >= 1);
    expect(gathered.completed).toMatchObject([{ containerId: released.id, exitStatus: ContainerExitStatus.aborted }]);
  } finally {
    scheduler.close();
    await client.kill(id);
  }
});

describe("who may speak for an application", () => {
  test("a wrong token is refused, and the reason is the server's own", async () => {
    const { id, token } = await unmanagedApplication(client);
    const forged = { ...token, password: token.password.map((byte) => byte ^ 1) };
    const impostor = new SchedulerClient({ endpoints: endpointsOf(cluster.endpoints.schedulerRpc), token: forged });
    await expect(impostor.register(master)).rejects.toMatchObject({ name: "RemoteError", retryable: false });
    impostor.close();
    await client.kill(id);
  });

  test("a heartbeat before registration asks for registration; one after the end is told to stop", async () => {
    const { id, token } = await unmanagedApplication(client);
    const scheduler = schedulerWith(token);
    expect(await scheduler.heartbeat(0)).toMatchObject({ kind: "resync" });
    await scheduler.register(master);
    expect(await scheduler.register(master)).toMatchObject({ answered: false });
    await client.kill(id);
    const outcome = await eventually("the order to stop", async () => {
      const answer = await scheduler.heartbeat(0).catch(whileItIsTakenOut);
      return answer?.kind === "shutdown" ? answer : undefined;
    });
    expect(outcome.reason).not.toBe("");
    scheduler.close();
  });

  test("a user name alone does not open the scheduler's port", async () => {
    const intruder = new ResourceManagerClient({
      endpoints: endpointsOf(cluster.endpoints.schedulerRpc),
      credentials: simpleCredentials({ name: ClusterUser.alice }),
      retry: noRetry,
    });
    await expect(intruder.metrics()).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    intruder.close();
  });
});

test("after a restart of the ResourceManager the master registers again and what it wanted still comes", async () => {
  const { id, token } = await unmanagedApplication(client);
  const scheduler = schedulerWith(token);
  try {
    await scheduler.register(master);
    await scheduler.heartbeat(0);
    await controlDaemon(cluster, "kill", "resourcemanager");
    scheduler.ask([anywhere(cpuPriority, 1, smallest)]);
    const [outcome] = await Promise.all([scheduler.heartbeat(0), controlDaemon(cluster, "start", "resourcemanager")]);
    expect(outcome.kind).toBe("resync");
    const registered = await scheduler.register(master);
    expect(registered.queue).toMatch(/default$/);
    const gathered = await heartbeatUntil(
      scheduler,
      nothingGathered(),
      "the container",
      (all) => all.allocated.length >= 1,
    );
    expect(gathered.allocated[0]?.id).toMatch(/^container_e\d\d_/);
    await scheduler.finish({ status: "SUCCEEDED", diagnostics: "", trackingUrl: "" });
  } finally {
    scheduler.close();
    await client.kill(id);
    // Whoever comes next finds all nodes there.
    await eventually("the nodes to be back", async () => {
      return (await client.metrics()).activeNodeManagers === cluster.nodes.length;
    });
  }
});

function byNode(containers: readonly Container[]): ReadonlyMap<string, readonly Container[]> {
  const nodes = new Set(containers.map(({ nodeId }) => nodeId));
  return new Map([...nodes].map((node) => [node, containers.filter(({ nodeId }) => nodeId === node)]));
}
