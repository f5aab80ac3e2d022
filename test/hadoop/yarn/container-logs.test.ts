import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { HttpService } from "../../../src/hadoop/security/credentials-provider.ts";
import { AuthenticationError } from "../../../src/hadoop/security/errors.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { ContainerLogs } from "../../../src/hadoop/yarn/container-logs.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

const CONTAINER = "container_1_0001_01_000002";

/** A NodeManager's web service with one log; `asked` are the sizes that were asked for, and after each the log may grow. */
let log: Buffer;
let asked: number[];
let requests: string[];
let grow: () => void;
/** What is answered instead. */
let said:
  | { readonly status?: number; readonly text: string; readonly location?: string; readonly isSilent?: true }
  | undefined;
let server: Server;
let node: string;
const logs = new ContainerLogs({ credentials: simpleCredentials({ name: "ada" }) });
beforeEach(async () => {
  log = Buffer.alloc(0);
  [asked, requests] = [[], []];
  grow = () => undefined;
  said = undefined;
  server = createServer((request, response) => {
    const size = Number(new URL(request.url ?? "", "http://node").searchParams.get("size"));
    asked.push(size);
    requests.push(`${request.method} ${request.headers.accept} ${request.url}`);
    if (said?.isSilent === true) return;
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

  test("comes with the first bytes up to its end, or with the last, whichever are fewer", async () => {
    log = numbered(900_000);
    for (const [offset, sizes] of [
      [20, [40]],
      [21, [0, 41]],
      [100_000, [0, 100_020]],
      [449_990, [0, 450_010]],
      [449_991, [0, -(450_009 + 65_536)]],
    ] as const) {
      asked = [];
      expect((await read(offset, 20)).bytes).toEqual(log.subarray(offset, offset + 20));
      expect(asked).toEqual(sizes);
    }
  });

  test("of a log that grew by just what was foreseen is asked for once", async () => {
    const whole = numbered(565_536);
    log = whole.subarray(0, 500_000);
    grow = () => {
      log = whole;
    };
    expect((await read(499_000, 10)).bytes).toEqual(whole.subarray(499_000, 499_010));
    expect(asked).toHaveLength(2);
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
    ["a log without its header", "LogContents:\nLogLength:100\n"],
    ["a log without its header", "LogLength:100\n"],
  ])("that is none is an error: %s", async (problem, text) => {
    said = { text };
    await expect(read(0, 20)).rejects.toMatchObject({
      code: "NODE_ANSWER_MALFORMED",
      message: expect.stringContaining(problem),
    });
  });

  test("is asked for by its container and name, of a page that may be open to all", async () => {
    log = numbered(100);
    const services: HttpService[] = [];
    const forHttp = async (service: HttpService) => {
      services.push(service);
      return { begin: () => ({}) };
    };
    const own = new ContainerLogs({ credentials: { ...simpleCredentials({ name: "ada" }), forHttp } });
    await own.read(node, CONTAINER, "a b/c.log", 0, 5);
    said = { text: JSON.stringify({ containerLogsInfo: { logAggregationType: "LOCAL" } }) };
    await own.list(node, CONTAINER);
    own.close();
    const path = `/ws/v1/node/containers/${CONTAINER}/logs`;
    expect(requests).toEqual([`GET text/plain ${path}/a%20b%2Fc.log?size=5`, `GET application/json ${path}`]);
    expect(services.map(({ mayBeOpen }) => mayBeOpen)).toEqual([true, true]);
  });

  test("is not waited for longer than is said, nor from a node that is away", async () => {
    const credentials = simpleCredentials({ name: "ada" });
    const impatient = new ContainerLogs({ credentials, idleTimeoutMs: 50 });
    said = { text: "", isSilent: true };
    await expect(impatient.read(node, CONTAINER, "stdout", 0, 5)).rejects.toMatchObject({
      ...{ name: "ContainerLogError", code: "NODE_UNREACHABLE", retryable: true },
      ...{ message: `${node} was silent for 0.05 s`, cause: { code: "HTTP_TIMEOUT" } },
    });
    impatient.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(read(0, 5)).rejects.toMatchObject({ code: "NODE_UNREACHABLE", retryable: true });
  });

  test("that we may not ask for says why", async () => {
    const cause = new AuthenticationError("no ticket", { code: "KERBEROS_NO_TICKET" });
    const credentials = { ...simpleCredentials({ name: "ada" }), forHttp: () => Promise.reject(cause) };
    const own = new ContainerLogs({ credentials });
    await expect(own.read(node, CONTAINER, "stdout", 0, 5)).rejects.toBe(cause);
    own.close();
  });

  test.each([
    ["is gone", { status: 404, text: "" }, "CONTAINER_LOG_NOT_FOUND"],
    ["is elsewhere", { status: 300, text: "" }, "CONTAINER_LOG_NOT_FOUND"],
    ["is asked for in a wrong way", { status: 400, text: "" }, "CONTAINER_LOG_REFUSED"],
    ["is refused at length", { status: 403, text: "x".repeat(300) }, "CONTAINER_LOG_REFUSED"],
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
    for (const none of [undefined, null, local([null]), local([{ fileName: "stdout" }]), local([{ fileSize: "1" }])])
      await expect(listed(none)).rejects.toMatchObject({ code: "NODE_ANSWER_MALFORMED" });
    said = { text: "null" };
    await expect(logs.list(node, CONTAINER)).rejects.toThrow("no list of local logs");
    said = { text: "<html>" };
    await expect(logs.list(node, CONTAINER)).rejects.toMatchObject({ code: "NODE_ANSWER_MALFORMED" });
  });
});
