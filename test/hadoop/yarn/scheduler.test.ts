import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { noRetry } from "../../../src/hadoop/rpc/retry.ts";
import type { Token } from "../../../src/hadoop/security/token.ts";
import { type hadoop, yarn } from "../../../src/hadoop/wire/yarn.ts";
import { containerIdToWire } from "../../../src/hadoop/yarn/convert-ids.ts";
import { SchedulerClient, type SchedulerOptions } from "../../../src/hadoop/yarn/scheduler.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { type ReceivedCall, RpcTestServer } from "../../support/rpc-server.ts";
import { type Answer, scripted } from "../../support/scripted-service.ts";

type AllocateResponse = hadoop.yarn.AllocateResponseProto.$Properties;

const exceptions = "org.apache.hadoop.yarn.exceptions";
const first: Token = { identifier: Buffer.of(1), password: Buffer.of(2), kind: "YARN_AM_RM_TOKEN", service: "" };
const second: Token = { ...first, identifier: Buffer.of(3), password: Buffer.of(4) };
const master = { host: "h", rpcPort: 1, trackingUrl: "" };
const capability = { memoryMiB: 512, vcores: 1, others: {} };
const gpus = { ...capability, others: { "yarn.io/gpu": 1 } };
const wanted = { priority: 1, resourceName: "*", capability, count: 2 };

let server: RpcTestServer;
let client: SchedulerClient;
/** The token that the server takes from the next connection. */
let accepted: Token;
let heartbeats: hadoop.yarn.AllocateRequestProto[];
let registrations: number;
let registered: hadoop.yarn.RegisterApplicationMasterRequestProto | undefined;
let ends: hadoop.yarn.FinishApplicationMasterRequestProto[];
/** Answers to heartbeats and finishes, used up in order; then each heartbeat is answered with the next response id. */
let script: Answer[];
/** The same for registrations, before they succeed. */
let registrationScript: Answer[];

beforeEach(async () => {
  [accepted, heartbeats, registrations, script, registrationScript] = [first, [], 0, [], []];
  [registered, ends] = [undefined, []];
  server = await RpcTestServer.start(scripted(() => accepted, answer));
  client = clientWith({});
});

afterEach(async () => {
  client.close();
  await server.stop();
});

function clientWith(changes: Partial<SchedulerOptions>): SchedulerClient {
  const retry = { giveUpAfterMs: 60_000, firstDelayMs: 10, longestDelayMs: 10 };
  return new SchedulerClient({
    endpoints: [server.endpoint],
    token: first,
    clock: new ManualClock(),
    retry,
    ...changes,
  });
}

function answer({ method, request }: ReceivedCall): Answer {
  if (method === "registerApplicationMaster") {
    registrations += 1;
    registered = yarn.RegisterApplicationMasterRequestProto.decode(request);
    const [next] = registrationScript.splice(0, 1);
    if (next !== undefined) return next;
    const answered = { queue: "root.default", resource_types: [{ name: "yarn.io/gpu", units: "" }] };
    return { bytes: yarn.RegisterApplicationMasterResponseProto.encode(answered).finish() };
  }
  if (method === "finishApplicationMaster") {
    ends.push(yarn.FinishApplicationMasterRequestProto.decode(request));
    return script.shift() ?? finished(true);
  }
  const heartbeat = yarn.AllocateRequestProto.decode(request);
  heartbeats.push(heartbeat);
  return script.shift() ?? allocated({ response_id: heartbeat.response_id + 1 });
}

const allocated = (response: AllocateResponse): Answer => ({
  bytes: yarn.AllocateResponseProto.encode(response).finish(),
});
const finished = (isUnregistered: boolean): Answer => ({
  bytes: yarn.FinishApplicationMasterResponseProto.encode({ isUnregistered }).finish(),
});
const told = () =>
  heartbeats.map(({ response_id, ask }) => [response_id, ask.map(({ num_containers }) => num_containers)]);

test("a ResourceManager that tells no resource types leaves those that are known", async () => {
  const resourceTypes = [{ name: "yarn.io/gpu", units: "" }];
  client = clientWith({ resourceTypes });
  const silent = { queue: "root.default" };
  registrationScript = [{ bytes: yarn.RegisterApplicationMasterResponseProto.encode(silent).finish() }];
  expect(await client.register(master)).toMatchObject({ answered: true, resourceTypes });
  expect(() => client.ask([{ ...wanted, capability: { ...capability, others: { "yarn.io/gpu": 1 } } }])).not.toThrow();
});

test("an attempt registers with where it is, and its types are known before and by the answer", async () => {
  expect(() => client.ask([{ ...wanted, capability: gpus }])).toThrow("no resource type");
  const early = clientWith({ resourceTypes: [{ name: "yarn.io/gpu", units: "" }] });
  expect(() => early.ask([{ ...wanted, capability: gpus }])).not.toThrow();
  early.close();
  const resourceTypes = [{ name: "yarn.io/gpu", units: "" }];
  expect((await client.register({ host: "n1", rpcPort: 7, trackingUrl: "http://n1:8/" })).resourceTypes).toEqual(
    resourceTypes,
  );
  expect(registered).toMatchObject({ host: "n1", rpc_port: 7, tracking_url: "http://n1:8/" });
  expect(() => client.ask([{ ...wanted, capability: gpus }])).not.toThrow();
  expect(() => client.askConstrained([{ priority: 1, capability: gpus, count: 1, tags: [] }])).not.toThrow();
});

describe("the end of an attempt", () => {
  const end = { status: "FAILED", diagnostics: "why", trackingUrl: "http://history/" } as const;

  test("is told in full, and again after a pause until it is recorded", async () => {
    const clock = new ManualClock();
    client.close();
    client = clientWith({ clock });
    await client.register(master);
    script = [finished(false), finished(false)];
    expect(await client.finish(end)).toBe(true);
    expect(clock.sleepsMs).toEqual([100, 100]);
    expect(ends).toHaveLength(3);
    expect(ends[2]).toMatchObject({
      diagnostics: "why",
      tracking_url: "http://history/",
      final_application_status: yarn.FinalApplicationStatusProto.APP_FAILED,
    });
  });

  test("has come before where another attempt has begun", async () => {
    script = [{ exception: `${exceptions}.ApplicationAttemptNotFoundException` }];
    await client.register(master);
    expect(await client.finish(end)).toBe(false);
  });

  test.each([
    ["refused for another reason", "InvalidApplicationMasterRequestException"],
    ["of one that never registered", "ApplicationMasterNotRegisteredException"],
  ])("%s is an error", async (_what, name) => {
    script = [{ exception: `${exceptions}.${name}`, message: "no" }];
    await expect(client.finish(end)).rejects.toMatchObject({ name: "RemoteError", javaMessage: "no" });
    expect(registrations).toBe(0);
  });
});

describe("heartbeats", () => {
  test("settle what they bring", async () => {
    await client.register(master);
    client.ask([wanted]);
    client.release(["container_1_0001_01_000005"]);
    const container = {
      id: containerIdToWire("container_1_0001_01_000002"),
      nodeId: { host: "n1", port: 1 },
      priority: { priority: wanted.priority },
      resource: { memory: capability.memoryMiB, virtual_cores: capability.vcores },
      allocation_request_id: -1,
    };
    const ended = { container_id: containerIdToWire("container_1_0001_01_000005") };
    script = [
      allocated({ response_id: 1, allocated_containers: [container], completed_container_statuses: [ended] }),
      { exception: `${exceptions}.ApplicationMasterNotRegisteredException`, message: "register first" },
    ];
    await client.heartbeat(0);
    expect(client.outstanding.map(({ count }) => count)).toEqual([1]);
    expect(await client.heartbeat(0)).toEqual({ kind: "resync", reason: "register first" });
    await client.register(master);
    await client.heartbeat(0);
    expect(told().at(-1)).toEqual([0, [1]]);
    expect(heartbeats.at(-1)?.release).toEqual([]);
  });

  test("tell each host that is bad, and that is good again", async () => {
    await client.register(master);
    client.blacklist({ add: ["a"], remove: ["b"] });
    await client.heartbeat(0);
    expect(heartbeats[0]?.blacklist_request).toMatchObject({ blacklist_additions: ["a"], blacklist_removals: ["b"] });
  });

  test("count their answers, and tell each change once", async () => {
    await client.register(master);
    client.ask([wanted]);
    await client.heartbeat(0);
    await client.heartbeat(0.25, "http://node-2:6006");
    expect(told()).toEqual([
      [0, [2]],
      [1, []],
    ]);
    expect(heartbeats[1]).toMatchObject({ progress: 0.25, tracking_url: "http://node-2:6006" });
    expect(heartbeats[0]).not.toHaveProperty("tracking_url", expect.stringMatching(/./));
  });

  test("one whose answer is lost goes again with the same id and the same words", async () => {
    script = ["hang up"];
    await client.register(master);
    client.ask([wanted]);
    expect(await client.heartbeat(0)).toMatchObject({ kind: "allocation" });
    expect(told()).toEqual([
      [0, [2]],
      [0, [2]],
    ]);
  });

  test("one that was given up is repeated first by the next; what changed meanwhile waits", async () => {
    client.close();
    client = clientWith({ retry: noRetry });
    script = ["hang up"];
    await client.register(master);
    client.ask([wanted]);
    await expect(client.heartbeat(0)).rejects.toMatchObject({ code: "RPC_CONNECTION_LOST" });
    client.ask([{ ...wanted, count: 5 }]);
    await client.heartbeat(0);
    await client.heartbeat(0);
    expect(told()).toEqual([
      [0, [2]],
      [0, [2]],
      [1, [5]],
    ]);
  });

  test("what the ResourceManager has rejected is not asked for again when it has forgotten us", async () => {
    await client.register(master);
    client.askConstrained([{ priority: 3, capability, count: 2, tags: ["w"] }]);
    const request = { priority: { priority: 3 }, resourceSizing: { numAllocations: 2 } };
    const reason = yarn.RejectionReasonProto.RRP_COULD_NOT_PLACE_ON_NODE;
    script = [allocated({ response_id: 1, rejected_scheduling_requests: [{ request, reason }] })];
    await client.heartbeat(0);
    await client.register(master);
    await client.heartbeat(0);
    expect(heartbeats.map(({ scheduling_requests }) => scheduling_requests.length)).toEqual([1, 0]);
  });

  test("one that is refused for what it asks is not repeated; what it gave back is told again", async () => {
    script = [{ exception: `${exceptions}.InvalidResourceRequestException`, message: "too large" }];
    await client.register(master);
    client.ask([wanted]);
    client.release(["container_1_0001_01_000002"]);
    await expect(client.heartbeat(0)).rejects.toMatchObject({ code: "INVALID_RESOURCE_REQUEST" });
    await client.heartbeat(0);

    expect(told()).toEqual([
      [0, [2]],
      [0, []],
    ]);
    expect(heartbeats[1]?.release).toHaveLength(1);
    expect(client.outstanding).toEqual([]);
  });

  test("do not overlap", async () => {
    await client.register(master);
    const running = client.heartbeat(0);
    await expect(client.heartbeat(0)).rejects.toMatchObject({ code: "HEARTBEAT_UNDER_WAY" });
    await running;
    await client.heartbeat(0);
  });

  test("ask for no resource type that the cluster lacks", async () => {
    await client.register(master);
    const tpu = { ...wanted, capability: { ...capability, others: { "yarn.io/tpu": 1 } } };
    const unknown = expect.objectContaining({ code: "RESOURCE_TYPE_UNKNOWN" });
    expect(() => client.ask([wanted, tpu])).toThrow(unknown);
    expect(() => client.askConstrained([{ ...tpu, tags: ["w"] }])).toThrow(unknown);
    await client.heartbeat(0);
    expect(heartbeats.at(-1)?.scheduling_requests).toEqual([]);
    expect(client.outstanding).toEqual([]);
  });
});

describe("an answer that is lost", () => {
  const registeredAlready: Answer = {
    exception: `${exceptions}.InvalidApplicationMasterRequestException`,
    message: "Application Master is already registered : application_1_0001",
  };
  const outOfStep = (expected: number, got: number): Answer => ({
    exception: `${exceptions}.InvalidApplicationMasterRequestException`,
    message: `Invalid responseId in AllocateRequest from application attempt: appattempt_1_0001_000001, expect responseId to be ${expected}, but get ${got}`,
  });

  test("to a registration: the attempt is registered, and heartbeats count from 0", async () => {
    registrationScript = ["hang up", registeredAlready];
    client = clientWith({ resourceTypes: [{ name: "yarn.io/gpu", units: "" }] });
    expect(await client.register(master)).toEqual({
      answered: false,
      queue: "",
      resourceTypes: [{ name: "yarn.io/gpu", units: "" }],
      counted: "memory",
      containersFromPreviousAttempts: [],
      nodeTokens: [],
    });
    client.ask([{ ...wanted, capability: { ...capability, others: { "yarn.io/gpu": 1 } } }]);
    expect(await client.heartbeat(0)).toMatchObject({ kind: "allocation" });
    expect(told()).toEqual([[0, [2]]]);
  });

  test("to a second registration: what the first one said still stands", async () => {
    const { maximum, counted, resourceTypes } = await client.register(master);
    client.ask([wanted]);
    await client.heartbeat(0);
    registrationScript = ["hang up", registeredAlready];
    expect(await client.register(master)).toMatchObject({ answered: false, maximum, counted, resourceTypes });
    await client.heartbeat(0);
    expect(told().at(-1)).toEqual([0, [2]]);
  });

  test("any other refusal of a registration is one", async () => {
    registrationScript = [{ exception: `${exceptions}.InvalidApplicationMasterRequestException`, message: "no" }];
    await expect(client.register(master)).rejects.toMatchObject({ code: "INVALID_MASTER_REQUEST" });
  });

  test("to heartbeats: the ResourceManager's number is taken, its last answer heard again, and everything outstanding told", async () => {
    await client.register(master);
    client.ask([wanted]);
    script = [outOfStep(7, 0), allocated({ response_id: 7, num_cluster_nodes: 3 })];
    expect(await client.heartbeat(0)).toMatchObject({ kind: "allocation", allocation: { clusterNodeCount: 3 } });
    await client.heartbeat(0);
    expect(told()).toEqual([
      [0, [2]],
      [6, []],
      [7, [2]],
    ]);
  });

  test("where the ResourceManager begins at 0, there is none to hear again", async () => {
    await client.register(master);
    await client.heartbeat(0);
    client.ask([wanted]);
    script = [outOfStep(0, 1)];
    await client.heartbeat(0);
    expect(told().slice(1)).toEqual([
      [1, [2]],
      [0, [2]],
    ]);
  });

  test("to the end: a ResourceManager that knows the attempt no more has taken it", async () => {
    await client.register(master);
    script = [
      "hang up",
      {
        exception: `${exceptions}.InvalidApplicationMasterRequestException`,
        message: "Application doesn't exist in cache appattempt_1_0001_000001",
      },
    ];
    expect(await client.finish({ status: "SUCCEEDED", diagnostics: "", trackingUrl: "" })).toBe(false);
    expect(script).toEqual([]);
  });
});

describe("a ResourceManager that has forgotten us", () => {
  test.each<[string, Answer]>([
    [
      "by an exception",
      { exception: `${exceptions}.ApplicationMasterNotRegisteredException`, message: "register first" },
    ],
    ["by an order", allocated({ a_m_command: yarn.AMCommandProto.AM_RESYNC })],
  ])("%s: after registration everything is told again, from 0", async (_, forgotten) => {
    await client.register(master);
    client.ask([wanted]);
    client.blacklist({ add: ["bad"] });
    await client.heartbeat(0);
    script = [forgotten];
    expect(await client.heartbeat(0)).toMatchObject({ kind: "resync" });
    await client.register(master);
    await client.heartbeat(0);
    expect(told().at(-1)).toEqual([0, [2]]);
    expect(heartbeats.at(-1)?.blacklist_request?.blacklist_additions).toEqual(["bad"]);
  });

  test("while finishing: registers again and finishes", async () => {
    await client.register(master);
    script = [{ exception: `${exceptions}.ApplicationMasterNotRegisteredException` }, finished(false), finished(true)];
    expect(await client.finish({ status: "SUCCEEDED", diagnostics: "", trackingUrl: "" })).toBe(true);
    expect(registrations).toBe(2);
    expect(script).toEqual([]);
  });
});

describe("an attempt whose time is over", () => {
  test.each<[string, Answer]>([
    ["another attempt has begun", { exception: `${exceptions}.ApplicationAttemptNotFoundException`, message: "gone" }],
    ["its application has ended", { exception: `${exceptions}.ApplicationNotFoundException`, message: "gone" }],
    ["its token is no longer taken", { exception: "org.apache.hadoop.security.token.SecretManager$InvalidToken" }],
    ["it is ordered to stop", allocated({ a_m_command: yarn.AMCommandProto.AM_SHUTDOWN })],
  ])("%s", async (_, over) => {
    await client.register(master);
    script = [over];
    expect(await client.heartbeat(0)).toMatchObject({ kind: "shutdown", reason: expect.stringMatching(/./) });
  });
});

test("the token a renewed one is used for the next connection, and the open one lives on", async () => {
  await client.register(master);
  script = [allocated({ response_id: 1, am_rm_token: { ...second } })];
  await client.heartbeat(0);
  expect(client.token).toEqual({ ...second, identifier: Uint8Array.of(3), password: Uint8Array.of(4) });
  await client.heartbeat(0);
  expect(server.connections).toHaveLength(1);
  accepted = second;
  script = ["hang up"];
  expect(await client.heartbeat(0)).toMatchObject({ kind: "allocation" });
  expect(server.connections).toHaveLength(2);
});
