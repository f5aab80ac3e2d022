import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { ContainerLogs } from "../../../src/hadoop/yarn/container-logs.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

const CONTAINER = "container_1_0001_01_000002";

/** A NodeManager's web service with one log; `asked` are the sizes that were asked for, and after each the log may grow. */
let log: Buffer;
let asked: number[];
let grow: () => void;
/** What is answered instead. */
let said: { readonly status?: number; readonly text: string; readonly location?: string } | undefined;
let server: Server;
let node: string;
const logs = new ContainerLogs({ credentials: simpleCredentials({ name: "ada" }) });
beforeEach(async () => {
  log = Buffer.alloc(0);
  asked = [];
  grow = () => undefined;
  said = undefined;
  server = createServer((request, response) => {
    const size = Number(new URL(request.url ?? "", "http://node").searchParams.get("size"));
    asked.push(size);
    if (said !== undefined) {
      response.writeHead(said.status ?? 200, said.location === undefined ? {} : { location: said.location });
      response.end(said.text);
      return;
    }
    const given = size < 0 ? log.subarray(Math.max(0, log.length + size)) : log.subarray(0, size);
    response.end(`Container: ${CONTAINER}\nLogLength:${log.length}\nLogContents:\n${given.toString("latin1")}\n****\n`);
    grow();
  });
  await listenLocally(server);
  node = localAddress(server);
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

  test("is looked for once where there is nothing new", async () => {
    log = numbered(500_000);
    expect(await read(500_000, 10)).toEqual({ offset: 500_000, bytes: Buffer.alloc(0), logLengthBytes: 500_000 });
    expect(asked).toEqual([0]);
  });

  test.each([
    ["a log without its header", "no header"],
    ["0 bytes of 20", "LogLength:100\nLogContents:\n"],
  ])("that is none is an error: %s", async (problem, text) => {
    said = { text };
    await expect(read(0, 20)).rejects.toMatchObject({
      code: "NODE_ANSWER_MALFORMED",
      message: expect.stringContaining(problem),
    });
  });

  test.each([
    ["is gone", { status: 404, text: "" }, "CONTAINER_LOG_NOT_FOUND"],
    ["is on a log server", { status: 307, text: "", location: "http://history:19888/" }, "CONTAINER_LOG_NOT_FOUND"],
    ["is of an unknown container", { status: 500, text: "Unknown container" }, "CONTAINER_LOG_NOT_FOUND"],
    ["is not for us", { status: 403, text: "User [ada] is not authorized\nat …" }, "CONTAINER_LOG_REFUSED"],
  ])("of a log that %s is refused as that", async (_what, answer, code) => {
    said = answer;
    const message = `${node} has no log of ${CONTAINER} (HTTP ${answer.status}): ${answer.text.split("\n")[0]}`;
    await expect(read(0, 20)).rejects.toMatchObject({ code, message });
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

describe("the files of a container's logs", () => {
  const local = (containerLogInfo: unknown) => ({ logAggregationType: "LOCAL", containerLogInfo });
  const listed = async (containerLogsInfo: unknown) => {
    said = { text: JSON.stringify({ containerLogsInfo }) };
    return await logs.list(node, CONTAINER);
  };
  const stdout = { fileName: "stdout", fileSize: "12", lastModifiedTime: "now" };

  test("are those that are still there, one or several, beside what is aggregated already", async () => {
    const found = [{ name: "stdout", lengthBytes: 12 }];
    const aggregated = { logAggregationType: "AGGREGATED", containerLogInfo: [{ fileName: "old", fileSize: "1" }] };
    expect(await listed(local([stdout]))).toEqual(found);
    expect(await listed(local(stdout))).toEqual(found);
    expect(await listed([aggregated, local([stdout])])).toEqual(found);
    expect(await listed(local(undefined))).toEqual([]);
  });

  test("are not told by what is no list", async () => {
    for (const none of [undefined, local([{ fileName: "stdout" }]), local([{ fileSize: "1" }])])
      await expect(listed(none)).rejects.toMatchObject({ code: "NODE_ANSWER_MALFORMED" });
    said = { text: "<html>" };
    await expect(logs.list(node, CONTAINER)).rejects.toMatchObject({ code: "NODE_ANSWER_MALFORMED" });
  });
});
