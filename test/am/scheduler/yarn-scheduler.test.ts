import { afterEach, describe, expect, test } from "@jest/globals";
import type { SchedulerEvent } from "../../../am/scheduler/scheduler.ts";
import { NodeTable } from "../../../am/scheduler/yarn/node-table.ts";
import { ResourceManagerSilence } from "../../../am/scheduler/yarn/silence.ts";
import {
  type NodeManagers,
  type ResourceManagerClient,
  YarnScheduler,
} from "../../../am/scheduler/yarn/yarn-scheduler.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import { RpcConnectionError } from "../../../src/hadoop/rpc/errors.ts";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import type {
  Allocation,
  HeartbeatOutcome,
  MasterRegistration,
  NodeToken,
  ResourceRequest,
} from "../../../src/hadoop/yarn/allocation.ts";
import type { Container } from "../../../src/hadoop/yarn/records.ts";
import { endedBecause } from "../../../src/job/outcome.ts";
import { Inbox } from "../../support/inbox.ts";
import { silentLog } from "../../support/silent-log.ts";
import { SteppedClock, turn } from "../../support/stepped-clock.ts";

const small = { memoryMiB: 512, vcores: 1, others: {} };
const nothing: Allocation = {
  allocated: [],
  completed: [],
  rejected: [],
  updatedNodes: [],
  available: small,
  clusterNodeCount: 1,
  nodeTokens: [],
  containersFromPreviousAttempts: [],
};

function aContainer(number: number, changes: Partial<Container> = {}): Container {
  return {
    id: `container_1_0001_01_00000${number}`,
    nodeId: "node-1:4000",
    nodeHttpAddress: "node-1:8042",
    resource: small,
    priority: 1,
    allocationRequestId: -1,
    version: 0,
    executionType: "GUARANTEED",
    ...changes,
  };
}

/** What opens a node. */
function tokenOf(nodeId: string): NodeToken {
  return {
    nodeId,
    token: { identifier: Buffer.from(nodeId), password: Buffer.from("p"), kind: "NMToken", service: "" },
  };
}

/** A ResourceManager that answers each heartbeat as the test says. */
class ScriptedManager implements ResourceManagerClient {
  readonly heartbeats = new Inbox<(outcome: HeartbeatOutcome | Error) => void>();
  readonly rows: ResourceRequest[] = [];
  readonly released: string[] = [];
  registrations = 0;
  kept = [aContainer(9)];
  nodeTokens = [tokenOf("node-1:4000")];
  answered = true;
  clientKey: Uint8Array | undefined;
  finished: unknown;
  shown: readonly [number, string | undefined] | undefined;
  endTaken = true;
  #abandon: (() => void) | undefined;

  readonly addresses: MasterRegistration[] = [];
  async register(address: MasterRegistration) {
    this.addresses.push(address);
    this.registrations += 1;
    return {
      answered: this.answered,
      maximum: small,
      counted: "memory" as const,
      queue: "default",
      resourceTypes: [{ name: "memory-mb", units: "Mi" }],
      containersFromPreviousAttempts: this.kept,
      nodeTokens: this.nodeTokens,
      ...(this.clientKey && { clientToAmMasterKey: this.clientKey }),
    };
  }
  ask(rows: readonly ResourceRequest[]): void {
    if (rows.some(({ capability }) => "no/such" in capability.others)) {
      throw new HadoopError("no/such is not a resource type of this cluster", { code: "UNKNOWN_RESOURCE_TYPE" });
    }
    this.rows.push(...rows);
  }
  askConstrained(): void {}
  release(ids: readonly string[]): void {
    this.released.push(...ids);
  }
  readonly avoided: unknown[] = [];
  blacklist(change: unknown): void {
    this.avoided.push(change);
  }
  heartbeat(...shown: [number, string | undefined]): Promise<HeartbeatOutcome> {
    this.shown = shown;
    return new Promise((resolve, reject) => {
      this.#abandon = () => reject(new Error("closed"));
      this.heartbeats.put((outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
    });
  }
  async finish(request: unknown): Promise<boolean> {
    this.finished = request;
    return this.endTaken;
  }
  close(): void {
    this.#abandon?.();
  }
  async answer(changes: Partial<Allocation> = {}): Promise<void> {
    const answer = await this.heartbeats.next();
    answer({ kind: "allocation", allocation: { ...nothing, ...changes } });
    await turn();
  }
}

class ScriptedNodes implements NodeManagers {
  readonly calls: string[] = [];
  startFails: unknown;
  stopFails: unknown;
  readonly opened: string[] = [];

  addTokens(tokens: readonly NodeToken[]): void {
    this.opened.push(...tokens.map(({ nodeId }) => nodeId));
  }
  async start(nodeId: string, starts: readonly { readonly container: Container }[]) {
    this.calls.push(`start ${starts.length} on ${nodeId}`);
    if (this.startFails !== undefined) throw this.startFails;
    return { succeeded: starts.map(({ container }) => container.id), failed: [] };
  }
  async stop(nodeId: string, ids: readonly string[]): Promise<void> {
    this.calls.push(`stop ${ids.join(" ")} on ${nodeId}`);
    if (this.stopFails !== undefined) throw this.stopFails;
  }
  close(): void {}
}

describe("the YARN scheduler", () => {
  let disposals: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const dispose of disposals) await dispose();
    disposals = [];
  });

  async function setUp({ answered = true, ...more }: { answered?: boolean; endedUrl?: string } = {}) {
    const clock = new SteppedClock();
    const manager = new ScriptedManager();
    manager.answered = answered;
    const nodeManagers = new ScriptedNodes();
    const events: SchedulerEvent[] = [];
    const nodes = new NodeTable({ nodes: [], sharedLabels: [] }, { host: "", resource: small });
    const silence = new ResourceManagerSilence({ endpoints: [], clock, log: silentLog });
    const parts = { manager, nodeManagers, nodes, silence, clock, log: silentLog };
    const scheduler = new YarnScheduler({ ...parts, attempt: 2, ...more });
    const address = { host: "node-1", port: 1, trackingUrl: "http://node-1:2/" };
    const registration = await scheduler.start(address, (event) => events.push(event));
    disposals.push(() => scheduler.close());
    const types = () => events.map(({ type }) => type);
    return { clock, manager, nodeManagers, events, types, scheduler, registration };
  }

  const ask = { role: "worker", priority: 1, resource: small, count: 2, hosts: [], racks: [] };
  const command = (containerId: string) => ({
    containerId,
    environment: {},
    commands: ["true"],
    files: [],
    credentials: new Uint8Array(0),
  });

  test("registering tells what the cluster knows, and which containers an earlier attempt left", async () => {
    const { events, registration } = await setUp();
    expect(events).toContainEqual({
      type: "am-registered",
      counted: "memory",
      attempt: 2,
      resourceTypes: ["memory-mb"],
    });
    expect(registration.keptContainers).toEqual([
      expect.objectContaining({ containerId: "container_1_0001_01_000009", host: "node-1", priority: 1 }),
    ]);
  });

  test("an exception that nobody knows the meaning of ends the attempt after some minutes, so that the next one can do better", async () => {
    const { clock, manager, types } = await setUp();
    const refuse = async () => {
      (await manager.heartbeats.next())(new RemoteError("org.example.Strange", "no"));
      await turn();
    };
    await refuse();
    await clock.pass(299_000);
    await refuse();
    await clock.pass(1_000);
    expect(types()).not.toContain("resource-manager-shutdown");
    await refuse();
    expect(types()).toContain("resource-manager-shutdown");
  });

  test("such an exception now and then ends nothing, as long as there are answers in between", async () => {
    const { clock, manager, types } = await setUp();
    for (let times = 1; times <= 5; times += 1) {
      (await manager.heartbeats.next())(new RemoteError("org.example.Strange", "no"));
      await turn();
      await clock.pass(100_000);
      await manager.answer();
      await clock.pass(1_000);
    }
    expect(types()).not.toContain("resource-manager-shutdown");
  });

  test("a node's token that was lost with the registration's answer ends the attempt: the next one is told it", async () => {
    const { manager, nodeManagers, scheduler, types } = await setUp({ answered: false });
    nodeManagers.startFails = new HadoopError("no token", { code: "NODE_TOKEN_MISSING" });
    await manager.answer({ allocated: [aContainer(2)] });
    scheduler.launch([command("container_1_0001_01_000002")]);
    await turn();
    expect(types()).toContain("resource-manager-shutdown");
  });

  test("a node's token that is missing although the registration was answered is a launch that failed", async () => {
    const { manager, nodeManagers, scheduler, types } = await setUp();
    nodeManagers.startFails = new HadoopError("no token", { code: "NODE_TOKEN_MISSING" });
    await manager.answer({ allocated: [aContainer(2)] });
    scheduler.launch([command("container_1_0001_01_000002")]);
    await turn();
    expect(types().at(-1)).toBe("launch-failed");
    expect(types()).not.toContain("resource-manager-shutdown");
  });

  test("a container that this attempt was not told of is not launched, and the others are", async () => {
    const { manager, nodeManagers, scheduler, events } = await setUp();
    await manager.answer({ allocated: [aContainer(2)] });
    scheduler.launch([command("container_1_0001_01_000007"), command("container_1_0001_01_000002")]);
    await turn();
    expect(nodeManagers.calls).toEqual(["start 1 on node-1:4000"]);
    expect(events.slice(-2)).toMatchObject([
      { type: "launch-failed", containerId: "container_1_0001_01_000007", nodeAtFault: false },
      { type: "launch-succeeded", containerId: "container_1_0001_01_000002" },
    ]);
  });

  test("a ResourceManager that is away, however long, ends nothing", async () => {
    const { clock, manager, types } = await setUp();
    const lost = new RpcConnectionError("gone", { code: "RPC_CONNECTION_LOST" });
    for (const _ of [1, 2]) {
      (await manager.heartbeats.next())(lost);
      await turn();
      await clock.pass(3_600_000);
    }
    expect(types()).not.toContain("resource-manager-shutdown");
  });

  test("a ResourceManager that is away is waited for, until it answers", async () => {
    const { clock, manager, scheduler } = await setUp();
    const lost = new RpcConnectionError("gone", { code: "RPC_CONNECTION_LOST" });
    for (const _ of [1, 2]) {
      (await manager.heartbeats.next())(lost);
      await turn();
      await clock.pass(1_000);
    }
    expect(scheduler.waits).toMatchObject([{ cause: "the ResourceManager's answer", sinceMs: clock.nowMs() - 2_000 }]);
    await manager.answer();
    expect(scheduler.waits).toEqual([]);
  });

  test("a heartbeat that was not answered is repeated before anything new is asked for", async () => {
    const { clock, manager, scheduler } = await setUp();
    const lost = new RpcConnectionError("gone", { code: "RPC_CONNECTION_LOST" });
    (await manager.heartbeats.next())(lost);
    await turn();
    scheduler.ask([ask]);
    await clock.pass(0);
    expect(manager.rows).toEqual([]);
    await manager.answer();
    await clock.pass(0);
    expect(manager.rows).toEqual([expect.objectContaining({ resourceName: "*", count: 2 })]);
  });

  test("one that is not answered as the job ends is not waited for", async () => {
    const { manager, scheduler } = await setUp();
    const finished = scheduler.finish({
      ...endedBecause("killed", { code: "stop-requested", words: "by alice" }),
      endedAtMs: 0,
    });
    (await manager.heartbeats.next())(new RpcConnectionError("gone", { code: "RPC_CONNECTION_LOST" }));
    await finished;
    expect(scheduler.waits).toEqual([]);
  });

  test("what is left for the job is told when it has changed, not with each heartbeat", async () => {
    const { clock, manager, events } = await setUp();
    const left = { ...small, memoryMiB: 256 };
    for (const available of [small, small, left, left]) {
      await manager.answer({ available });
      await clock.pass(1_000);
    }
    expect(events.flatMap((event) => (event.type === "headroom-changed" ? [event.available] : []))).toEqual([
      small,
      left,
    ]);
  });

  test("of the hosts that are kept off YARN is told which are new, and which may be used again", async () => {
    const { manager, scheduler } = await setUp();
    scheduler.blacklist(["n1"]);
    scheduler.blacklist(["n1", "n2"]);
    scheduler.blacklist(["n2"]);
    expect(manager.avoided).toEqual([
      { add: ["n1"], remove: [] },
      { add: ["n2"], remove: [] },
      { add: [], remove: ["n1"] },
    ]);
  });

  test("an ask is told at once, in a heartbeat that begins after it", async () => {
    const { clock, manager, scheduler } = await setUp();
    await manager.answer();
    scheduler.ask([ask]);
    await clock.pass(0);

    expect(manager.heartbeats.rest).toHaveLength(1);
    expect(manager.rows).toEqual([expect.objectContaining({ resourceName: "*", count: 2 })]);
  });

  test("heartbeats are quick while containers are awaited, and slow down when all have come", async () => {
    const { clock, manager, scheduler } = await setUp();
    scheduler.ask([ask]);
    await manager.answer();
    await manager.answer();
    await clock.pass(250);
    expect(manager.heartbeats.rest).toHaveLength(1);

    await manager.answer({ allocated: [aContainer(2), aContainer(3)] });
    await clock.pass(900);
    expect(manager.heartbeats.rest).toHaveLength(0);
    await clock.pass(200);
    expect(manager.heartbeats.rest).toHaveLength(1);
  });

  test("ends are told before what was given, and both forms of a preemption notice", async () => {
    const { manager, events, types } = await setUp();
    const before = types().length;
    await manager.answer({
      allocated: [aContainer(2)],
      completed: [{ containerId: aContainer(9).id, state: "COMPLETE", exitStatus: -102, diagnostics: "preempted" }],
      preemption: { strict: ["c1"], negotiable: { containers: ["c2"], resources: [] } },
    });

    expect(types().slice(before)).toEqual([
      "headroom-changed",
      "container-completed",
      "preemption-notice",
      "preemption-notice",
      "containers-allocated",
    ]);
    expect(events).toContainEqual({ type: "preemption-notice", containerIds: ["c1"], strict: true });
    expect(events).toContainEqual({ type: "preemption-notice", containerIds: ["c2"], strict: false });
  });

  test("containers of one node are started in one call", async () => {
    const { manager, nodeManagers, scheduler, types } = await setUp();
    const elsewhere = aContainer(4, { nodeId: "node-2:4000" });
    await manager.answer({ allocated: [aContainer(2), aContainer(3), elsewhere] });
    scheduler.launch([aContainer(2), aContainer(3), elsewhere].map(({ id }) => command(id)));
    await turn();

    expect(nodeManagers.calls).toEqual(["start 2 on node-1:4000", "start 1 on node-2:4000"]);
    expect(types().filter((type) => type === "launch-succeeded")).toHaveLength(3);
  });

  test.each([
    ["a node that cannot be reached is at fault", new HadoopError("refused", { code: "RPC_CONNECT_FAILED" }), true],
    [
      "a token that has expired is not the node's fault",
      new RemoteError("org.apache.hadoop.yarn.exceptions.YarnException", "Unauthorized request to start container. "),
      false,
    ],
    [
      "nor is a container that a ResourceManager gave before it failed over",
      new RemoteError(
        "org.apache.hadoop.yarn.exceptions.InvalidContainerException",
        "Container container_1_0001_01_000002 rejected as it is allocated by a previous RM",
      ),
      false,
    ],
    [
      "nor a node's token of an earlier attempt",
      new RemoteError(
        "org.apache.hadoop.yarn.exceptions.YarnException",
        "Unauthorized request to start container. \nNMToken for application attempt : appattempt_1_0001_000001 was used for starting container with container token issued for application attempt : appattempt_1_0001_000002",
      ),
      false,
    ],
    [
      "nor a token that the NodeManager does not know",
      new RemoteError("org.apache.hadoop.security.token.SecretManager$InvalidToken", "Invalid container token"),
      false,
    ],
    [
      "nor that the NodeManager has not reached the ResourceManager yet",
      new RemoteError(
        "org.apache.hadoop.yarn.exceptions.NMNotYetReadyException",
        "Rejecting new containers as NodeManager has not yet connected with ResourceManager",
      ),
      false,
    ],
    [
      "nor what this job may not do",
      new RemoteError("org.apache.hadoop.security.AccessControlException", "alice may not"),
      false,
    ],
    [
      "nor a service that the NodeManager does not have",
      new RemoteError(
        "org.apache.hadoop.yarn.exceptions.InvalidAuxServiceException",
        "The auxService:x does not exist",
      ),
      false,
    ],
    ["nor a login that it refuses", new HadoopError("refused", { code: "RPC_AUTHENTICATION" }), false],
  ])("a launch fails: %s", async (_case, error, nodeAtFault) => {
    const { manager, nodeManagers, scheduler, events } = await setUp();
    await manager.answer({ allocated: [aContainer(2)] });
    nodeManagers.startFails = error;
    scheduler.launch([command(aContainer(2).id)]);
    await turn();

    expect(events).toContainEqual(expect.objectContaining({ type: "launch-failed", nodeAtFault }));
  });

  test("a container whose node does not answer is given back to the ResourceManager instead of stopped", async () => {
    const { manager, nodeManagers, scheduler } = await setUp();
    nodeManagers.stopFails = new HadoopError("refused", { code: "RPC_CONNECT_FAILED" });
    scheduler.stop(aContainer(9).id);
    await turn();

    expect(manager.released).toEqual([aContainer(9).id]);
  });

  describe("a container of an earlier attempt whose NodeManager has not come back to the ResourceManager yet", () => {
    const late = aContainer(8, { nodeId: "node-2:4000" });

    test("is released, which YARN does as soon as it knows it again", async () => {
      const { manager, nodeManagers, scheduler } = await setUp();
      scheduler.stop(late.id);
      await turn();

      expect(manager.released).toEqual([late.id]);
      expect(nodeManagers.calls).toEqual([]);
    });

    test("is stopped at its node once YARN has told of it", async () => {
      const { manager, nodeManagers, scheduler } = await setUp();
      await manager.answer({ containersFromPreviousAttempts: [late] });
      scheduler.stop(late.id);
      await turn();

      expect(nodeManagers.calls).toEqual([`stop ${late.id} on node-2:4000`]);
      expect(manager.released).toEqual([]);
    });

    test("is told as recovered late, before it is told that it has ended", async () => {
      const { events, manager, types } = await setUp();
      const before = types().length;
      const ended = { containerId: late.id, state: "COMPLETE", exitStatus: 0, diagnostics: "" } as const;
      await manager.answer({ containersFromPreviousAttempts: [late], completed: [ended] });

      expect(types().slice(before)).toEqual(["containers-recovered-late", "headroom-changed", "container-completed"]);
      expect(events).toContainEqual({
        type: "containers-recovered-late",
        containers: [expect.objectContaining({ containerId: late.id, host: "node-2", priority: 1 })],
      });
    });
  });

  test("a container that has ended is neither stopped nor released, nor believed to live when YARN names it late", async () => {
    const { clock, manager, nodeManagers, scheduler, types } = await setUp();
    await manager.answer({
      completed: [{ containerId: aContainer(9).id, state: "COMPLETE", exitStatus: 0, diagnostics: "" }],
    });
    scheduler.stop(aContainer(9).id);
    await clock.pass(1_000);
    await manager.answer({ containersFromPreviousAttempts: [aContainer(9)] });
    await turn();
    expect(types()).not.toContain("containers-recovered-late");

    expect([...nodeManagers.calls, ...manager.released]).toEqual([]);
  });

  test("the ResourceManager is told where this attempt is reached, and where its page is", async () => {
    const { manager } = await setUp();
    expect(manager.addresses).toEqual([{ host: "node-1", rpcPort: 1, trackingUrl: "http://node-1:2/" }]);
  });

  test("a ResourceManager that has forgotten us is told again who we are", async () => {
    const { manager, types } = await setUp();
    const answer = await manager.heartbeats.next();
    answer({ kind: "resync", reason: "restarted" });
    await turn();

    expect(manager.registrations).toBe(2);
    expect(types()).toContain("resource-manager-resynced");
  });

  test("the key of its clients' tokens is in the first answer to a registration that comes, and stays as it is", async () => {
    const { clock, manager, scheduler } = await setUp();
    expect(scheduler.clientTokenKey).toBeUndefined();
    for (const key of ["the key", "another"]) {
      manager.clientKey = Buffer.from(key);
      (await manager.heartbeats.next())({ kind: "resync", reason: "restarted" });
      await turn();
      await clock.pass(1_000);
      expect(scheduler.clientTokenKey).toEqual(Buffer.from("the key"));
    }
  });

  test("what one that has forgotten us knows of earlier attempts, and has not told before, is told", async () => {
    const { manager, events } = await setUp();
    const late = aContainer(8, { nodeId: "node-2:4000" });
    manager.kept = [aContainer(9), late];
    (await manager.heartbeats.next())({ kind: "resync", reason: "restarted" });
    await turn();

    const told = events.flatMap((event) => (event.type === "containers-recovered-late" ? event.containers : []));
    expect(told.map(({ containerId }) => containerId)).toEqual([late.id]);
  });

  test("nodes are opened by the tokens that come with each registration and with heartbeats", async () => {
    const { clock, manager, nodeManagers } = await setUp();
    expect(nodeManagers.opened).toEqual(["node-1:4000"]);
    await manager.answer({ nodeTokens: [tokenOf("node-2:4000")] });
    expect(nodeManagers.opened.slice(1)).toEqual(["node-2:4000"]);
    await clock.pass(1_000);
    manager.nodeTokens = [tokenOf("node-3:4000")];
    (await manager.heartbeats.next())({ kind: "resync", reason: "restarted" });
    await turn();
    expect(nodeManagers.opened.slice(2)).toEqual(["node-3:4000"]);
  });

  test("when another attempt has taken over, no heartbeat follows", async () => {
    const { clock, manager, types } = await setUp();
    const answer = await manager.heartbeats.next();
    answer({ kind: "shutdown", reason: "attempt 3" });
    await clock.pass(10_000);

    expect(types()).toContain("resource-manager-shutdown");
    expect(manager.heartbeats.rest).toHaveLength(0);
  });

  test.each([true, false])("after the job's end was told, whoever took it says who is in charge: %s", async (taken) => {
    const { manager, scheduler } = await setUp();
    manager.endTaken = taken;
    const finished = scheduler.finish({
      ...endedBecause("succeeded", { code: "tasks-ended", succeeded: 1, tasks: 1, onlyTracked: false }),
      endedAtMs: 0,
    });
    const meanwhile = scheduler.confirm();
    await manager.answer();

    expect(await finished).toBe(taken);
    expect(await meanwhile).toBe(taken);
    expect(await scheduler.confirm()).toBe(taken);
  });

  test("being in charge is confirmed by a heartbeat that began after the question, and by none before", async () => {
    const { clock, manager, scheduler } = await setUp();
    let confirmed: boolean | undefined;
    const asked = scheduler.confirm().then((current) => {
      confirmed = current;
    });
    await manager.answer();
    expect(confirmed).toBeUndefined();

    await clock.pass(0);
    await manager.answer();
    await asked;
    expect(confirmed).toBe(true);
  });

  test("the question stays open while the ResourceManager is away, and is answered by its word", async () => {
    const { clock, manager, scheduler } = await setUp();
    await manager.answer();
    const confirmed = scheduler.confirm();
    await clock.pass(0);
    (await manager.heartbeats.next())(new HadoopError("away", { code: "RPC_TIMEOUT", retryable: true }));
    await turn();
    await clock.pass(1_000);
    (await manager.heartbeats.next())({ kind: "shutdown", reason: "attempt 3" });

    expect(await confirmed).toBe(false);
  });

  test("a question that no heartbeat answers any more is answered by what becomes of the outcome", async () => {
    const { manager, scheduler } = await setUp();
    const confirmed = scheduler.confirm();
    const outcome = { ...endedBecause("killed", { code: "stop-requested", words: "by alice" }), endedAtMs: 0 };
    const finished = scheduler.finish(outcome);
    await manager.answer();
    await finished;
    expect(await confirmed).toBe(true);
    expect(await scheduler.confirm()).toBe(true);
  });

  test("what the ResourceManager refuses is told, and so is a resource type that it does not know", async () => {
    const { manager, scheduler, events } = await setUp();
    await manager.answer();
    scheduler.ask([{ ...ask, resource: { ...small, others: { "no/such": 1 } } }]);
    await turn();
    expect(events).toContainEqual({ type: "ask-refused", message: expect.stringContaining("no/such") });

    const refusal = "org.apache.hadoop.yarn.exceptions.InvalidLabelResourceRequestException";
    (await manager.heartbeats.next())(new RemoteError(refusal, "Invalid label resource request"));
    await turn();
    expect(events).toContainEqual({ type: "ask-refused", message: expect.stringContaining("Invalid label") });
  });

  test("of several asks the one that is too large is found, and the others are told all the same", async () => {
    const { clock, manager, scheduler, events } = await setUp();
    await manager.answer();
    scheduler.ask([ask, { ...ask, role: "large", priority: 7 }]);
    const refusal = "org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException";
    const refuse = async () => {
      await clock.pass(0);
      (await manager.heartbeats.next())(
        new RemoteError(refusal, "maximum allowed allocation=<memory:1024, vCores:1>, please note"),
      );
      await turn();
    };
    await refuse();
    expect(events.filter(({ type }) => type === "ask-too-large")).toEqual([]);
    await clock.pass(0);
    await manager.answer();
    await refuse();
    expect(events).toContainEqual({
      type: "ask-too-large",
      role: "large",
      message: expect.stringContaining("maximum allowed allocation"),
      allowed: { memoryMiB: 1024, vcores: 1, others: {} },
    });
    expect(manager.rows.map(({ priority }) => priority)).toEqual([ask.priority, 7, ask.priority, 7]);
  });

  test("what YARN finds no place for is told", async () => {
    const { clock, manager, scheduler, events } = await setUp();
    await manager.answer();
    const constraint = { kind: "tags", scope: "node", min: 0, max: 0, tags: [{ tag: "w" }] } as const;
    scheduler.ask([{ ...ask, constrained: { tags: ["w"], constraint } }]);
    await clock.pass(0);
    await manager.answer({ rejected: [{ priority: ask.priority, count: 2, reason: "could not place" }] });
    expect(events).toContainEqual({ type: "ask-unplaced", role: ask.role, count: 2 });
  });

  test("each heartbeat says how far the job is, and where its page is", async () => {
    const { clock, manager, scheduler } = await setUp();
    await manager.answer();
    expect(manager.shown).toEqual([0, undefined]);
    scheduler.show(0.5, "http://node-2:6006");
    await clock.pass(1_000);
    expect(manager.shown).toEqual([0.5, "http://node-2:6006"]);
    await manager.answer();
  });

  test("the outcome is told when no heartbeat is under way any more", async () => {
    const { manager, scheduler } = await setUp();
    const finished = scheduler.finish({
      ...endedBecause("killed", { code: "stop-requested", words: "by alice" }),
      endedAtMs: 0,
    });
    expect(manager.finished).toBeUndefined();
    await manager.answer();
    await finished;

    expect(manager.finished).toEqual({ status: "KILLED", diagnostics: "by alice", trackingUrl: "" });
  });

  test("with the outcome it is told where the job is shown from now on", async () => {
    const endedUrl = "https://portal/jobs/application_1_0001/";
    const { manager, scheduler } = await setUp({ endedUrl });
    await manager.answer();
    await scheduler.finish({ ...endedBecause("killed", { code: "stop-requested", words: "by alice" }), endedAtMs: 0 });

    expect(manager.finished).toMatchObject({ trackingUrl: endedUrl });
  });
});
