import { createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { WebHdfs } from "../../../src/hadoop/hdfs/webhdfs.ts";
import { WebHdfsConnection } from "../../../src/hadoop/hdfs/webhdfs-connection.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import {
  answer,
  bytesThenEnd,
  bytesThenReset,
  HostileHttpServer,
  refusal,
  silence,
} from "../../support/hostile-http-server.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

// Silent servers are waited for, some of them twice.

const status = (lengthBytes: number) => ({
  FileStatus: {
    accessTime: 1,
    group: "g",
    length: lengthBytes,
    modificationTime: 2,
    owner: "ada",
    pathSuffix: "",
    permission: "644",
    type: "FILE",
  },
});
const missing = refusal(404, "FileNotFoundException", "File does not exist: /f");
const lost = bytesThenReset("");

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

const pauses: number[] = [];
const files: WebHdfs[] = [];
beforeEach(() => {
  pauses.length = 0;
});
afterEach(() => {
  for (const file of files.splice(0)) file.close();
});

function open(endpoints: readonly string[] = [nameNode.address], gateway = false, idleTimeoutMs = 1000): WebHdfs {
  const webHdfs = new WebHdfs({
    uri: "hdfs://ns",
    endpoints,
    gateway,
    credentials: simpleCredentials({ name: "ada" }),
    connectTimeoutMs: 5000,
    answerTimeoutMs: 1000,
    idleTimeoutMs,
    failover: {
      policy: { rounds: 3, firstPauseMs: 100, longestPauseMs: 150 },
      random: () => 0.5,
      sleep: async (ms) => pauses.push(ms),
    },
  });
  files.push(webHdfs);
  return webHdfs;
}

/** An address where nobody listens. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await listenLocally(server);
  const address = localAddress(server);
  await new Promise((resolve) => server.close(resolve));
  return `http://${address}`;
}

const operations = () => nameNode.requests.map((line) => /op=([A-Z]+)/.exec(line)?.[1]);

test("a request carries the operation, the user and the path escaped part by part", async () => {
  nameNode.behave(answer(200, status(1)));
  await open().stat("/a b/%41+ü/dt=1,2&3@4$5;%3D");
  expect(nameNode.requests).toEqual([
    "GET /webhdfs/v1/a%20b/%2541%2B%C3%BC/dt=1,2&3@4$5%3B%253D?op=GETFILESTATUS&user.name=ada",
  ]);
});

describe("a block", () => {
  const node = { hostName: "dn7", ipAddr: "10.0.0.7", xferPort: 9866 };
  const located = (...blocks: readonly object[]) =>
    JSON.stringify({ LocatedBlocks: { fileLength: 9, isUnderConstruction: true, locatedBlocks: blocks } });

  test("is at the names and addresses of its DataNodes; an empty file has none", async () => {
    nameNode.behave(answer(200, located({ startOffset: 0, locations: [node] })), answer(200, located()));
    expect(await open().blockAt("/f", 5)).toEqual({ isBeingWritten: true, hosts: ["dn7", "10.0.0.7"] });
    expect(nameNode.requests.at(-1)).toContain("op=GET_BLOCK_LOCATIONS&offset=5&length=1");
    expect(await open().blockAt("/f")).toEqual({ isBeingWritten: true, hosts: [] });
  });

  test("is not looked for behind a gateway, and what is no answer is refused", async () => {
    nameNode.behave(answer(200, "{}"));
    expect(await open([nameNode.address], true).blockAt("/f")).toEqual({ isBeingWritten: false, hosts: [] });
    await expect(open().blockAt("/f")).rejects.toMatchObject({ code: "PROTOCOL" });
  });
});

describe("refusals", () => {
  test.each([
    [404, "FileNotFoundException", "File does not exist: /f", "FILE_NOT_FOUND", "File does not exist: /f"],
    [403, "SafeModeException", "Cannot create", "SAFE_MODE", "leaves safe mode"],
    [
      403,
      "RetriableException",
      "SafeModeException: Name node is in safe mode.",
      "SAFE_MODE",
      "mode; the NameNode takes",
    ],
    [403, "DSQuotaExceededException", "The DiskSpace quota", "QUOTA_EXCEEDED", "hdfs dfs -count -q"],
    [403, "AlreadyBeingCreatedException", "held", "LEASE_HELD", "held"],
    [403, "IOException", "File /f could only be written to 0 of the 1", "NO_SPACE", "hdfs dfsadmin -report"],
    [403, "IOException", "something new\n\tat java", "REMOTE", "IOException: something new"],
    [
      403,
      "AccessControlException",
      'Permission denied: user=ada, access=WRITE, inode="/user":hdfs:supergroup:drwxr-xr-x',
      "ACCESS_DENIED",
      "hdfs, who owns /user, or an administrator can give ada write access there",
    ],
  ])("HTTP %i %s %j is %s with a way to mend it", async (httpStatus, exception, message, code, said) => {
    nameNode.behave(refusal(httpStatus, exception, message));
    const error = await open()
      .mkdirs("/f", 0o700)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, operation: "MKDIRS", path: "/f", message: expect.stringContaining(said) });
    expect(String(error)).not.toContain("\tat java");
    expect(nameNode.requests).toHaveLength(1);
  });

  test("a page that is no WebHDFS answer is told apart from a refusal", async () => {
    nameNode.behave(answer(404, "<html>Not Found</html>"));
    await expect(open().stat("/f")).rejects.toMatchObject({
      code: "NO_WEBHDFS",
      message: expect.stringMatching(
        /answered HTTP 404 and no WebHDFS error; is http:\S+ a NameNode's web address .*, and WebHDFS on there \(dfs\.webhdfs\.enabled\)/,
      ),
    });
  });

  test("a server that wants a sign-in is AUTHENTICATION_FAILED", async () => {
    nameNode.behave(answer(401, "", ["WWW-Authenticate: Negotiate"]));
    await expect(open().stat("/f")).rejects.toMatchObject({ code: "AUTHENTICATION_FAILED" });
  });
});

describe("a hostile server", () => {
  const head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";

  test.each([
    ["closes at once", bytesThenEnd(""), "CONNECTION_LOST"],
    ["resets at once", lost, "CONNECTION_LOST"],
    ["cuts its body short", bytesThenEnd(`${head}{"Fi`), "CONNECTION_LOST"],
    ["resets in the middle of its body", bytesThenReset(`${head}{"Fi`), "CONNECTION_LOST"],
    [
      "stops in the middle of its body",
      (socket: { write(text: string): unknown }) => socket.write(`${head}{`),
      "TIMEOUT",
    ],
    ["does not speak HTTP", bytesThenEnd("SSH-2.0-OpenSSH_9.2\r\n"), "PROTOCOL"],
    ["answers with broken JSON", answer(200, '{"FileStatus":'), "PROTOCOL"],
    ["answers with other JSON", answer(200, [1, 2]), "PROTOCOL"],
    ["answers with a status of wrong types", answer(200, { FileStatus: { length: "1" } }), "PROTOCOL"],
    ["is starting", answer(503, "later"), "NOT_READY"],
  ] as const)("that %s gives an error, never a hang", async (_, behaviour, code) => {
    nameNode.behave(behaviour);
    await expect(open().stat("/f")).rejects.toMatchObject({ name: "FileSystemError", code });
  });

  test("that stays silent is asked once more only, because each time takes the whole timeout", async () => {
    nameNode.behave(silence);
    await expect(open().stat("/f")).rejects.toMatchObject({ name: "FileSystemError", code: "TIMEOUT" });
    expect(nameNode.requests).toHaveLength(2);
  });

  test("is asked again for what is harmless to repeat, with growing pauses", async () => {
    nameNode.behave(lost, answer(503, ""), answer(200, status(7)));
    expect((await open().stat("/f")).lengthBytes).toBe(7);
    expect(pauses).toEqual([75, 113]);
  });
});

test("a folder has as many entries as its server says; of a file it says nothing of the kind", async () => {
  const { FileStatus: file } = status(7);
  nameNode.behave(
    answer(200, { FileStatus: { ...file, type: "DIRECTORY", childrenNum: 3 } }),
    answer(200, { FileStatus: { ...file, childrenNum: 0 } }),
  );
  expect(await open().stat("/d")).toMatchObject({ type: "DIRECTORY", entries: 3 });
  expect(await open().stat("/f")).not.toHaveProperty("entries");
});

describe("several NameNodes", () => {
  test("the one that is standby or away is passed over, and the one that answered is asked first from then on", async () => {
    const standby = await HostileHttpServer.start();
    standby.behave(refusal(403, "StandbyException", "Operation category READ is not supported in state standby"));
    nameNode.behave(answer(200, status(1)));
    const webHdfs = open([await closedAddress(), standby.address, nameNode.address]);
    await webHdfs.stat("/f");
    await webHdfs.stat("/f");
    expect([standby.requests.length, nameNode.requests.length, pauses]).toEqual([1, 2, []]);
    await standby.stop();
  });

  test("none of them there is UNREACHABLE after the rounds of the policy", async () => {
    await expect(open([await closedAddress(), await closedAddress()]).stat("/f")).rejects.toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringMatching(/ECONNREFUSED.*is HDFS running, .*dfs\.namenode\.http-address/),
      retryable: true,
    });
    expect(pauses).toHaveLength(2);
  });
});

test("what is in the way of a RENAME is an error only where it was to be replaced", async () => {
  nameNode.behave(refusal(403, "FileAlreadyExistsException", "rename destination /g already exists"));
  expect(await open().rename("/f", "/g")).toBe(false);
  await expect(open().rename("/f", "/g", { overwrite: true })).rejects.toMatchObject({ code: "FILE_EXISTS" });
});

describe("after a lost answer", () => {
  test("RENAME that took place is not sent again", async () => {
    nameNode.behave(lost, missing, answer(200, status(1)));
    expect(await open().rename("/f", "/g")).toBe(true);
    expect(operations()).toEqual(["RENAME", "GETFILESTATUS", "GETFILESTATUS"]);
  });

  test.each([502, 504])("of which a proxy says HTTP %d, RENAME that took place is not sent again", async (code) => {
    nameNode.behave(answer(code, ""), missing, answer(200, status(1)));
    expect(await open().rename("/f", "/g")).toBe(true);
    expect(operations()).toEqual(["RENAME", "GETFILESTATUS", "GETFILESTATUS"]);
  });

  test("RENAME that did not take place is sent again", async () => {
    nameNode.behave(lost, answer(200, status(1)), answer(200, ""));
    expect(await open().rename("/f", "/g")).toBe(true);
    expect(operations()).toEqual(["RENAME", "GETFILESTATUS", "RENAME"]);
  });

  test("RENAME whose answer is lost each time is given up after four tries, of which none took place", async () => {
    nameNode.behave(
      ...Array(4)
        .fill([lost, answer(200, status(1))])
        .flat(),
    );
    await expect(open().rename("/f", "/g")).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    expect(operations().filter((operation) => operation === "RENAME")).toHaveLength(4);
  });

  test("DELETE says true although the second time there was nothing left", async () => {
    nameNode.behave(lost, answer(200, { boolean: false }));
    expect(await open().delete("/f")).toBe(true);
  });

  const place = () => answer(200, { Location: `${dataNode.address}/webhdfs/v1/f?op=X` });

  test("APPEND of known length that took place is not sent again", async () => {
    nameNode.behave(answer(200, status(10)), place(), answer(200, status(13)));
    dataNode.behave(lost);
    await open().append("/f", Buffer.from("abc"));
    expect(dataNode.requests).toHaveLength(1);
  });

  test.each([12, 9])(
    "APPEND that left neither all of its data nor none is OUTCOME_UNKNOWN: %i bytes",
    async (found) => {
      nameNode.behave(answer(200, status(10)), place(), answer(200, status(found)));
      dataNode.behave(lost);
      await expect(open().append("/f", Buffer.from("abc"))).rejects.toMatchObject({
        code: "OUTCOME_UNKNOWN",
        message: expect.stringContaining(`had 10 bytes and has ${found}`),
      });
    },
  );

  test("APPEND that did not take place is sent again", async () => {
    nameNode.behave(answer(200, status(10)), place(), answer(200, status(10)), place());
    dataNode.behave(lost, answer(200, ""));
    await open().append("/f", Buffer.from("abc"));
    expect(dataNode.requests).toHaveLength(2);
  });

  test("an exclusive CREATE looks: whole is done, in part is OUTCOME_UNKNOWN, absent is sent again", async () => {
    const create = () => open().create("/f", Buffer.from("abc"), { permission: 0o600 });
    nameNode.behave(missing, place(), answer(200, status(3)));
    dataNode.behave(lost);
    await create();
    nameNode.behave(missing, place(), answer(200, status(1)));
    await expect(create()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    nameNode.behave(missing, place(), missing, place());
    dataNode.behave(lost, answer(201, ""));
    await create();
    expect(dataNode.requests).toHaveLength(2);
  });

  test("a CREATE that overwrites starts again with a new stream", async () => {
    nameNode.behave(place());
    dataNode.behave(lost, answer(201, ""));
    let opened = 0;
    const content = {
      lengthBytes: 3,
      open: () => {
        opened += 1;
        return Readable.from([Buffer.from("abc")]);
      },
    };
    await open().create("/f", content, { permission: 0o600, overwrite: true });
    expect(opened).toBe(2);
  });
});

describe("the data", () => {
  const place = (path = "/webhdfs/v1/f?op=X") => answer(200, { Location: `${dataNode.address}${path}` });

  test("goes to the place the NameNode names, the redirect in the body or, from old servers, in the header", async () => {
    dataNode.behave(answer(201, ""));
    nameNode.behave(place("/one"), answer(307, "", [`Location: ${dataNode.address}/two`]));
    await open().create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true });
    await open().create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true });
    expect(dataNode.requests).toEqual(["PUT /one", "PUT /two"]);
    expect(nameNode.requests[0]).toContain("noredirect=true");
    expect(nameNode.requests[0]).toContain("permission=600");
  });

  test("a DataNode that cannot be reached is named to the NameNode, which chooses another", async () => {
    const closed = await closedAddress();
    nameNode.behave(answer(200, { Location: `${closed}/x` }), place());
    dataNode.behave(answer(201, ""));
    await open().create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true });
    expect(nameNode.requests[1]).toContain("excludedatanodes=127.0.0.1");
    nameNode.behave(answer(200, { Location: `${closed}/x` }));
    await expect(open().open("/f")).rejects.toMatchObject({
      code: "DATANODE_UNREACHABLE",
      message: expect.stringMatching(
        /^OPEN \/f: DataNode 127\.0\.0\.1:\d+ cannot be reached: .*must reach the web address/,
      ),
    });
  });

  test.each(["ftp://dn/f", "file:///etc/passwd", "javascript:alert(1)"])(
    "a place that is no web address is not gone to: %s",
    async (location) => {
      nameNode.behave(answer(200, { Location: location }));
      await expect(open().open("/f")).rejects.toMatchObject({ code: "PROTOCOL" });
      nameNode.behave(answer(307, "", [`Location: ${location}`]));
      await expect(open([nameNode.address], true).open("/f")).rejects.toMatchObject({ code: "PROTOCOL" });
    },
  );

  test("never goes from https to http, nor does the token", () => {
    const connection = new WebHdfsConnection({
      tokenService: undefined,
      credentials: simpleCredentials({ name: "ada" }),
      connectTimeoutMs: 5000,
      answerTimeoutMs: 1000,
      idleTimeoutMs: 1000,
    });
    const request = { method: "GET", operation: "OPEN", path: "/f" } as const;
    const redirected = (location: string, asked: string) =>
      connection.redirectUrl(location, new URL(asked), request).href;
    const token = "/webhdfs/v1/f?op=OPEN&delegation=secret";
    expect(() => redirected(`http://dn:9864${token}`, "https://nn:9871/")).toThrow(
      /^OPEN \/f: nn:9871 sends the data from https:\/\/ to http:.*dfs\.http\.policy=HTTPS_ONLY/,
    );
    expect(() => redirected(`http://dn:9864${token}`, "https://nn:9871/")).not.toThrow(/secret/);
    expect(() => redirected("ftp://dn/f?delegation=secret", "http://nn:9870/")).not.toThrow(/secret/);
    expect(() => redirected("//dn:9864/f", "https://nn:9871/")).not.toThrow();
    expect(redirected(`https://dn:9865${token}`, "http://nn:9870/")).toBe(`https://dn:9865${token}`);
    expect(redirected("/data", "https://gate/x")).toBe("https://gate/data");
    connection.close();
  });

  test("a place that is none is a PROTOCOL error, which does not repeat a token", async () => {
    nameNode.behave(answer(200, { Location: "not a url?delegation=secret" }));
    await expect(open().open("/f")).rejects.toMatchObject({
      code: "PROTOCOL",
      message: expect.not.stringContaining("secret"),
    });
  });

  test.each([
    ["breaks off", bytesThenEnd],
    ["stalls", (bytes: string) => (socket: { write(text: string): unknown }) => socket.write(bytes)],
  ])("a download that %s is taken up where it did", async (_what, breaking) => {
    nameNode.behave(place());
    dataNode.behave(breaking("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"));
    const stream = await open().open("/f", { offset: 3 });
    dataNode.behave(bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n half"));

    expect(await text(stream)).toBe("first half");
    expect(nameNode.requests.at(-1)).toMatch(/offset=8&length=5/);
  });

  test("a download that breaks off twice is taken up each time where it did", async () => {
    nameNode.behave(place());
    dataNode.behave(bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"));
    const stream = await open().open("/f", { offset: 3 });
    dataNode.behave(
      bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n h"),
      bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nalf"),
    );
    expect(await text(stream)).toBe("first half");
    expect(nameNode.requests.at(-1)).toMatch(/offset=10&length=3/);
  });

  test("a download is not continued in a file that is not as long as it was", async () => {
    nameNode.behave(place());
    dataNode.behave(bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"));
    const stream = await open().open("/f");
    dataNode.behave(bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalf"));
    await expect(text(stream)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  });

  test("a download that nobody wants any more, or that cannot be continued, gives up its connection", async () => {
    nameNode.behave(place());
    const patient = open([nameNode.address], false, 60_000);
    const begun = (lengthBytes: number) =>
      new Promise<void>((closed) => {
        dataNode.behave((socket) => {
          socket.once("close", () => closed());
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${lengthBytes}\r\n\r\nha`);
        });
      });
    const dropped = begun(10);
    (await patient.open("/f")).destroy();
    await dropped;

    dataNode.behave(bytesThenEnd("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"));
    const stream = await patient.open("/f");
    const shorter = begun(4);
    await expect(text(stream)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    await shorter;
  }, 10_000);

  test("a download that breaks off or stalls fails its stream", async () => {
    const head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    nameNode.behave(place());
    for (const [behaviour, code] of [
      [bytesThenEnd(head), "CONNECTION_LOST"],
      [bytesThenReset(head), "CONNECTION_LOST"],
      [(socket: { write(text: string): unknown }) => socket.write(head), "TIMEOUT"],
    ] as const) {
      dataNode.behave(behaviour);
      await expect(open().open("/f").then(text)).rejects.toMatchObject({ name: "FileSystemError", code });
    }
  });

  test("an upload that the server does not take fails by the idle time", async () => {
    nameNode.behave(place());
    dataNode.behave((socket) => socket.pause());
    const content = { open: () => Readable.from(endless()) };
    const impatient = open([nameNode.address], false, 100);
    await expect(impatient.create("/f", content, { permission: 0o600, overwrite: true })).rejects.toMatchObject({
      code: "TIMEOUT",
    });
  });

  test("a source shorter than it said fails at once", async () => {
    nameNode.behave(place());
    dataNode.behave(silence);
    const content = { lengthBytes: 10, open: () => Readable.from([Buffer.from("short")]) };
    await expect(open().create("/f", content, { permission: 0o600, overwrite: true })).rejects.toMatchObject({
      code: "FILE_CHANGED",
      message: expect.stringContaining("it changed while it was read"),
    });
  });

  test("a refusal in the middle of an upload is the error", async () => {
    nameNode.behave(place());
    dataNode.behave(refusal(403, "DSQuotaExceededException", "The DiskSpace quota of /f is exceeded"));
    const content = { open: () => Readable.from(endless()) };
    await expect(open().create("/f", content, { permission: 0o600, overwrite: true })).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
    });
  });

  test("a caller's abort ends an upload", async () => {
    nameNode.behave(place());
    dataNode.behave(silence);
    const abort = new AbortController();
    const content = { open: () => Readable.from(endless()) };
    const upload = open().create("/f", content, {
      permission: 0o600,
      overwrite: true,
      signal: abort.signal,
      onProgress: () => abort.abort(),
    });
    await expect(upload).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("a gateway", () => {
  test("that takes data itself gets it after it asked", async () => {
    let body = "";
    nameNode.behave((socket) => {
      socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      socket.on("data", (chunk) => {
        body += chunk;
        socket.end("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
      });
    });
    await open([`${nameNode.address}/gateway/default`], true).create("/f", Buffer.from("abc"), {
      permission: 0o600,
      overwrite: true,
    });
    expect(body).toBe("abc");
    expect(nameNode.requests).toEqual([
      "PUT /gateway/default/webhdfs/v1/f?op=CREATE&overwrite=true&permission=600&data=true&user.name=ada",
    ]);
  });

  test("that redirects to itself gets the data there, once", async () => {
    nameNode.behave(answer(307, "", ["Location: /gateway/data?f"]), answer(201, ""));
    await open([nameNode.address], true).create("/f", Buffer.from("abc"), { permission: 0o600, overwrite: true });
    expect(nameNode.requests[1]).toBe("PUT /gateway/data?f");
  });

  test("serves files directly or by a redirect", async () => {
    nameNode.behave(answer(200, "direct"), answer(307, "", ["Location: /elsewhere"]), answer(200, "redirected"));
    const webHdfs = open([nameNode.address], true);
    expect([await text(await webHdfs.open("/f")), await text(await webHdfs.open("/f"))]).toEqual([
      "direct",
      "redirected",
    ]);
  });
});

describe("an answer that has no end", () => {
  const endlessly = (head: string) => (socket: Socket) => {
    socket.write(head);
    Readable.from(endless())
      .on("error", () => undefined)
      .pipe(socket);
  };

  test("is read no further than a refusal can be long", async () => {
    nameNode.behave(endlessly("HTTP/1.1 403 No\r\nContent-Length: 99999999999\r\n\r\n"));
    await expect(open().stat("/f")).rejects.toMatchObject({ code: "NO_WEBHDFS" });
  });

  test("nor where it says where the data is, or that the data has come", async () => {
    const head = "Content-Length: 99999999999\r\n\r\n";
    nameNode.behave(endlessly(`HTTP/1.1 307 There\r\nLocation: ${dataNode.address}/f\r\n${head}`));
    dataNode.behave(endlessly(`HTTP/1.1 201 Created\r\n${head}`));
    await expect(
      open().create("/f", Buffer.from("x"), { permission: 0o600, overwrite: true }),
    ).resolves.toBeUndefined();
    expect(dataNode.requests).toEqual(["PUT /f"]);
  });
});

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536);
}
