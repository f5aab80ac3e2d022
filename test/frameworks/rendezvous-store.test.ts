import { createServer, IncomingMessage, type Server } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  bodyRoom,
  boundedBody,
  MOST_VALUE_BYTES,
  rendezvousStore,
  SPARE_BYTES,
  scopeSizes,
} from "../../src/frameworks/rendezvous-store.ts";
import { listenLocally, localAddress } from "../support/local-port.ts";

let server: Server;
let address: string;
beforeEach(async () => {
  const processes = new Map([
    ["node1", 2],
    ["node2", 1],
  ]);
  server = createServer(rendezvousStore(scopeSizes(processes)));
  await listenLocally(server);
  address = `http://${localAddress(server)}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function ask(method: string, path: string, body?: Uint8Array) {
  const answer = await fetch(`${address}/${path}`, { method, ...(body !== undefined && { body: Buffer.from(body) }) });
  return { status: answer.status, text: await answer.text() };
}
const put = (path: string, text: string) => ask("PUT", path, Buffer.from(text));
const get = (path: string) => ask("GET", path);
const leave = (scope: string, times: number) =>
  Array.from({ length: times }, (_, rank) => rank).reduce<Promise<unknown>>(
    (before, rank) => before.then(() => ask("DELETE", `${scope}/${rank}`)),
    Promise.resolve(),
  );

test("the scopes are those of all processes, of a host, and of a local rank", () => {
  const processes = new Map([
    ["node1", 2],
    ["node2", 1],
  ]);
  expect(Object.fromEntries(scopeSizes(processes))).toEqual({
    global: 3,
    global_: 3,
    local_node1: 2,
    local_node2: 1,
    cross_0: 2,
    cross_1: 1,
  });
});

describe("what processes put there", () => {
  test("is found until all of its scope have left, and they can meet again and again", async () => {
    for (const meeting of ["first", "second", "third"]) {
      expect((await get("global/0")).status).toBe(404);
      await put("global/0", meeting);
      await leave("global", 2);
      expect(await get("global/0")).toEqual({ status: 200, text: meeting });
      await leave("global", 1);
    }
    expect((await get("global/0")).status).toBe(404);
  });

  test("in a scope of their own is removed one by one", async () => {
    await put("own/a", "1");
    await put("own/b", "2");
    await ask("DELETE", "own/a");
    expect([(await get("own/a")).status, (await get("own/b")).text]).toEqual([404, "2"]);
  });
});

describe("the room for it", () => {
  const large = new Uint8Array(MOST_VALUE_BYTES);
  const most = SPARE_BYTES / MOST_VALUE_BYTES;

  test("is not taken by what was replaced", async () => {
    for (let times = 0; times <= 2 * most; times += 1) expect((await ask("PUT", "own/a", large)).status).toBe(200);
  });

  test("is free again after what was removed, alone or with its scope", async () => {
    for (let times = 0; times <= most; times += 1) {
      expect((await ask("PUT", "own/a", large)).status).toBe(200);
      await ask("DELETE", "own/a");
      expect((await ask("PUT", "local_node2/0", large)).status).toBe(200);
      await leave("local_node2", 1);
    }
  });

  test("ends, and so does a value", async () => {
    const statuses: number[] = [];
    for (let key = 0; key <= most; key += 1) statuses.push((await ask("PUT", `own/${key}`, large)).status);
    expect(statuses).toContain(507);
    expect((await ask("PUT", "own/large", new Uint8Array(MOST_VALUE_BYTES + 1))).status).toBe(413);
  });

  test("ends a connection whose value it does not read to its end", async () => {
    const body = Buffer.alloc(8 * MOST_VALUE_BYTES);
    const answer = await fetch(`${address}/own/large`, { method: "PUT", body });
    expect([answer.status, answer.headers.get("connection")]).toEqual([413, "close"]);
  });

  test("is given back by values that are read, too long, or broken off", async () => {
    const room = bodyRoom(100);
    const read = async (bytes: number, event: "end" | "close") => {
      const request = new IncomingMessage(new Socket());
      const body = boundedBody(request, 60, room).catch(() => "broken off");
      request.emit("data", Buffer.alloc(bytes));
      request.emit(event);
      return await body;
    };
    expect([await read(60, "end"), await read(61, "end"), await read(40, "close")]).toEqual([
      Buffer.alloc(60),
      "too long",
      "broken off",
    ]);
    expect(room.take(100)).toBe(true);
  });
});
