import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { ContainerLogs } from "../../../src/hadoop/yarn/container-logs.ts";

const CONTAINER = "container_1_0001_01_000002";

/** A NodeManager's web service with one log; `asked` are the sizes that were asked for, and after each the log may grow. */
let log: Buffer;
let asked: number[];
let grow: () => void;
let server: Server;
let node: string;
const logs = new ContainerLogs({ credentials: simpleCredentials({ name: "ada" }) });
beforeEach(async () => {
  log = Buffer.alloc(0);
  asked = [];
  grow = () => undefined;
  server = createServer((request, response) => {
    const size = Number(new URL(request.url ?? "", "http://node").searchParams.get("size"));
    asked.push(size);
    const given = size < 0 ? log.subarray(Math.max(0, log.length + size)) : log.subarray(0, size);
    response.end(`Container: ${CONTAINER}\nLogLength:${log.length}\nLogContents:\n${given.toString("latin1")}\n****\n`);
    grow();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  node = typeof address === "object" && address !== null ? `127.0.0.1:${address.port}` : "";
});
afterEach(async () => {
  logs.close();
  server.closeAllConnections();
  server.close();
});

const numbered = (length: number) => Buffer.from(Array.from({ length }, (_, at) => 0x61 + (at % 26)));
const read = (offset: number, maximumBytes: number) => logs.read(node, CONTAINER, "stdout", offset, maximumBytes);

describe("a piece of a log", () => {
  test("near its beginning comes with the first bytes", async () => {
    log = numbered(1_000);
    expect(await read(10, 20)).toEqual({ offset: 10, bytes: log.subarray(10, 30), logLengthBytes: 1_000 });
    expect(asked).toEqual([30]);
  });

  test("near its end comes with the last ones", async () => {
    log = numbered(500_000);
    expect(await read(499_000, 10)).toEqual({
      offset: 499_000,
      bytes: log.subarray(499_000, 499_010),
      logLengthBytes: 500_000,
    });
    expect(asked).toEqual([0, -(1_000 + 65_536)]);
  });

  test("is empty at the end, and beyond it", async () => {
    log = numbered(100);
    for (const offset of [100, 200]) expect(await read(offset, 10)).toMatchObject({ offset, bytes: Buffer.alloc(0) });
  });

  test("of a log that grew by more than was foreseen is asked for again", async () => {
    log = numbered(500_000);
    const whole = numbered(900_000);
    grow = () => {
      if (asked.length === 1) log = whole.subarray(0, 800_000);
    };
    expect(await read(499_000, 10)).toEqual({
      offset: 499_000,
      bytes: whole.subarray(499_000, 499_010),
      logLengthBytes: 800_000,
    });
    expect(asked).toHaveLength(3);
  });
});
