import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { decodeClusterSpec, encodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import type { Message } from "../../src/api/fields.ts";
import {
  executorMessage,
  feedReply,
  feedRequest,
  followMessage,
  followRequest,
  logChunk,
  masterMessage,
  pageRequest,
  readLogRequest,
  rejoinRequest,
  sessionInput,
  sessionOutput,
  stopRequest,
  storeReply,
  storeRequest,
  taskAnswer,
  taskTransaction,
} from "../../src/api/generated/codecs.ts";
import { parseClientAccess } from "../../src/api/identity.ts";
import { jobOutcome, jobStatus } from "../../src/api/status-codec.ts";
import { zipEntries } from "../../src/archives/zip.ts";
import { readNotificationService } from "../../src/frameworks/elastic-horovod/notification.ts";
import { parseProperties } from "../../src/hadoop/conf/xml.ts";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import { errorOfRemoteException, remoteExceptionIn } from "../../src/hadoop/hdfs/remote-exception.ts";
import { parseListAnswer, parseStatusAnswer } from "../../src/hadoop/hdfs/webhdfs-answers.ts";
import { FrameReader } from "../../src/hadoop/rpc/frame.ts";
import { callFrame, decodeReply, decodeSasl, SaslState, saslFrame } from "../../src/hadoop/rpc/messages.ts";
import { delegationOf } from "../../src/hadoop/security/delegation.ts";
import { keytabPrincipals } from "../../src/hadoop/security/kerberos/keytab.ts";
import { cachedPrincipal } from "../../src/hadoop/security/kerberos/ticket-cache.ts";
import { parseDirectives } from "../../src/hadoop/security/sasl/digest-md5.ts";
import { digestLayer } from "../../src/hadoop/security/sasl/digest-md5-layer.ts";
import { readTokenFile, writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { tokenFromUrlText, tokenToUrlText } from "../../src/hadoop/security/token-writable.ts";
import { yarn } from "../../src/hadoop/wire/yarn.ts";
import { readAggregatedLogs } from "../../src/hadoop/yarn/aggregated-logs.ts";
import { clientOfToken } from "../../src/hadoop/yarn/client-token.ts";
import { allocationFromWire } from "../../src/hadoop/yarn/convert-allocation.ts";
import { applicationReportFromWire } from "../../src/hadoop/yarn/convert-reports.ts";
import { readJavaObjects } from "../../src/hadoop/yarn/log-files/java-objects.ts";
import { decodeHistory } from "../../src/history/records.ts";
import { decodeSeries } from "../../src/history/series/file.ts";
import { writeTonyEvents } from "../../src/history/tony/event-file.ts";
import { endedEvents, initedEvent } from "../../src/history/tony/events.ts";
import { readTonyEvents } from "../../src/history/tony/read-events.ts";
import { parseClusterNodes } from "../../src/job/cluster-nodes.ts";
import { parseMarks } from "../../src/job/output-index.ts";
import { transactions } from "../../src/job/store/transaction.ts";
import { decodeExecutorJob } from "../../src/job/stored/executor-job.ts";
import { parseJobFile } from "../../src/job/stored/parse-job-file.ts";
import { parseStagingLocation } from "../../src/job/stored/staging-location.ts";
import { decodeJournalEntry, encodeJournalEntry } from "../../src/journal/entry.ts";
import { LineSplitter } from "../../src/logs/line-splitter.ts";
import { aJobStatus, allSucceeded, outOfMemory } from "../client/job-status.ts";
import { anExecutorJob, register } from "../support/api.ts";
import { javaUtf, writeTFile } from "../support/tfile-writer.ts";
import { writeZip } from "../support/zip-writer.ts";
import { afterJson, type Decoder, json, utf8 } from "./fuzz.ts";
import { moreDecoders } from "./more-decoders.ts";
import { newerDecoders } from "./newer-decoders.ts";

/** What protobufjs, yauzl and zlib throw, and the checks of JSON within a message. */
const foreign = ["Error", "RangeError", "UnknownWord", "SyntaxError", "ShapeError", "CustomError"];

const { spec, ...job } = anExecutorJob();
const wholeJob = {
  ...job,
  spec,
  files: { master: [], all: [], byRole: {} },
  node: "node",
  sharedLabels: [],
  resourceTypes: [],
};

/** What gRPC calls for each message; errors become the call's status there. */
function grpc<T>(name: string, codec: Message<T>, ...messages: readonly T[]): Decoder {
  return {
    name: `gRPC ${name}`,
    seeds: messages.map((message) => codec.encode(message)),
    decode: (bytes) => codec.decode(Buffer.from(bytes)),
    refusals: foreign,
  };
}

const hello = { protocol: 1, build: "fuzz" };
const status = aJobStatus();
const token = {
  identifier: Buffer.from("id"),
  password: Buffer.from("pw"),
  kind: "HDFS_DELEGATION_TOKEN",
  service: "ha-hdfs:ns",
};
const credentials = { tokens: [{ alias: "ns", token }], secrets: new Map([["a", Buffer.from("b")]]) };
const negotiation = {
  state: SaslState.NEGOTIATE,
  auths: [{ method: "TOKEN", mechanism: "DIGEST-MD5", protocol: "", serverId: "default" }],
};
const challenge =
  'realm="default",nonce="AbC==",qop="auth,auth-int,auth-conf",charset=utf-8,cipher="3des,rc4",algorithm=md5-sess';
const fileStatus = {
  type: "FILE",
  length: 1,
  modificationTime: 2,
  accessTime: 3,
  permission: "644",
  owner: "ada",
  group: "g",
  pathSuffix: "f",
};
const denied = 'Permission denied: user=ada, access=WRITE, inode="/user":hdfs:supergroup:drwxr-xr-x\n\tat org.apache';
const containerId = { app_id: { id: 1, cluster_timestamp: 1 }, app_attempt_id: { attemptId: 1 }, id: 2 };
const layerOf = (side: "client" | "server", cipher: "rc4" | "3des") =>
  digestLayer({ hashA1: Buffer.alloc(16, 7), cipher, peerMaxBytes: 65_536, side });
const tfile = writeTFile([
  [
    {
      key: javaUtf("container_1_0001_01_000002"),
      chunks: [Buffer.concat([javaUtf("stdout"), javaUtf("5"), Buffer.from("hello")])],
    },
  ],
]);

/** Hadoop's own, and one whose index is reached by other mutations than those of its end. */
const indexed = ["plain", "gz-two-uploads"].map((name) => readFileSync(`test/fixtures/indexed-logs/${name}`));
const javaObjects = indexed.map((file) => {
  const indexBytes = file.readUInt32BE(file.length - 36);
  return file.subarray(file.length - 36 - indexBytes, file.length - 36);
});

/** What a ResourceManager answers; errors become the call's. */
const yarnAnswers: readonly Decoder[] = [
  {
    name: "YARN's allocations",
    seeds: [
      yarn.AllocateResponseProto.encode({
        response_id: 1,
        allocated_containers: [{ id: containerId, nodeId: { host: "n", port: 1 }, resource: { memory: 1 } }],
        completed_container_statuses: [{ container_id: containerId, exit_status: -100, diagnostics: "lost" }],
      }).finish(),
    ],
    decode: (bytes) => allocationFromWire(yarn.AllocateResponseProto.decode(bytes)),
    refusals: foreign,
  },
  {
    name: "YARN's reports",
    seeds: [
      yarn.ApplicationReportProto.encode({
        applicationId: containerId.app_id,
        user: "ada",
        diagnostics: "d",
        currentApplicationAttemptId: { application_id: containerId.app_id, attemptId: 1 },
      }).finish(),
    ],
    decode: (bytes) => applicationReportFromWire(yarn.ApplicationReportProto.decode(bytes)),
    refusals: foreign,
  },
];

function exactly(bytes: Uint8Array, offset: number, lengthBytes: number): Buffer {
  if (offset + lengthBytes > bytes.length) throw new RangeError("the file ends before that");
  return Buffer.from(bytes.subarray(offset, offset + lengthBytes));
}

/** Every reader of bytes that come from outside: from servers, other programs, the network, and files that others may have written. */
export const decoders: readonly Decoder[] = [
  {
    name: "RPC frames",
    seeds: [
      saslFrame(negotiation),
      callFrame({ callId: 1, clientId: Buffer.alloc(16), protocol: "P", method: "m", request: Buffer.from([8, 1]) }),
    ],
    decode: (bytes) => {
      for (const frame of new FrameReader(65_536).push(Buffer.from(bytes))) decodeSasl(decodeReply(frame).body);
    },
  },
  { name: "SASL challenges", seeds: [Buffer.from(challenge)], decode: parseDirectives },
  ...(["rc4", "3des"] as const).map((cipher) => ({
    name: `SASL layer, ${cipher}`,
    seeds: [layerOf("server", cipher).wrap(Buffer.from("hello"))],
    decode: (bytes: Uint8Array) => layerOf("client", cipher).unwrap(bytes),
  })),
  { name: "token files", seeds: [writeTokenFile(credentials), writeTokenFile(credentials, 1)], decode: readTokenFile },
  {
    name: "ticket caches",
    seeds: [Buffer.from("0504000301020300000001000000010000000245580000000361646100", "hex")],
    decode: cachedPrincipal,
  },
  {
    name: "keytabs",
    seeds: [Buffer.from("0502000000150001000145000361646100000001000000000100120000", "hex")],
    decode: keytabPrincipals,
  },
  {
    name: "what Horovod's processes say of their services",
    seeds: [
      Buffer.concat([
        Buffer.from("\x80\x05}\x94(\x8c\x02lo\x94]\x94\x8c\x09127.0.0.1\x94M\x95\xa3\x86\x94auC\x20", "latin1"),
        Buffer.alloc(32, 7),
        Buffer.from("\x94\x86\x94."),
      ]),
    ],
    decode: (bytes) => readNotificationService(Buffer.from(bytes).toString("base64")),
    refusals: ["RangeError"],
  },
  {
    name: "tokens in answers",
    seeds: [Buffer.from(tokenToUrlText(token))],
    decode: (bytes) => delegationOf(tokenFromUrlText(utf8(bytes))),
  },
  {
    name: "callers' tokens",
    seeds: [Buffer.from("0a0c0a0808011080e8e0f7b6331001120361646118e8071a0161", "hex")],
    decode: clientOfToken,
  },
  ...yarnAnswers,
  {
    name: "XML",
    seeds: [
      Buffer.from(
        '<?xml version="1.0"?>\n<configuration><property><name>a</name><value>b &amp; c</value><final>true</final></property></configuration>',
      ),
      Buffer.from(
        '<!DOCTYPE c [<!ENTITY x "y">]><configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="x"/></configuration>',
      ),
    ],
    decode: (bytes) => parseProperties(utf8(bytes), "job.xml", { readText: () => undefined }),
  },
  afterJson(
    "WebHDFS' statuses",
    (document) => ("FileStatus" in Object(document) ? parseStatusAnswer : parseListAnswer)(document, "/f"),
    { FileStatus: fileStatus },
    { FileStatuses: { FileStatus: [fileStatus] } },
  ),
  afterJson(
    "WebHDFS' refusals",
    (document) => {
      const refusal = remoteExceptionIn(document);
      return refusal && errorOfRemoteException(refusal, "MKDIRS", "/user");
    },
    { RemoteException: { exception: "AccessControlException", javaClassName: "a.B", message: denied } },
  ),
  {
    name: "the journal",
    seeds: [encodeJournalEntry({ attempt: 1, sequence: 2 }, '{"a":1}')],
    decode: (bytes) => decodeJournalEntry(utf8(bytes)),
  },
  { name: "job.json", seeds: [json(wholeJob)], decode: (bytes) => parseJobFile(utf8(bytes)) },
  { name: "an executor's job", seeds: [json({ ...job, spec })], decode: decodeExecutorJob },
  { name: "nodes.json", seeds: [json([])], decode: (bytes) => parseClusterNodes(utf8(bytes)) },
  {
    name: "a staging folder's place",
    seeds: [json({ user: "ada", stagingUrl: "hdfs://ns/x", hadoop: {} })],
    decode: (bytes) => parseStagingLocation(utf8(bytes)),
  },
  {
    name: "client.json",
    seeds: [json({ applicationId: "a", clientSecret: "s" })],
    decode: (bytes) => parseClientAccess(utf8(bytes)),
  },
  {
    name: "history",
    seeds: [Buffer.from('{"record":"header","attempt":1,"number":1}\n')],
    decode: (bytes) => decodeHistory(utf8(bytes)),
  },
  {
    name: "series of a job",
    seeds: [gzipSync('{"seriesVersion":1,"applicationId":"a","attempt":1,"fromMs":0,"spanMs":5000}\n')],
    decode: decodeSeries,
  },
  {
    name: "TonY's history",
    seeds: [
      writeTonyEvents([initedEvent(status), ...endedEvents(status, 10_000, () => undefined)], Buffer.alloc(16, 1)),
    ],
    decode: readTonyEvents,
  },
  { name: "marks of output", seeds: [Buffer.from("1 2 3 4\n5 6 7 8\n")], decode: (bytes) => parseMarks(utf8(bytes)) },
  {
    name: "lines of logs",
    seeds: [Buffer.from("one\r\ntwo\rthree\n\u001b[31mred\u001b[0m grün\n")],
    decode: (bytes) => {
      const splitter = new LineSplitter();
      return [...splitter.push(bytes), splitter.overwritten, ...splitter.end()];
    },
  },
  {
    name: "zip archives",
    seeds: [
      writeZip([
        { path: "bin/run", mode: 0o100755, content: "#!/bin/sh" },
        { path: "link", mode: 0o120777, content: "bin/run" },
      ]),
    ],
    decode: async (bytes) => {
      const source = {
        lengthBytes: bytes.length,
        read: async (offset: number, wanted: number) => exactly(bytes, offset, wanted),
      };
      for await (const entry of zipEntries(source)) if (entry.type === "symlink") await entry.target();
    },
    // Their callers name the archive in an error of their own.
    refusals: foreign,
  },
  {
    name: "stored logs",
    seeds: [tfile, ...indexed],
    decode: async (bytes) => {
      const open = async (
        _path: string,
        { offset = 0, lengthBytes = bytes.length }: { offset?: number; lengthBytes?: number } = {},
      ) => Readable.from([Buffer.from(bytes.subarray(offset, offset + lengthBytes))], { objectMode: false });
      const fileSystem = Object.assign(new LocalFileSystem(), { open });
      const file = {
        fileSystem,
        path: "/logs/application_1795305600000_0007/n_1",
        node: "n_1",
        lengthBytes: bytes.length,
        modificationTimeMs: 0,
      };
      for await (const { content } of readAggregatedLogs(file)) for await (const _chunk of content);
    },
  },
  {
    name: "Java's objects",
    seeds: javaObjects,
    decode: (bytes) => readJavaObjects(Buffer.from(bytes), () => undefined),
  },
  {
    name: "cluster specs",
    seeds: [encodeClusterSpec({ generation: 1, tasks: [{ task: "worker:0", host: "n1", port: 1 }] })],
    decode: decodeClusterSpec,
  },
  {
    name: "job statuses",
    seeds: [jobStatus.encode(status)],
    decode: (bytes) => jobStatus.decode(bytes),
    refusals: foreign,
  },
  {
    name: "job outcomes",
    seeds: [jobOutcome.encode({ ...allSucceeded, cause: outOfMemory(), endedAtMs: 1 })],
    decode: (bytes) => jobOutcome.decode(bytes),
    refusals: foreign,
  },
  grpc("executors' messages", executorMessage, register(), {
    attempt: 1,
    generation: 1,
    body: { type: "heartbeat", sentAtMs: 1 },
  }),
  grpc("the AM's messages", masterMessage, { attempt: 1, generation: 2, body: { type: "prepare", reason: "x" } }),
  grpc("follow requests", followRequest, { hello }),
  grpc("follow messages", followMessage, { attempt: 1, body: { type: "status", status: jobStatus.encode(status) } }),
  grpc("log requests", readLogRequest, { hello, task: "worker:0", stream: "stdout", offset: 0, follow: true }),
  grpc("log chunks", logChunk, {
    tailId: 1,
    stream: "stdout",
    offset: 0,
    data: Buffer.from("x"),
    end: false,
    generation: 1,
    skippedBytes: 0,
  }),
  grpc("stop requests", stopRequest, { hello, reason: "x" }),
  grpc("page requests", pageRequest, { hello, path: "live?since=0" }),
  grpc("requests to the store", storeRequest, {
    hello,
    transaction: transactions.setDefault("a", "x", true),
    owner: "worker:0",
    durable: true,
  }),
  grpc("a task's transactions", taskTransaction, {
    id: 1,
    transaction: transactions.setDefault("a", "x", true),
    durable: true,
    generation: 1,
  }),
  grpc("a task's answers", taskAnswer, { id: 1, failure: "x" }),
  grpc(
    "requests to a feed",
    feedRequest,
    { hello, feed: "train", generation: 1, body: { type: "open", cursor: "{}" } },
    { hello, feed: "train", generation: 1, body: { type: "ask", most: 1, atOnce: false, has: [1, 2] } },
    {
      ...{ hello, feed: "train", generation: 1 },
      body: {
        ...{ type: "mark", label: "1", among: ["worker:0"] },
        begun: [{ lease: { number: 1, epoch: 0, position: 2 }, records: 3 }],
      },
    },
  ),
  grpc("answers of a feed", feedReply, {
    type: "given",
    splits: [
      {
        lease: { number: 1, epoch: 0, position: 0 },
        ...{ split: 0, skip: 0, path: "hdfs://nn/data", start: 0, end: 10, length: 25, modifiedMs: 7 },
      },
    ],
  }),
  grpc("answers of the store", storeReply, {
    answer: {
      revision: 1,
      succeeded: true,
      results: [{ type: "get", entry: { key: "a", value: "x", created: 1, modified: 1, version: 1 } }],
    },
  }),
  grpc(
    "what callers of sessions say",
    sessionInput,
    { type: "open", hello, task: "worker:0", wanted: { type: "command", words: ["ls", "-l"] } },
    { type: "data", data: Buffer.from("x") },
  ),
  grpc(
    "what sessions answer",
    sessionOutput,
    { type: "data", stream: "stdout", data: Buffer.from("x") },
    { type: "exited", exitCode: 1, signal: "" },
  ),
  grpc("rejoin requests", rejoinRequest, { hello, attempt: 2, masterAddress: "n:1" }),
  ...moreDecoders,
  ...newerDecoders,
];
