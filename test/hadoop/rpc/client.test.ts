import { afterEach, describe, expect, jest, test } from "@jest/globals";
import type { HostPort } from "../../../src/hadoop/conf/values.ts";
import { EndpointList, RpcClient, type RpcClientOptions } from "../../../src/hadoop/rpc/client.ts";
import { noRetry } from "../../../src/hadoop/rpc/retry.ts";
import { AuthenticationError } from "../../../src/hadoop/security/errors.ts";
import { simple, simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import {
  type Behaviour,
  delimited,
  echo,
  failureFrame,
  RpcTestServer,
  stoppedAfterTest,
} from "../../support/rpc-server.ts";

const standby: Behaviour = {
  onCall: ({ socket }, { callId }) =>
    void socket.write(
      failureFrame(
        callId,
        "ERROR",
        "org.apache.hadoop.ipc.StandbyException",
        "Operation is not supported in state standby",
      ),
    ),
};
const clients: RpcClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

const served = stoppedAfterTest();

/** An address where nobody listens. */
async function closedEndpoint(): Promise<HostPort> {
  const server = await RpcTestServer.start({});
  const { endpoint } = server;
  await server.stop();
  return endpoint;
}

function clientOf(endpoints: readonly HostPort[], changes: Partial<RpcClientOptions> = {}): RpcClient {
  const client = new RpcClient({
    endpoints,
    protocol: "org.example.Protocol",
    credentials: simpleCredentials({ name: "alice" }),
    clock: new ManualClock(),
    retry: { giveUpAfterMs: 10_000, firstDelayMs: 100, longestDelayMs: 1_000 },
    ...changes,
  });
  clients.push(client);
  return client;
}

async function call(client: RpcClient, text: string, options = {}): Promise<string> {
  return Buffer.from(await client.call("echo", delimited(Buffer.from(text)), options)).toString();
}

describe("a client of several endpoints", () => {
  test("moves on from one that refuses connections, and stays where it was answered", async () => {
    const active = await served(echo);
    const client = clientOf([await closedEndpoint(), active.endpoint]);
    expect(await call(client, "one")).toBe("one");
    expect(await call(client, "two")).toBe("two");
    expect(active.connections).toHaveLength(1);
  });

  test("a standby before the active one is no trouble; that none is active is told once a round, until it is over", async () => {
    const behaviours = [standby, standby, standby, echo];
    const [passive, changing] = [
      await served(standby),
      await served({ onCall: (connection, received) => (behaviours.shift() ?? echo).onCall?.(connection, received) }),
    ];
    const told: unknown[] = [];
    const endpoints = [passive.endpoint, changing.endpoint];
    const client = clientOf(endpoints, { onTrouble: (trouble) => told.push(trouble?.error) });
    expect(await call(client, "patient")).toBe("patient");
    expect(told).toEqual([...Array(3).fill(expect.objectContaining({ code: "STANDBY" })), undefined]);
    const other = clientOf(endpoints, { onTrouble: (trouble) => told.push(trouble) });
    expect(await call(other, "at once")).toBe("at once");
    expect(told).toHaveLength(4);
  });

  test("moves on from a standby; calls that fail together move on once", async () => {
    const [passive, active] = [await served(standby), await served(echo)];
    const client = clientOf([passive.endpoint, active.endpoint]);
    const texts = ["one", "two", "three", "four"];
    expect(await Promise.all(texts.map((text) => call(client, text)))).toEqual(texts);
    expect([passive.connections.length, active.connections.length]).toEqual([1, 1]);
  });

  test("a call that times out leads to the standby", async () => {
    const [silent, active] = [await served({ onCall: () => undefined }), await served(echo)];
    const client = clientOf([silent.endpoint, active.endpoint]);
    expect(await call(client, "heard", { timeoutMs: 50 })).toBe("heard");
    expect(client.endpoint).toEqual(active.endpoint);
  });

  test("when nobody answers in time, the error names them all", async () => {
    const endpoints = [await closedEndpoint(), await closedEndpoint()];
    const clock = new ManualClock();
    await expect(call(clientOf(endpoints, { clock }), "hello")).rejects.toMatchObject({
      code: "RPC_CONNECT_FAILED",
      message: expect.stringContaining(endpoints.map(({ host, port }) => `${host}:${port}`).join(", ")),
    });
    expect(clock.nowMs()).toBeGreaterThanOrEqual(10_000);
  });
});

describe("a client of one endpoint", () => {
  test("reconnects after the server went away, and asks again who it is", async () => {
    const server = await served({
      onCall: (connection, { callId, request }) => {
        if (server.connections.length === 1) connection.socket.destroy();
        else connection.reply(callId, request);
      },
    });
    let asked = 0;
    const forRpc = async () => {
      asked += 1;
      return [simple({ name: `user-${asked}` })];
    };
    const credentials = { ...simpleCredentials({ name: "alice" }), forRpc };
    expect(await call(clientOf([server.endpoint], { credentials }), "again")).toBe("again");
    expect(asked).toBe(2);
  });

  test("a login that is refused is renewed once for each call", async () => {
    const refusing = await served({
      onCall: ({ socket }, { callId }) =>
        void socket.write(failureFrame(callId, "ERROR", "org.apache.hadoop.security.AccessControlException", "no")),
    });
    let renewals = 0;
    const renewed = async () => {
      renewals += 1;
      return true;
    };
    const forRpc = async () => {
      throw new AuthenticationError("the ticket has ended", { code: "RPC_AUTHENTICATION" });
    };
    const credentials = { ...simpleCredentials({ name: "alice" }), forRpc, renewed };
    const client = clientOf([refusing.endpoint], { credentials });
    for (const calls of [1, 2]) {
      await expect(call(client, "refused")).rejects.toMatchObject({ code: "RPC_AUTHENTICATION" });
      expect(renewals).toBe(calls);
    }
  });

  test("an answer that does not come is asked for on another connection, and the trouble is told until it is over", async () => {
    const server = await served({
      onCall: (connection, { callId, request }) => {
        if (server.connections.length > 1) connection.reply(callId, request);
      },
    });
    const told: unknown[] = [];
    const client = clientOf([server.endpoint], { onTrouble: (trouble) => told.push(trouble?.error) });
    expect(await call(client, "lost", { timeoutMs: 50 })).toBe("lost");
    expect(told).toEqual([expect.objectContaining({ code: "RPC_TIMEOUT" }), undefined]);
  });

  test("a server that takes longer than the first try waits is heard in the end", async () => {
    const slow = await served({
      onCall: (connection, received) => void setTimeout(() => echo.onCall?.(connection, received), 150),
    });
    const client = clientOf([slow.endpoint], { callTimeoutMs: 50 });
    expect(await call(client, "slowly")).toBe("slowly");
  });

  test("a call that may take long keeps its time at each try", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate", "clearImmediate", "performance"] });
    try {
      const waitsMs = [70_000, 69_000];
      const server = await served({
        onCall: (connection, { callId, request }) => {
          jest.advanceTimersByTime(waitsMs.shift() ?? 0);
          connection.reply(callId, request);
        },
      });
      expect(await call(clientOf([server.endpoint]), "patient", { timeoutMs: 70_000 })).toBe("patient");
      expect(server.connections).toHaveLength(2);
    } finally {
      jest.useRealTimers();
    }
  });

  test("its patience begins with each call, whatever the time, and the trouble says how long the call has lasted", async () => {
    const clock = new ManualClock();
    await clock.sleep(3_600_000);
    const behaviours = [standby, standby];
    const server = await served({
      onCall: (connection, asked) => (behaviours.shift() ?? echo).onCall?.(connection, asked),
    });
    const toldMs: (number | undefined)[] = [];
    const client = clientOf([server.endpoint], { clock, onTrouble: (trouble) => toldMs.push(trouble?.elapsedMs) });
    expect(await call(client, "later")).toBe("later");
    expect(toldMs).toEqual([0, 75, undefined]);
  });

  test("a call may be less patient than its client", async () => {
    const server = await served(standby);
    await expect(call(clientOf([server.endpoint]), "now", { retry: noRetry })).rejects.toMatchObject({
      code: "STANDBY",
    });
    expect(server.connections.flatMap(({ calls }) => calls)).toHaveLength(1);
  });

  test("does not repeat what may not be done twice", async () => {
    const server = await served({ onCall: ({ socket }) => socket.destroy() });
    const client = clientOf([server.endpoint]);
    await expect(call(client, "once", { repeatable: false })).rejects.toMatchObject({ code: "RPC_CONNECTION_LOST" });
    expect(server.connections).toHaveLength(1);
  });

  test("leaving a connection has calls in flight tried again on a new one", async () => {
    const server = await served({
      onCall: (connection, { callId, request }) => {
        if (server.connections.length === 1) client.disconnect();
        else connection.reply(callId, request);
      },
    });
    const client = clientOf([server.endpoint]);
    expect(await call(client, "kept")).toBe("kept");
  });

  test("closed while it waits for another try: the call ends", async () => {
    const clock = new ManualClock();
    const client = clientOf([await closedEndpoint()], {
      clock: { nowMs: () => 0, random: () => 0, sleep: (delayMs) => clock.sleep(delayMs).then(() => client.close()) },
    });
    await expect(call(client, "hello")).rejects.toMatchObject({ code: "RPC_CLOSED" });
    await expect(call(client, "later")).rejects.toMatchObject({ code: "RPC_CLOSED" });
  });

  test("a caller's signal ends the tries with the last error", async () => {
    const stop = new AbortController();
    const clock = new ManualClock();
    const client = clientOf([await closedEndpoint()], {
      clock: { nowMs: () => 0, random: () => 0, sleep: (delayMs) => clock.sleep(delayMs).then(() => stop.abort()) },
    });
    await expect(call(client, "hello", { signal: stop.signal })).rejects.toMatchObject({ code: "RPC_CONNECT_FAILED" });
  });

  test("a caller's signal that fires between two tries is the end: there is no further one", async () => {
    const stop = new AbortController();
    const clock = new ManualClock();
    let tries = 0;
    const server = await served({
      onCall: (connection, asked) => {
        tries += 1;
        standby.onCall?.(connection, asked);
      },
    });
    const client = clientOf([server.endpoint], {
      clock: { nowMs: () => 0, random: () => 0, sleep: (delayMs) => clock.sleep(delayMs).then(() => stop.abort()) },
    });
    await expect(call(client, "hello", { signal: stop.signal })).rejects.toMatchObject({ code: "STANDBY" });
    expect(tries).toBe(1);
  });
});

test("calls that fail together at one endpoint turn to the next, not beyond it", () => {
  const [first, second, third] = ["a", "b", "c"].map((host) => ({ host, port: 1 }));
  if (first === undefined || second === undefined || third === undefined) throw new Error("three endpoints");
  const endpoints = new EndpointList([first, second, third]);
  endpoints.leave(first);
  endpoints.leave(first);
  expect(endpoints.current).toBe(second);
  endpoints.leave(second);
  endpoints.leave(third);
  expect(endpoints.current).toBe(first);
});

describe("a client", () => {
  test("tells its credentials which service it calls, on which server, and shows the token of the moment", async () => {
    const server = await served(echo);
    const services: unknown[] = [];
    const token = { identifier: Buffer.of(1), password: Buffer.of(2), kind: "T", service: "" };
    const forRpc = async (service: unknown) => {
      services.push(service);
      return [simple({ name: "alice" })];
    };
    const endpoints = [server.endpoint, { host: "other", port: 1 }];
    const credentials = { ...simpleCredentials({ name: "alice" }), forRpc };
    await call(clientOf(endpoints, { credentials, token: () => token }), "hello");
    expect(services).toEqual([
      { transport: "rpc", protocol: "org.example.Protocol", endpoint: server.endpoint, endpoints, token },
    ]);
  });

  test("asks for its policy before each try, and reads no longer answers than it is told", async () => {
    const refusing = await served(standby);
    let asked = 0;
    const retry = () => {
      asked += 1;
      return asked < 3 ? { giveUpAfterMs: 10_000, firstDelayMs: 1, longestDelayMs: 1 } : noRetry;
    };
    await expect(call(clientOf([refusing.endpoint], { retry }), "hello")).rejects.toMatchObject({ code: "STANDBY" });
    expect(asked).toBe(3);
    const server = await served({ onCall: (connection, { callId }) => connection.reply(callId, Buffer.alloc(2_000)) });
    const limited = clientOf([server.endpoint], { maxFrameBytes: 1_000 });
    await expect(call(limited, "hello")).rejects.toMatchObject({ code: "RPC_PROTOCOL" });
  });

  test("counts the calls whose answers are out", async () => {
    const counts: number[] = [];
    const server = await served({
      onCall: (connection, { callId, request }) => {
        counts.push(client.inFlight);
        connection.reply(callId, request);
      },
    });
    const client = clientOf([server.endpoint]);
    expect(client.inFlight).toBe(0);
    await call(client, "hello");
    expect([counts, client.inFlight]).toEqual([[1], 0]);
  });

  test("needs an endpoint, and names them all only where there are several that cannot be reached", async () => {
    await expect(call(clientOf([]), "hello")).rejects.toThrow("A service needs at least one endpoint");
    const closed = await closedEndpoint();
    await expect(call(clientOf([closed], { retry: noRetry }), "hello")).rejects.toThrow(/^(?!No endpoint)/);
    const passive = await served(standby);
    const two = clientOf([passive.endpoint, closed], { retry: noRetry });
    await expect(call(two, "hello")).rejects.toThrow(/^(?!No endpoint)/);
  });

  test("renews no login where the server refused only the call", async () => {
    let renewals = 0;
    const renewed = async () => {
      renewals += 1;
      return true;
    };
    const server = await served({
      onCall: ({ socket }, { callId }) =>
        void socket.write(failureFrame(callId, "ERROR", "org.apache.hadoop.security.AccessControlException", "no")),
    });
    const credentials = { ...simpleCredentials({ name: "alice" }), renewed };
    await expect(call(clientOf([server.endpoint], { credentials }), "hello")).rejects.toMatchObject({
      code: "ACCESS_DENIED",
    });
    expect(renewals).toBe(0);
  });

  test("ends its connection when it is closed", async () => {
    const server = await served(echo);
    const client = clientOf([server.endpoint]);
    await call(client, "hello");
    const closed = new Promise((resolve) => server.connections[0]?.socket.once("close", resolve));
    client.close();
    await expect(closed).resolves.toBe(false);
  });
});
