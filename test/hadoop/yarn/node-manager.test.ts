import { afterEach, describe, expect, test } from "@jest/globals";
import { noRetry } from "../../../src/hadoop/rpc/retry.ts";
import type { Token } from "../../../src/hadoop/security/token.ts";
import { yarn } from "../../../src/hadoop/wire/yarn.ts";
import { containerIdFromWire, containerIdToWire } from "../../../src/hadoop/yarn/convert-ids.ts";
import { NodeManagerPool, type NodeManagerPoolOptions } from "../../../src/hadoop/yarn/node-manager.ts";
import type { Container } from "../../../src/hadoop/yarn/records.ts";
import { RpcTestServer } from "../../support/rpc-server.ts";
import { type Answer, scripted } from "../../support/scripted-service.ts";

const one = "container_1_0001_01_000002";
const two = "container_1_0001_01_000003";
const launch = { localResources: {}, environment: {}, commands: ["true"], credentials: new Uint8Array(0) };

const pools: NodeManagerPool[] = [];
const servers: RpcTestServer[] = [];

afterEach(async () => {
  for (const pool of pools.splice(0)) pool.close();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

function poolWith(options: NodeManagerPoolOptions = {}): NodeManagerPool {
  const pool = new NodeManagerPool(options);
  pools.push(pool);
  return pool;
}

/** A NodeManager and the token that opens it. */
async function aNode(answer: (method: string, request: Uint8Array) => Answer = noStatuses) {
  const token: Token = { identifier: Buffer.of(1), password: Buffer.of(2), kind: "NMToken", service: "" };
  const server = await RpcTestServer.start(
    scripted(
      () => token,
      ({ method, request }) => answer(method, request),
    ),
  );
  servers.push(server);
  const { host, port } = server.endpoint;
  const nodeId = `${host}:${port}`;
  return { server, nodeId, port, nodeToken: { nodeId, token: { ...token, service: nodeId } } };
}

const noStatuses = (): Answer => ({ bytes: yarn.StopContainersResponseProto.encode({}).finish() });

function aContainer(id: string): Container {
  return {
    id,
    nodeId: "",
    nodeHttpAddress: "",
    resource: { memoryMiB: 1, vcores: 1, others: {} },
    priority: 0,
    allocationRequestId: -1,
    version: 0,
    executionType: "GUARANTEED",
    token: { identifier: Buffer.of(7), password: Buffer.of(8), kind: "ContainerToken", service: "" },
  };
}

describe("one call for many containers", () => {
  test("each has its own answer; one that runs already counts as started", async () => {
    const failure = (id: string, message: string) => ({
      container_id: containerIdToWire(id),
      exception: { message, class_name: "org.apache.hadoop.yarn.exceptions.YarnException" },
    });
    const answered = {
      succeeded_requests: [],
      failed_requests: [
        failure(one, `Attempt to relaunch the same container with id ${one}`),
        failure(two, "Disk full"),
      ],
    };
    const node = await aNode(() => ({ bytes: yarn.StartContainersResponseProto.encode(answered).finish() }));
    const pool = poolWith();
    pool.addTokens([node.nodeToken]);
    const starts = [one, two].map((id) => ({ container: aContainer(id), launch }));
    const { succeeded, failed } = await pool.start(node.nodeId, starts);
    expect(succeeded).toEqual([one]);
    expect(failed).toMatchObject([{ containerId: two, error: { code: "REMOTE_EXCEPTION", javaMessage: "Disk full" } }]);
  });

  test("a start tells each container's token and how it is launched, a stop which ones", async () => {
    const requests: Uint8Array[] = [];
    const node = await aNode((_method, request) => {
      requests.push(request);
      return noStatuses();
    });
    const pool = poolWith();
    pool.addTokens([node.nodeToken]);
    await pool.start(node.nodeId, [{ container: aContainer(one), launch }]);
    await pool.stop(node.nodeId, [one, two]);
    const [start = new Uint8Array(), stop = new Uint8Array()] = requests;
    expect(yarn.StartContainersRequestProto.decode(start).start_container_request).toMatchObject([
      {
        container_token: { identifier: Buffer.of(7), password: Buffer.of(8), kind: "ContainerToken", service: "" },
        container_launch_context: { command: ["true"] },
      },
    ]);
    expect(yarn.StopContainersRequestProto.decode(stop).container_id.map(containerIdFromWire)).toEqual([one, two]);
  });

  test("a container without a token is not started", async () => {
    const node = await aNode();
    const pool = poolWith();
    pool.addTokens([node.nodeToken]);
    const { token: _, ...container } = aContainer(one);
    await expect(pool.start(node.nodeId, [{ container, launch }])).rejects.toMatchObject({
      name: "AuthenticationError",
      message: `Container ${one} came without the token that starts it`,
    });
    expect(node.server.connections).toHaveLength(0);
  });

  test("what a node says of one that failed is kept; of one without words, that it is YARN's", async () => {
    const trace = "\tat org.example.Disk.write(Disk.java:7)";
    const failed_requests = [
      {
        container_id: containerIdToWire(one),
        exception: { message: "full", trace, class_name: "java.io.IOException" },
      },
      { container_id: containerIdToWire(two) },
    ];
    const bytes = yarn.StopContainersResponseProto.encode({ failed_requests }).finish();
    const node = await aNode(() => ({ bytes }));
    const pool = poolWith();
    pool.addTokens([node.nodeToken]);
    expect((await pool.stop(node.nodeId, [one, two])).failed).toMatchObject([
      { containerId: one, error: { javaClass: "java.io.IOException", javaMessage: "full", javaStack: trace.trim() } },
      { containerId: two, error: { javaClass: "org.apache.hadoop.yarn.exceptions.YarnException", javaStack: "" } },
    ]);
  });

  test("a start whose answer is lost is repeated", async () => {
    let calls = 0;
    const node = await aNode(() => {
      calls += 1;
      if (calls === 1) return "hang up";
      return {
        bytes: yarn.StartContainersResponseProto.encode({ succeeded_requests: [containerIdToWire(one)] }).finish(),
      };
    });
    const pool = poolWith({ retry: { giveUpAfterMs: 5_000, firstDelayMs: 1, longestDelayMs: 1 } });
    pool.addTokens([node.nodeToken]);
    expect(await pool.start(node.nodeId, [{ container: aContainer(one), launch }])).toEqual({
      succeeded: [one],
      failed: [],
    });
  });
});

describe("connections", () => {
  test("one per node, for calls that come together and later", async () => {
    const node = await aNode();
    const pool = poolWith();
    pool.addTokens([node.nodeToken]);
    await Promise.all([pool.stop(node.nodeId, []), pool.stop(node.nodeId, [])]);
    await pool.stop(node.nodeId, []);
    expect(node.server.connections).toHaveLength(1);
  });

  test("a node whose name does not resolve is reached by the address in its token", async () => {
    const node = await aNode();
    const nodeId = `no-such-host.invalid:${node.port}`;
    const pool = poolWith({ retry: { giveUpAfterMs: 20_000, firstDelayMs: 1, longestDelayMs: 1 } });
    pool.addTokens([{ ...node.nodeToken, nodeId }]);
    expect(await pool.stop(nodeId, [])).toEqual({ succeeded: [], failed: [] });
  });

  test("never more than the bound: an idle node makes room, a busy one is waited for", async () => {
    const nodes = await Promise.all([aNode(), aNode(), aNode(), aNode()]);
    const pool = poolWith({ maxConnections: 2 });
    pool.addTokens(nodes.map(({ nodeToken }) => nodeToken));
    let most = 0;
    await Promise.all(
      [...nodes, ...nodes].map(async ({ nodeId }) => {
        await pool.stop(nodeId, []);
        most = Math.max(most, pool.connectedNodes);
      }),
    );
    expect(most).toBe(2);
  });

  test("an unused one is closed after a while", async () => {
    const node = await aNode();
    const pool = poolWith({ idleTimeoutMs: 10 });
    pool.addTokens([node.nodeToken]);
    await pool.stop(node.nodeId, []);
    const [connection] = node.server.connections;
    await new Promise((resolve) => connection?.socket.once("close", resolve));
    expect(pool.connectedNodes).toBe(0);
    await pool.stop(node.nodeId, []);
    expect(node.server.connections).toHaveLength(2);
  });

  test("a newer token takes the older one's place", async () => {
    const { nodeId, nodeToken } = await aNode();
    const pool = poolWith({ retry: noRetry });
    pool.addTokens([{ ...nodeToken, token: { ...nodeToken.token, password: Buffer.of(9) } }]);
    pool.addTokens([nodeToken]);
    expect(await pool.stop(nodeId, [one])).toEqual({ succeeded: [], failed: [] });
  });

  test("a node's newer token opens it when its connection has to be made again", async () => {
    const [first, second] = [3, 4].map((password) => {
      return { identifier: Buffer.of(1), password: Buffer.of(password), kind: "NMToken", service: "" };
    });
    if (first === undefined || second === undefined) throw new Error("two tokens");
    let accepted = first;
    const server = await RpcTestServer.start(
      scripted(
        () => accepted,
        () => (accepted === second && server.connections.length === 1 ? "hang up" : noStatuses()),
      ),
    );
    servers.push(server);
    const nodeId = `${server.endpoint.host}:${server.endpoint.port}`;
    const pool = poolWith({ retry: { giveUpAfterMs: 20_000, firstDelayMs: 1, longestDelayMs: 1 } });
    pool.addTokens([{ nodeId, token: first }]);
    await pool.stop(nodeId, [one]);
    accepted = second;
    pool.addTokens([{ nodeId, token: second }]);
    expect(await pool.stop(nodeId, [one])).toEqual({ succeeded: [], failed: [] });
    expect(server.connections).toHaveLength(2);
  });

  test("a node without a token is not called", async () => {
    await expect(poolWith().stop("host:1", [one])).rejects.toMatchObject({ code: "NODE_TOKEN_MISSING" });
  });

  test("a closed pool fails calls that wait", async () => {
    const nodes = await Promise.all([aNode(() => "hang up"), aNode()]);
    const pool = poolWith({ maxConnections: 1, retry: noRetry });
    pool.addTokens(nodes.map(({ nodeToken }) => nodeToken));
    const calls = nodes.map(({ nodeId }) => pool.stop(nodeId, []));
    pool.close();
    const results = await Promise.allSettled(calls);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(pool.stop(nodes[0]?.nodeId ?? "", [])).rejects.toMatchObject({ code: "RPC_CLOSED" });
  });
});
