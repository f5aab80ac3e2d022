import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { RpcClient } from "../../../src/hadoop/rpc/client.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { NodeConnections } from "../../../src/hadoop/yarn/node-connections.ts";
import type { NodeId } from "../../../src/hadoop/yarn/records.ts";
import { deferred } from "../../support/deferred.ts";
import { keptBy } from "../../support/resources.ts";

const IDLE_MS = 1_000;
let made: NodeId[];
let pool: NodeConnections;
beforeEach(() => {
  jest.useFakeTimers();
  made = [];
  pool = new NodeConnections({ maxConnections: 2, idleTimeoutMs: IDLE_MS }, (node) => {
    made.push(node);
    const endpoints = [{ host: "127.0.0.1", port: 1 }];
    return { endpoints, protocol: "org.example.Protocol", credentials: simpleCredentials({ name: "ada" }) };
  });
});
afterEach(() => {
  pool.close();
  jest.useRealTimers();
});

const at = (node: NodeId) => pool.use(node, async (client) => client);

/** A call that is under way until it is told to end. */
function underWay(node: NodeId) {
  const { promise: answered, resolve: end } = deferred();
  const clients: RpcClient[] = [];
  const over = pool.use(node, async (client) => {
    clients.push(client);
    await answered;
  });
  return { clients, over, end: () => end() };
}

test("a node's calls share its connection until it was idle for long", async () => {
  expect(await at("a:1")).toBe(await at("a:1"));
  await jest.advanceTimersByTimeAsync(IDLE_MS - 1);
  expect(pool.size).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(pool.size).toBe(0);
  await at("a:1");
  expect(made).toEqual(["a:1", "a:1"]);
});

test("a connection that was idle and is used again is not closed by the time that it was idle before", async () => {
  await at("a:1");
  await jest.advanceTimersByTimeAsync(IDLE_MS - 1);
  const { over, end } = underWay("a:1");
  await jest.advanceTimersByTimeAsync(10 * IDLE_MS);
  expect(pool.size).toBe(1);
  end();
  await over;
  await jest.advanceTimersByTimeAsync(IDLE_MS - 1);
  expect([pool.size, made]).toEqual([1, ["a:1"]]);
});

test("where there is no room the one that was used longest ago goes", async () => {
  await at("a:1");
  await at("b:1");
  await at("a:1");
  await at("c:1");
  await at("a:1");
  expect(made).toEqual(["a:1", "b:1", "c:1"]);
});

test("who finds all in use waits until one is idle, one after the other", async () => {
  const [a, b, c, d] = ["a:1", "b:1", "c:1", "d:1"].map(underWay);
  await jest.advanceTimersByTimeAsync(0);
  expect(made).toEqual(["a:1", "b:1"]);
  b?.end();
  await jest.advanceTimersByTimeAsync(0);
  expect(made).toEqual(["a:1", "b:1", "c:1"]);
  for (const call of [a, c, d]) call?.end();
  await Promise.all([a, b, c, d].map((call) => call?.over));
  expect(made).toEqual(["a:1", "b:1", "c:1", "d:1"]);
});

test("an idle connection keeps no process", async () => {
  jest.useRealTimers();
  expect(await keptBy("Timeout", () => pool.use("a:1", async () => undefined))).toBe(0);
});

test("closed, it tells those that wait", async () => {
  const calls = ["a:1", "b:1"].map(underWay);
  const waiting = at("c:1");
  const refused = expect(waiting).rejects.toMatchObject({ code: "RPC_CLOSED" });
  pool.close();
  await refused;
  for (const { end } of calls) end();
  await Promise.all(calls.map(({ over }) => over));
  expect(pool.size).toBe(0);
});
