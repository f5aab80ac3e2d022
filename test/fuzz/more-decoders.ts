import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { readStoreFile } from "../../am/core/store/store-file.ts";
import { parseLoginRequest } from "../../am/keytab/login-request.ts";
import { parseJobStatus } from "../../client/applications/outcome.ts";
import { nameNodeOf, resourceManagerOf, schedulerOf } from "../../client/cluster/findings.ts";
import { ownWords } from "../../client/logs/log-printer.ts";
import { migrateFlowDocument } from "../../client/migration/azkaban-flow.ts";
import { readDocument } from "../../client/migration/skein/document.ts";
import { readElf } from "../../client/shipping/elf.ts";
import { tarHeader } from "../../client/shipping/packing/tar.ts";
import { ProgressFile } from "../../executor/monitoring/progress-file.ts";
import { unpackTar } from "../../executor/preparation/unpack-tar.ts";
import { parseStat } from "../../executor/processes/proc-fs.ts";
import { untar } from "../../src/archives/untar.ts";
import { rendezvousStore } from "../../src/frameworks/rendezvous-store.ts";
import { parseBooleanAnswer, parsePathAnswer, parseRenameAnswer } from "../../src/hadoop/hdfs/webhdfs-answers.ts";
import { tokenInAnswer } from "../../src/hadoop/http/delegation-token.ts";
import { quoted } from "../../src/hadoop/http/exchange.ts";
import { kerberosError } from "../../src/hadoop/security/kerberos/kerberos-trouble.ts";
import { Negotiate, SignedCookies } from "../../src/hadoop/security/kerberos/negotiate.ts";
import { ticketServer } from "../../src/hadoop/security/kerberos/spnego.ts";
import { Gssapi } from "../../src/hadoop/security/sasl/gssapi.ts";
import { trustedInStore } from "../../src/hadoop/security/tls/trusted-certificates.ts";
import { parseContainerDiagnostics } from "../../src/job/diagnosis/container-diagnostics.ts";
import { parseProbeReport } from "../../src/job/launch/probe.ts";
import { parseManifest } from "../../src/job/stored/carried-lists.ts";
import { parseTcpTable } from "../../src/tcp-sockets.ts";
import { aJobStatus } from "../client/job-status.ts";
import { elfHeader } from "../support/elf-header.ts";
import { ScriptedGss } from "../support/scripted-gss.ts";
import { firstToken } from "../support/spnego-token.ts";
import { afterJson, type Decoder, json, utf8 } from "./fuzz.ts";

function text(name: string, decode: (text: string) => unknown, ...seeds: readonly string[]): Decoder {
  return { name, seeds: seeds.map((seed) => Buffer.from(seed)), decode: (bytes) => decode(utf8(bytes)) };
}

/** What reads a file by its name. */
function inFile(read: (file: string) => unknown): Decoder["decode"] {
  const file = path.join(tmpdir(), `tony-fuzz-${process.pid}`);
  return async (bytes) => {
    try {
      writeFileSync(file, bytes);
      return await read(file);
    } finally {
      rmSync(file);
    }
  };
}

/** What unpacks an archive into a folder, which is removed with all that is in it. */
function unpacked(unpack: (archive: string, folder: string) => Promise<void>): (bytes: Uint8Array) => Promise<void> {
  return async (bytes) => {
    const home = mkdtempSync(path.join(tmpdir(), "tony-fuzz-"));
    try {
      const archive = path.join(home, "a.tar");
      writeFileSync(archive, bytes);
      const folder = path.join(home, "in", "to");
      mkdirSync(folder, { recursive: true });
      await unpack(archive, folder);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  };
}

const scripted = () => new ScriptedGss({ principal: "ada@E" });

/** A web server's two answers to a ticket: what it asks for, and what it proves itself with. */
async function negotiated(headers: string): Promise<void> {
  const [challenge = "", proof = "", cookie = ""] = headers.split("\n");
  const gss = scripted();
  const negotiate = new Negotiate({
    url: new URL("https://nn:9871/"),
    cookies: new SignedCookies(),
    actFor: undefined,
    mayBeOpen: false,
    explain: (cause) => kerberosError(cause, {}),
    spnego: async () => async (host) => gss.initiate(await gss.acquire(undefined), "spnego", `HTTP/${host}@E`),
  });
  await negotiate.respond([challenge]);
  await negotiate.complete({ "www-authenticate": proof, "set-cookie": [cookie] }, 200);
}

/** The SASL messages after the tickets, whose bytes the server chooses. */
async function layered(bytes: Uint8Array): Promise<void> {
  const gss = scripted();
  const mechanism = new Gssapi(gss.initiate(await gss.acquire(undefined), "krb5", "rm/h@E"), { attempt: {} });
  await mechanism.respond(new Uint8Array());
  await mechanism.respond(Buffer.from("rm/h@E it is"));
  await mechanism.respond(bytes.subarray(0, 6));
  mechanism.complete()?.unwrap(bytes.subarray(6));
}

/** One request, as an HTTP server hands it over: method and address in the first line, the body behind it. */
function asked(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  bytes: Uint8Array,
): Promise<void> {
  const [line = "", ...body] = utf8(bytes).split("\n");
  const [method, url] = line.split(" ");
  const stream = Readable.from([Buffer.from(body.join("\n"))], { objectMode: false });
  const request = Object.assign(stream, { method, url, headers: {}, complete: true });
  return new Promise((resolve) => {
    const response = { req: request, writeHead: () => response, end: () => resolve(), destroy: () => resolve() };
    Reflect.apply(listener, undefined, [request, response]);
  });
}

const sockets = [
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
  "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12345 1",
  "   1: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 0A 0:0 0:0 0  1000 0 1 1",
].join("\n");
const store = (name: string) => readFileSync(`test/fixtures/trust-stores/${name}`);
const tar = Buffer.concat([
  tarHeader({ type: "directory", path: "bin", mode: 0o755, modificationTimeSeconds: 1 }),
  tarHeader({ type: "file", path: `bin/${"r".repeat(120)}`, mode: 0o755, modificationTimeSeconds: 1, sizeBytes: 3 }),
  Buffer.from("run".padEnd(512, "\0")),
  tarHeader({ type: "symlink", path: "link", target: "bin", mode: 0o777, modificationTimeSeconds: 1 }),
  Buffer.alloc(1_024),
]);
const flow = "nodes:\n  - name: train\n    type: TonYJob\n    config:\n      tony.worker.instances: 2 # two\n";
const skein = "name: a\nservices: &s\n  w: {instances: 2, script: 'x'}\nmaster: {<<: *s}\n";

/** Readers of web servers, Kerberos, trust stores, and of what programs and people write. */
export const moreDecoders: readonly Decoder[] = [
  {
    name: "Kerberos tickets",
    seeds: [firstToken("HTTP", "nn.example.com")],
    decode: (bytes) => ticketServer(Buffer.from(bytes)),
    refusals: ["RangeError"],
  },
  text(
    "what web servers ask for and prove themselves with",
    negotiated,
    `Negotiate\nNegotiate ${Buffer.from("HTTP/nn@E it is").toString("base64")}\nhadoop.auth="u=ada&s=x"; Path=/`,
    "Basic realm=x, Negotiate YWJj\n\n",
  ),
  { name: "SASL by Kerberos", seeds: [Buffer.from([0, 0, 7, 1, 0, 0, 1, 1, 5])], decode: layered },
  {
    name: "trust stores",
    seeds: ["store.jks", "plain.p12", "store.p12"].map(store),
    decode: (bytes) => trustedInStore(Buffer.from(bytes), "store", undefined),
  },
  text("words of servers", quoted, '{"Token":{"urlString":"HgAF"}} http://dn:9864/x?op=OPEN&delegation=HgAF'),
  afterJson("delegation tokens of web servers", (document) => tokenInAnswer(document, "kms"), {
    Token: { urlString: "HQAFYWxpY2UEeWFybgCKAaITcqCFigGiN38khQECFAvRTqdL8hqlkM_ku28siKdXDxnvBmttcy1kdAA" },
  }),
  afterJson(
    "WebHDFS' short answers",
    (document) => {
      parseRenameAnswer(document);
      const operation = { operation: "MKDIRS", path: "/f" } as const;
      return "Path" in Object(document)
        ? parsePathAnswer(document, operation)
        : parseBooleanAnswer(document, operation);
    },
    { boolean: true },
    { Path: "/user/ada" },
  ),
  afterJson(
    "what masters say they are",
    (document) => [resourceManagerOf("h:1", document), nameNodeOf("h:1", document), schedulerOf(document)],
    { clusterInfo: { haState: "ACTIVE", hadoopVersion: "3.4.2" } },
    { beans: [{ State: "active" }] },
    { scheduler: { schedulerInfo: { type: "capacityScheduler" } } },
  ),
  text(
    "diagnostics of containers",
    parseContainerDiagnostics,
    "Container [pid=1,containerID=c] is running beyond physical memory limits. Current usage: 2.1 GB of 2 GB physical memory used; 3 GB of 4 GB",
    "File does not exist: hdfs://ns/user/ada/x\njava.io.FileNotFoundException: File does not exist: hdfs://ns/user/ada/x",
  ),
  {
    ...text(
      "reports of probes",
      parseProbeReport,
      '{"host":"n","version":"v20.19.0","architecture":"x64","glibc":"2.36","counted":"all"}',
    ),
    refusals: ["SyntaxError", "ShapeError"],
  },
  {
    name: "requests of Horovod's rendezvous",
    seeds: ["PUT /global/0\n127.0.0.1:1", "GET /global/0", "DELETE /global/0"].map((line) => Buffer.from(line)),
    decode: (bytes) => asked(rendezvousStore(new Map([["global", 2]])), bytes),
  },
  {
    name: "progress files",
    seeds: [Buffer.from('{"step":1}\n{"checkpoint":"hdfs://ns/c","step":2}\n{"metrics":{"loss":0.5}}\n')],
    decode: inFile((file) => new ProgressFile(file, { warn: () => undefined }).look(0)),
  },
  {
    ...text(
      "manifests of checkpoints",
      parseManifest,
      '{"manifestVersion":1,"name":"c","step":1,"atMs":1,"files":[{"path":"a","sizeBytes":1,"stored":"b"}]}',
    ),
    refusals: ["SyntaxError", "ShapeError"],
  },
  text("the kernel's sockets", parseTcpTable, sockets),
  text("the kernel's processes", parseStat, "7 (a) b) S 1 7 7 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 99 1 2 3"),
  text(
    "our programs' logs",
    (line) => ownWords("am", line),
    '{"time":"2026-11-25T14:02:11.389Z","level":"warn","task":"worker:0","message":"It does not answer."}',
  ),
  { name: "stored statuses", seeds: [json(aJobStatus())], decode: parseJobStatus },
  text(
    "requests to log in",
    parseLoginRequest,
    '{"principal":"a@E","keytab":"BQI=","nativeModule":"/k","user":"a","hadoop":{},"used":[{"uri":"hdfs://ns"}]}',
  ),
  {
    name: "ELF headers",
    seeds: [elfHeader("x64")],
    decode: inFile(readElf),
  },
  {
    name: "tar archives of jobs",
    seeds: [tar, gzipSync(tar)],
    decode: unpacked(untar),
    isSlow: true,
  },
  {
    name: "tar archives of sources",
    seeds: [tar],
    // Compressed here: a changed byte of what is compressed rarely comes further than zlib.
    decode: (bytes) => unpacked(unpackTar)(gzipSync(bytes)),
    // Of the file system: a name that is taken, or cannot be.
    refusals: ["Error"],
  },
  {
    ...afterJson(
      "the store's journal",
      readStoreFile,
      {
        type: "whole",
        revision: 2,
        entries: [
          { key: "a", value: "x", created: 1, modified: 2, version: 2, owner: { task: "worker:0", generation: 1 } },
        ],
        epochs: [{ attempt: 1, lastRevision: 2 }],
      },
      { type: "changes", changes: [{ type: "delete", revision: 3, key: "a" }] },
    ),
    refusals: ["SyntaxError", "ShapeError"],
  },
  text("Skein's specifications", (document) => readDocument(document, "app.yaml"), skein),
  text("Azkaban's flows", (document) => migrateFlowDocument(document, "a.flow"), flow),
];
