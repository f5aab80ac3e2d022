import { createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { WebHdfs, type WebHdfsOptions } from "../../../src/hadoop/hdfs/webhdfs.ts";
import { AuthenticationError } from "../../../src/hadoop/security/errors.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { deferred } from "../../support/deferred.ts";
import {
  answer,
  bytesThenEnd,
  bytesThenReset,
  HostileHttpServer,
  refusal,
  silence,
} from "../../support/hostile-http-server.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

let nameNode: HostileHttpServer;
let dataNode: HostileHttpServer;
beforeAll(async () => {
  nameNode = await HostileHttpServer.start();
  dataNode = await HostileHttpServer.start();
});
afterAll(async () => {
  await nameNode.stop();
  await dataNode.stop();
});

const opened: WebHdfs[] = [];
afterEach(() => {
  for (const webHdfs of opened.splice(0)) webHdfs.close();
});

function open(changes: Partial<WebHdfsOptions> = {}): WebHdfs {
  const webHdfs = new WebHdfs({
    uri: "hdfs://ns/",
    endpoints: [nameNode.address],
    credentials: simpleCredentials({ name: "ada" }),
    connectTimeoutMs: 5000,
    answerTimeoutMs: 5000,
    idleTimeoutMs: 5000,
    failover: { policy: { rounds: 3, firstPauseMs: 0, longestPauseMs: 0 }, sleep: async () => undefined },
    ...changes,
  });
  opened.push(webHdfs);
  return webHdfs;
}

const gateway = { gateway: true };
const lost = bytesThenReset("");
const missing = refusal(404, "FileNotFoundException", "File does not exist");
const place = () => answer(200, { Location: `${dataNode.address}/data` });
const entry = (pathSuffix: string, changes: Readonly<Record<string, unknown>> = {}) => ({
  ...{ accessTime: 1, group: "g", length: 7, modificationTime: 2, owner: "ada", pathSuffix, permission: "644" },
  ...{ type: "FILE", ...changes },
});
const status = (changes: Readonly<Record<string, unknown>> = {}) => answer(200, { FileStatus: entry("", changes) });
const listing = (...entries: readonly unknown[]) => answer(200, { FileStatuses: { FileStatus: entries } });
/** What the NameNode was asked: `PUT /f op=MKDIRS …`, without the user. */
const asked = () => nameNode.requests.map((line) => line.replace("/webhdfs/v1", "").replace(/[?&]user\.name=ada/, ""));

test.each([
  ["hdfs://ns", "hdfs", "ns", -1],
  ["hdfs://nn:8020/", "hdfs", "nn", 8020],
  ["webhdfs://nn:9870", "webhdfs", "nn", 9870],
])("a file of %s is named to YARN by %s, %s and %i", (uri, scheme, host, port) => {
  expect(open({ uri }).resourceUrl("/a b")).toEqual({ scheme, host, port, path: "/a b" });
});

test("a file system is named without a slash at its end", () => {
  expect(open().uri).toBe("hdfs://ns");
});

describe("a status", () => {
  test("has all that the server says", async () => {
    nameNode.behave(status({ permission: "1777", type: "SYMLINK" }));
    expect(await open().stat("/d")).toEqual({
      path: "/d",
      type: "SYMLINK",
      lengthBytes: 7,
      modificationTimeMs: 2,
      accessTimeMs: 1,
      permission: 0o1777,
      owner: "ada",
      group: "g",
    });
  });

  test("may lack an owner, a group and the time of the last access", async () => {
    nameNode.behave(status({ owner: undefined, group: undefined, accessTime: undefined }));
    expect(await open().stat("/d")).toMatchObject({ owner: "", group: "", accessTimeMs: 0 });
  });

  test.each(["type", "length", "modificationTime", "permission", "pathSuffix"])("without %s is none", async (field) => {
    nameNode.behave(status({ [field]: undefined }));
    await expect(open().stat("/d")).rejects.toMatchObject({
      code: "PROTOCOL",
      path: "/d",
      message: expect.stringMatching(/^\/d: the server's file status is not one: \{/),
    });
  });

  test.each(["type", "length", "modificationTime", "permission", "pathSuffix"])(
    "with a wrong %s is none",
    async (field) => {
      nameNode.behave(status({ [field]: false }));
      await expect(open().stat("/d")).rejects.toMatchObject({ code: "PROTOCOL" });
    },
  );
});

describe("a listing", () => {
  test("is sorted by path, whatever the server's order", async () => {
    nameNode.behave(listing(entry("b"), entry("a-1"), entry("a", { type: "DIRECTORY" }), entry("B")));
    expect((await open().list("/d")).map(({ path }) => path)).toEqual(["/d/B", "/d/a", "/d/a-1", "/d/b"]);
  });

  test("of the root has paths with one slash, and that of a file has the file alone", async () => {
    nameNode.behave(listing(entry("a")), listing(entry("")), listing());
    expect((await open().list("/")).map(({ path }) => path)).toEqual(["/a"]);
    expect((await open().list("/f")).map(({ path }) => path)).toEqual(["/f"]);
    expect(await open().list("/empty")).toEqual([]);
  });

  test.each([{}, { FileStatuses: [] }, { FileStatuses: { FileStatus: {} } }, { FileStatuses: { FileStatus: [null] } }])(
    "is not %j",
    async (document) => {
      nameNode.behave(answer(200, document));
      await expect(open().list("/d")).rejects.toMatchObject({ code: "PROTOCOL", path: "/d" });
    },
  );
});

describe("an operation", () => {
  const done = answer(200, { boolean: true });
  const undone = answer(200, { boolean: false });

  test("that sets something names it to the NameNode", async () => {
    nameNode.behave(done);
    const webHdfs = open();
    await webHdfs.mkdirs("/d", 0o750);
    await webHdfs.setPermission("/d", 0o1777);
    await webHdfs.setReplication("/f", 5);
    await webHdfs.setTimes("/f", { modificationTimeMs: 12 });
    await webHdfs.setTimes("/f", { accessTimeMs: 34 });
    await webHdfs.checkWritable("/d");
    expect(asked()).toEqual([
      "PUT /d?op=MKDIRS&permission=750",
      "PUT /d?op=SETPERMISSION&permission=1777",
      "PUT /f?op=SETREPLICATION&replication=5",
      "PUT /f?op=SETTIMES&modificationtime=12&accesstime=-1",
      "PUT /f?op=SETTIMES&modificationtime=-1&accesstime=34",
      "GET /d?op=CHECKACCESS&fsaction=-wx",
    ]);
  });

  test("that the NameNode says it did not do has failed", async () => {
    nameNode.behave(undone);
    await expect(open().mkdirs("/d", 0o750)).rejects.toMatchObject({
      code: "REMOTE",
      operation: "MKDIRS",
      path: "/d",
      message: "MKDIRS /d: the server answered that it did not",
    });
    await expect(open().setReplication("/f", 2)).rejects.toMatchObject({ code: "FILE_NOT_FOUND", path: "/f" });
  });

  test("DELETE takes what is below a folder only where that is wanted, and says whether there was anything", async () => {
    nameNode.behave(done, undone, undone);
    expect(await open().delete("/d", { recursive: true })).toBe(true);
    expect(await open().delete("/d")).toBe(false);
    expect(asked()).toEqual(["DELETE /d?op=DELETE&recursive=true", "DELETE /d?op=DELETE&recursive=false"]);
  });

  test("DELETE that a standby refused has not deleted anything", async () => {
    nameNode.behave(refusal(403, "StandbyException", "not I"), undone);
    expect(await open().delete("/d")).toBe(false);
  });

  test("DELETE whose answer was lost has deleted, whatever is answered after that", async () => {
    nameNode.behave(lost, refusal(403, "StandbyException", "not I"), undone);
    expect(await open().delete("/d")).toBe(true);
  });

  test("that tells something tells it in its own words", async () => {
    nameNode.behave(answer(200, { Path: "/user/ada" }), answer(200, { path: "/x" }));
    expect(await open().homeDirectory()).toBe("/user/ada");
    await expect(open().homeDirectory()).rejects.toMatchObject({
      code: "PROTOCOL",
      operation: "GETHOMEDIRECTORY",
      message: 'GETHOMEDIRECTORY /: unexpected answer {"path":"/x"}',
    });
    expect(asked()).toEqual(["GET /?op=GETHOMEDIRECTORY", "GET /?op=GETHOMEDIRECTORY"]);
  });

  test("with an answer of another kind fails, quoting its start", async () => {
    nameNode.behave(answer(200, { boolean: "x".repeat(300) }), answer(200, ""));
    const message = `DELETE /d: unexpected answer {"boolean":"${"x".repeat(188)}`;
    await expect(open().delete("/d")).rejects.toMatchObject({ code: "PROTOCOL", message });
    await expect(open().delete("/d")).rejects.toMatchObject({ message: "DELETE /d: unexpected answer nothing" });
  });

  test("that is sent elsewhere by a redirect, but no data, has reached no NameNode", async () => {
    nameNode.behave(answer(307, "", [`Location: ${dataNode.address}/other`]));
    await expect(open().stat("/f")).rejects.toMatchObject({ code: "NO_WEBHDFS" });
  });
});

describe("RENAME", () => {
  test("never replaces by accident, and answers by nothing or, at a gateway, by a boolean", async () => {
    nameNode.behave(answer(200, ""), answer(200, ""), answer(200, { boolean: true }), answer(200, { boolean: false }));
    expect(await open().rename("/f", "/g")).toBe(true);
    expect(await open().rename("/f", "/g", { overwrite: true })).toBe(true);
    expect(await open(gateway).rename("/f", "/g", { overwrite: true })).toBe(true);
    expect(await open(gateway).rename("/f", "/g", { overwrite: true })).toBe(false);
    const overwriting = "PUT /f?op=RENAME&destination=%2Fg&renameoptions=OVERWRITE";
    expect(asked()).toEqual([
      "PUT /f?op=RENAME&destination=%2Fg&renameoptions=NONE",
      overwriting,
      overwriting,
      overwriting,
    ]);
  });

  test("behind a gateway, which may ignore its options, is not asked for onto what is there", async () => {
    nameNode.behave(status());
    expect(await open(gateway).rename("/f", "/g")).toBe(false);
    expect(asked()).toEqual(["GET /g?op=GETFILESTATUS"]);
    nameNode.behave(missing, answer(200, { boolean: true }));
    expect(await open(gateway).rename("/f", "/g")).toBe(true);
  });

  test("that is refused for another reason fails", async () => {
    nameNode.behave(refusal(403, "AccessControlException", "no"));
    await expect(open().rename("/f", "/g")).rejects.toMatchObject({ code: "ACCESS_DENIED" });
  });

  test("after whose lost answer neither name is there is sent again", async () => {
    nameNode.behave(lost, missing, missing, missing);
    await expect(open().rename("/f", "/g")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(asked().filter((line) => line.startsWith("PUT"))).toHaveLength(2);
  });
});

describe("CREATE", () => {
  test("of what exists is refused before any data is sent", async () => {
    nameNode.behave(status());
    await expect(open().create("/f", Buffer.from("x"), { permission: 0o600 })).rejects.toMatchObject({
      code: "FILE_EXISTS",
      operation: "CREATE",
      path: "/f",
    });
    expect(asked()).toEqual(["GET /f?op=GETFILESTATUS"]);
  });

  test("sends the data with its length, and nobody's name to the DataNode", async () => {
    let head = "";
    nameNode.behave(missing, place());
    dataNode.behave((socket, request) => {
      head = request;
      answer(201, "")(socket, request);
    });
    await open().create("/f", Buffer.from("abc"), { permission: 0o640 });
    expect(asked()[1]).toBe("PUT /f?op=CREATE&overwrite=false&permission=640&noredirect=true");
    expect(dataNode.requests).toEqual(["PUT /data"]);
    expect(head).toMatch(/content-type: application\/octet-stream\r\n/i);
    expect(head).toMatch(/content-length: 3\r\n/i);
    expect(head).not.toMatch(/expect:/i);
  });

  test("whose answer is lost counts its progress from the start again", async () => {
    nameNode.behave(place());
    dataNode.behave(lost, answer(201, ""));
    const progress: number[] = [];
    await open().create("/f", Buffer.from("abc"), {
      permission: 0o600,
      overwrite: true,
      onProgress: (sentBytes) => progress.push(sentBytes),
    });
    expect(progress).toEqual([3, 3]);
  });

  test("takes the place for the data from each redirect that there is", async () => {
    dataNode.behave(answer(201, ""));
    for (const code of [302, 307, 308]) {
      nameNode.behave(answer(code, "", [`Location: ${dataNode.address}/${code}`]));
      await open().create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true });
    }
    expect(dataNode.requests).toEqual(["PUT /302", "PUT /307", "PUT /308"]);
    nameNode.behave(answer(301, "", [`Location: ${dataNode.address}/301`]));
    await expect(open().create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true })).rejects.toMatchObject({
      code: "NO_WEBHDFS",
    });
  });

  test.each([{}, { Location: 5 }, { Location: "/relative" }, null])(
    "has no place for the data in %j",
    async (document) => {
      nameNode.behave(answer(200, document));
      await expect(open().create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true })).rejects.toMatchObject(
        { code: "PROTOCOL", message: expect.stringContaining("names no place for the data") },
      );
    },
  );

  test("at a gateway that refuses it sends no data", async () => {
    let head = "";
    nameNode.behave((socket, request) => {
      head = request;
      refusal(403, "AccessControlException", "no")(socket, request);
    });
    await expect(
      open(gateway).create("/f", Buffer.from("abc"), { permission: 0o600, overwrite: true }),
    ).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    expect(head).toMatch(/expect: 100-continue\r\n/i);
    expect(head).not.toContain("abc");
  });
});

test("APPEND of unknown length that left another length is OUTCOME_UNKNOWN", async () => {
  nameNode.behave(status({ length: 10 }), place(), status({ length: 13 }));
  dataNode.behave(lost);
  const content = { open: () => Readable.from([Buffer.from("abc")]) };
  await expect(open().append("/f", content)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  expect(asked()[1]).toBe("POST /f?op=APPEND&noredirect=true");
  expect(dataNode.requests).toEqual(["POST /data"]);
});

describe("OPEN", () => {
  test("asks for the part that is wanted", async () => {
    nameNode.behave(place());
    dataNode.behave(answer(200, "part"));
    expect(await text(await open().open("/f"))).toBe("part");
    await text(await open().open("/f", { offset: 3 }));
    await text(await open().open("/f", { lengthBytes: 4 }));
    await text(await open().open("/f", { offset: 3, lengthBytes: 4 }));
    expect(asked()).toEqual([
      "GET /f?op=OPEN&noredirect=true",
      "GET /f?op=OPEN&offset=3&noredirect=true",
      "GET /f?op=OPEN&length=4&noredirect=true",
      "GET /f?op=OPEN&offset=3&length=4&noredirect=true",
    ]);
    expect(dataNode.requests).toEqual(["GET /data", "GET /data", "GET /data", "GET /data"]);
  });

  test("of no bytes asks nobody", async () => {
    nameNode.behave(missing);
    expect(await text(await open().open("/f", { lengthBytes: 0 }))).toBe("");
    expect(asked()).toEqual([]);
  });

  test("at the end of a file, which the NameNode refuses, gives nothing; before it, the refusal", async () => {
    const beyond = refusal(403, "IOException", "Offset=7 out of the range [0, 7)");
    nameNode.behave(beyond, status());
    expect(await text(await open().open("/f", { offset: 7 }))).toBe("");
    nameNode.behave(beyond, status());
    await expect(open().open("/f", { offset: 6 })).rejects.toMatchObject({ code: "REMOTE" });
    nameNode.behave(beyond, status({ length: 0 }));
    await expect(open().open("/f")).rejects.toMatchObject({ code: "REMOTE" });
    nameNode.behave(missing, status());
    await expect(open().open("/f", { offset: 7 })).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  test("passes over every DataNode that cannot be reached", async () => {
    const server = createServer();
    await listenLocally(server);
    const port = localAddress(server).split(":")[1];
    await new Promise((resolve) => server.close(resolve));
    const away = (host: string) => answer(200, { Location: `http://${host}:${port}/x` });
    nameNode.behave(away("127.0.0.1"), away("localhost"), place());
    dataNode.behave(answer(200, "data"));
    expect(await text(await open().open("/f"))).toBe("data");
    expect(asked().map((line) => /&excludedatanodes=(.*?)&/.exec(line)?.[1])).toEqual([
      undefined,
      "127.0.0.1",
      "127.0.0.1%2Clocalhost",
    ]);
  });

  test("of unknown length that breaks off is not taken up", async () => {
    nameNode.behave(place());
    dataNode.behave(bytesThenReset("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"));
    const stream = await open().open("/f");
    await expect(text(stream)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(dataNode.requests).toHaveLength(1);
  });

  test("that breaks off before its first byte is not taken up", async () => {
    nameNode.behave(place());
    dataNode.behave(bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"));
    const stream = await open().open("/f");
    await expect(text(stream)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(dataNode.requests).toHaveLength(1);
  });

  test("of which the rest has gone meanwhile fails as it broke off", async () => {
    nameNode.behave(place(), missing);
    dataNode.behave(bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"));
    const stream = await open().open("/f");
    await expect(text(stream)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("through a gateway follows its redirect without naming anybody there", async () => {
    nameNode.behave(answer(307, "", ["Location: /elsewhere?x=1"]), answer(200, "redirected"));
    expect(await text(await open(gateway).open("/f"))).toBe("redirected");
    expect(nameNode.requests).toEqual(["GET /webhdfs/v1/f?op=OPEN&user.name=ada", "GET /elsewhere?x=1"]);
  });
});

test("file data may take longer to come than answers", async () => {
  const impatient = { answerTimeoutMs: 50, idleTimeoutMs: 150 };
  nameNode.behave(silence);
  await expect(open(impatient).stat("/f")).rejects.toThrow("was silent for 0.05 s");
  nameNode.behave(place());
  dataNode.behave(silence);
  await expect(open(impatient).open("/f")).rejects.toThrow("was silent for 0.15 s");
  await expect(open(impatient).create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true })).rejects.toThrow(
    "was silent for 0.15 s",
  );
});

test("a caller that gives up ends reading and appending", async () => {
  const caller = new AbortController();
  const { signal } = caller;
  const giveUp = () => caller.abort();
  nameNode.behave(status(), giveUp);
  await expect(open().append("/f", Buffer.from("x"), { signal })).rejects.toMatchObject({ name: "AbortError" });
  nameNode.behave(silence);
  await expect(open().open("/f", { signal })).rejects.toMatchObject({ name: "AbortError" });
});

test("a connection is kept from one upload to the next, until the file system is closed", async () => {
  const sockets = new Set<Socket>();
  const closed = deferred();
  nameNode.behave(place());
  dataNode.behave((socket, request) => {
    sockets.add(socket.once("close", closed.resolve));
    answer(201, "said by some")(socket, request);
  });
  const webHdfs = open();
  for (let time = 0; time < 2; time += 1)
    await webHdfs.create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true });
  expect(sockets.size).toBe(1);
  webHdfs.close();
  await closed.promise;
});

test("what fails before or beside the server says so", async () => {
  const cause = new AuthenticationError("no ticket", { code: "KERBEROS_NO_TICKET" });
  const credentials = { ...simpleCredentials({ name: "ada" }), forHttp: () => Promise.reject(cause) };
  await expect(open({ credentials }).stat("/f")).rejects.toMatchObject({
    ...{ name: "FileSystemError", code: "AUTHENTICATION_FAILED", operation: "GETFILESTATUS", path: "/f", cause },
    message: "GETFILESTATUS /f: no ticket",
  });
  nameNode.behave(place());
  dataNode.behave(silence);
  const unreadable = { open: () => new Readable({ read: () => undefined }).destroy(new Error("disk gone")) };
  await expect(open().create("/f", unreadable, { permission: 0o600, overwrite: true })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    retryable: false,
    message: expect.stringMatching(/disk gone$/),
  });
});

test("a server that is starting may be asked later, and one that was lost is not said to be away", async () => {
  nameNode.behave(answer(503, ""));
  await expect(open().stat("/f")).rejects.toMatchObject({ code: "NOT_READY", retryable: true });
  nameNode.behave(lost);
  await expect(open().stat("/f")).rejects.toMatchObject({
    ...{ code: "CONNECTION_LOST", retryable: true },
    message: expect.not.stringContaining("is HDFS running"),
  });
});

describe("credentials that are refused", () => {
  test("are shown once more, where there are newer ones", async () => {
    let renewals = 0;
    const credentials = {
      ...simpleCredentials({ name: "ada" }),
      renewed: async () => {
        renewals += 1;
        return renewals === 1;
      },
    };
    const invalid = refusal(403, "InvalidToken", "token (…) can't be found in cache");
    nameNode.behave(invalid, status());
    expect(await open({ credentials }).stat("/f")).toMatchObject({ lengthBytes: 7 });
    nameNode.behave(invalid);
    await expect(open({ credentials }).stat("/f")).rejects.toMatchObject({ code: "AUTHENTICATION_FAILED" });
    expect(asked()).toHaveLength(1);
    nameNode.behave(refusal(403, "AccessControlException", "no"));
    await expect(open({ credentials }).stat("/f")).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    expect(renewals).toBe(2);
  });
});
