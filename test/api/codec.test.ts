import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import protobuf from "protobufjs/minimal.js";
import { type Message, someWholes } from "../../src/api/fields.ts";
import * as codecs from "../../src/api/generated/codecs.ts";
import type { ExecutorReport, FollowMessage, LogChunk, MasterCommand } from "../../src/api/messages.ts";
import type { SessionInput, SessionOutput, SessionWanted } from "../../src/api/session-messages.ts";
import type { ChildExit, ExecutorRegistration } from "../../src/job/execution.ts";
import type { StopReason } from "../../src/job/reasons/stops.ts";
import { transferKinds, transferStates } from "../../src/job/status.ts";
import { transactions } from "../../src/job/store/transaction.ts";
import { tonyProto } from "../support/tony-proto.ts";

const count = fc.nat();
/** Times, sizes and offsets: beyond 32 bits, within what a number holds. */
const large = fc.maxSafeNat();
const text = fc.string({ unit: "binary" });
/** What is told as part of a line. */
const line = text.map((said) => said.replaceAll(/[\r\n\u0085\u2028\u2029]/g, ""));
const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const stream = fc.constantFrom("stdout" as const, "stderr" as const);
const hello = fc.record({ protocol: count, build: text });
const constant = <const Type extends string>(type: Type) => fc.constant(type);

const stopReason: fc.Arbitrary<StopReason> = fc.oneof(
  fc.record({ code: fc.constantFrom("generation-ended" as const, "replaced" as const, "refused" as const), why: line }),
  fc.record({ code: constant("hung"), noProgressMs: large, step: large }),
  fc.record({ code: constant("node-leaves"), step: large }),
  fc.record({ code: constant("ran-too-long"), limitMs: large }),
  fc.record({ code: constant("orphaned"), silentMs: large }),
  fc.record({ code: constant("executor-failed"), error: line }),
  fc.record({ code: fc.constantFrom("job-ended" as const, "container-terminated" as const, "unknown" as const) }),
);

const endedItself = {
  exitCode: fc.integer(),
  signal: text,
  atMs: large,
  failedToStart: fc.boolean(),
  refusedBySystem: fc.boolean(),
  signalOfChild: fc.boolean(),
  lastLines: fc.array(text, { maxLength: 5 }),
  traceback: text,
  errorSummary: text,
  peerConnectionLost: fc.boolean(),
  portTaken: fc.boolean(),
  outOfMemory: fc.boolean(),
  peakMemoryBytes: large,
};
const errorOrigin = fc.record({
  how: fc.constantFrom("cause" as const, "context" as const, "child" as const),
  error: text,
});
const misnamed = fc.record({
  kind: fc.constantFrom("file" as const, "module" as const),
  missing: text,
  found: text,
});
const exit: fc.Arbitrary<ChildExit> = fc.oneof(
  fc.record(endedItself),
  fc.record({ ...endedItself, missedMeeting: fc.constantFrom("closed" as const, "empty" as const) }),
  fc.record({ ...endedItself, stopReason }),
  fc.record({ ...endedItself, errorOrigin, saidBefore: text, failedAtMs: large }),
  fc.record({ ...endedItself, misnamed }),
);

const suspendedMs = fc.integer({ min: 1, max: 1_000_000 });

const ports = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9-]*$/), count, {
  minKeys: 1,
  maxKeys: 3,
  noNullPrototype: true,
});

const registered = {
  task: text,
  containerId: text,
  host: text,
  port: count,
  tensorboardPort: count,
  rejoinAddress: text,
  child: fc.oneof(
    fc.record({ state: constant("none") }),
    fc.record({ state: constant("running"), pid: count, startedAtMs: large }),
    fc.record({ state: constant("running"), pid: count, startedAtMs: large, suspendedMs }),
    fc.record({ state: constant("exited"), exit }),
    fc.record({ state: constant("exited"), exit, suspendedMs }),
  ),
};
const registration: fc.Arbitrary<Omit<ExecutorRegistration, "generation">> = fc.oneof(
  fc.record(registered),
  fc.record({ ...registered, ports }),
);

const logChunk: fc.Arbitrary<LogChunk> = fc.record({
  tailId: large,
  stream,
  offset: large,
  data: bytes,
  end: fc.boolean(),
  generation: count,
  skippedBytes: large,
});

const percent = fc.double({ noNaN: true, min: 0, max: 100 });
const gauge = fc.record({ current: percent, max: percent, average: percent });
const devices = fc.array(fc.record({ utilization: percent, memory: percent }, { requiredKeys: [] }), { minLength: 1 });
const gpus = fc.record(
  { count, unused: count, utilization: gauge, memory: gauge, bar1Memory: gauge, devices },
  { requiredKeys: ["count"] },
);
const metrics = fc.record(
  {
    memoryBytes: large,
    maxMemoryBytes: large,
    averageMemoryBytes: large,
    cpuCores: fc.double({ noNaN: true, min: 0 }),
    cpuMs: large,
    processes: count,
    gpus,
    disk: fc.record({ readBytesPerSecond: percent, writtenBytesPerSecond: percent }),
  },
  { requiredKeys: ["memoryBytes", "maxMemoryBytes", "averageMemoryBytes", "cpuCores", "cpuMs", "processes"] },
);

const checkpoint = fc.record({ path: fc.string({ minLength: 1 }), step: large, atMs: large });

const report: fc.Arbitrary<ExecutorReport> = fc.oneof(
  fc
    .record({ type: constant("register"), hello, attemptProof: bytes })
    .chain((rest) => registration.map((own) => ({ ...rest, ...own }))),
  fc.record({ type: constant("heartbeat"), sentAtMs: large, metrics }, { requiredKeys: ["type", "sentAtMs"] }),
  fc.record({ type: constant("child-started"), pid: count, atMs: large }),
  fc.record({ type: constant("child-exited"), exit }),
  fc.record(
    {
      type: constant("child-progress"),
      step: large,
      atMs: large,
      checkpoint,
      metrics: fc.dictionary(text, fc.double(), { noNullPrototype: true, minKeys: 1 }),
      metricSteps: fc.dictionary(text, large, { noNullPrototype: true, minKeys: 1 }),
    },
    { requiredKeys: ["type", "step", "atMs"] },
  ),
  fc.record({ type: constant("log-chunk"), chunk: logChunk }),
  fc.record({ type: constant("service-announced"), name: text, url: text }),
  fc.record({
    type: constant("transfer"),
    transfer: fc.record({
      what: fc.constantFrom(...transferKinds),
      state: fc.constantFrom(...transferStates),
      url: text,
      files: count,
      bytes: count,
      step: count,
      atMs: count,
      reason: text,
    }),
  }),
  fc.record({ type: constant("goodbye"), reason: text }),
  fc.record({ type: constant("child-place"), where: text, isExchange: fc.boolean(), lines: fc.array(text) }),
  fc.record({ type: constant("unknown") }),
);

const notice = fc.record(
  {
    cause: fc.constantFrom("preemption" as const, "decommissioning" as const),
    atMs: large,
    endsAtMs: large.map((atMs) => Math.max(1, atMs)),
  },
  { requiredKeys: ["cause", "atMs"] },
);

const size = fc.record({ columns: count, rows: count });
const wanted: fc.Arbitrary<SessionWanted> = fc.oneof(
  fc.record(
    {
      type: constant("command"),
      words: fc.array(text, { maxLength: 5 }),
      terminal: fc.record({ size, type: text }),
    },
    { requiredKeys: ["type", "words"] },
  ),
  fc.record({ type: constant("connection"), port: count }),
  fc.record({ type: constant("stacks") }),
);

const input: fc.Arbitrary<SessionInput> = fc.oneof(
  fc.record({ type: constant("open"), hello, task: text, wanted }),
  fc.record({ type: constant("data"), data: bytes }),
  fc.record({ type: fc.constantFrom("end" as const, "unknown" as const) }),
  fc.record({ type: constant("resize"), size }),
  fc.record({ type: constant("signal"), signal: text }),
);

const output: fc.Arbitrary<SessionOutput> = fc.oneof(
  fc.record({ type: constant("accept"), sessionId: large }),
  fc.record({ type: constant("started"), terminal: fc.boolean() }),
  fc.record({ type: constant("data"), stream, data: bytes }),
  fc.record({ type: fc.constantFrom("end" as const, "unknown" as const) }),
  fc.record({ type: constant("exited"), exitCode: count, signal: text }),
  fc.record({ type: constant("failed"), reason: text }),
  fc.record({ type: constant("failed"), reason: text, noSuchTask: fc.constant(true as const) }),
);

const command: fc.Arbitrary<MasterCommand> = fc.oneof(
  fc.record({ type: constant("welcome"), hello, heartbeatIntervalMs: count, job: bytes, attemptProof: bytes }),
  fc.record({ type: constant("prepare"), reason: text }),
  fc.record(
    {
      type: constant("start-child"),
      clusterSpec: bytes,
      restartReason: text,
      restarts: count,
      checkpoint: text,
      trialParams: text,
    },
    { requiredKeys: ["type", "clusterSpec", "restartReason", "restarts", "checkpoint"] },
  ),
  fc.record({ type: constant("stop-child"), graceMs: count, reason: stopReason }),
  fc.record({
    type: constant("stop-child"),
    graceMs: count,
    reason: stopReason,
    dumpStacks: fc.constant(true as const),
  }),
  fc.record({ type: constant("exit"), graceMs: count, reason: stopReason }),
  fc.record({ type: fc.constantFrom("acknowledge-exit" as const, "resume-child" as const, "tell-place" as const) }),
  fc.record({ type: constant("replace-tokens"), file: bytes }),
  fc.record({ type: fc.constantFrom("serve-session" as const, "end-session" as const), sessionId: large }),
  fc.record({ type: constant("make-room"), variables: fc.dictionary(text, text, { noNullPrototype: true }) }),
  fc.record({
    type: constant("tail-log"),
    tailId: large,
    task: text,
    stream,
    offset: fc.maxSafeInteger().map((offset) => offset + 0),
    follow: fc.boolean(),
    cancel: fc.boolean(),
  }),
  fc.record({ type: constant("tail-credit"), tailId: large, bytes: count }),
  fc.record({ type: constant("signal-child"), signal: text, reason: text, notice }),
  fc.record({ type: constant("refuse"), reason: text, fatal: fc.boolean() }),
  fc.record({ type: constant("unknown") }),
);

const follow: fc.Arbitrary<FollowMessage> = fc.record({
  attempt: count,
  body: fc.oneof(
    fc.record({ type: constant("status"), status: bytes }),
    fc.record({ type: constant("outcome"), outcome: bytes }),
    fc.record({ type: constant("unknown") }),
  ),
});

const proto = await tonyProto();

/** By our own codec; and protobufjs, which knows proto/tony alone, writes the same bytes. */
function comesBack<T>(name: string, codec: Message<T>, messages: fc.Arbitrary<T>): void {
  const declared = proto.lookupType(`tony.v1.${name}`);
  fc.assert(
    fc.property(messages, (message) => {
      const encoded = codec.encode(message);
      expect(normal(codec.decode(encoded))).toEqual(normal(message));
      const known = declared.fromObject(declared.toObject(declared.decode(encoded), { longs: String }));
      expect(normal(declared.encode(known).finish())).toBe(normal(encoded));
    }),
    { numRuns: 300 },
  );
}

/** Bytes as text and nothing undefined, so that only what is said is compared. */
function normal(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, normal(field)]));
}

describe("every message comes back as it was sent", () => {
  const addressed = { attempt: count, generation: count };

  it("from an executor", () => {
    comesBack("ExecutorMessage", codecs.executorMessage, fc.record({ ...addressed, body: report }));
  });

  it("from an ApplicationMaster", () => {
    comesBack("MasterMessage", codecs.masterMessage, fc.record({ ...addressed, body: command }));
  });

  it("between clients and the ApplicationMaster", () => {
    const logRequest = fc.record({ hello, task: text, stream, offset: large, follow: fc.boolean() });
    comesBack("FollowRequest", codecs.followRequest, fc.record({ hello }));
    comesBack("FollowMessage", codecs.followMessage, follow);
    comesBack("ReadLogRequest", codecs.readLogRequest, logRequest);
    comesBack("LogChunk", codecs.logChunk, logChunk);
    comesBack("StopRequest", codecs.stopRequest, fc.record({ hello, reason: text }));
    comesBack("PageRequest", codecs.pageRequest, fc.record({ hello, path: text }));
    comesBack("PageReply", codecs.pageReply, fc.record({ json: text }));
    comesBack("StopReply", codecs.stopReply, fc.record({ accepted: fc.boolean() }));
    const transaction = text.map((key) => transactions.setDefault(key, "x", true));
    const storeRequest = { hello, transaction, owner: fc.string({ minLength: 1 }), durable: fc.boolean() };
    comesBack(
      "StoreRequest",
      codecs.storeRequest,
      fc.record(storeRequest, { requiredKeys: ["hello", "transaction", "durable"] }),
    );
    const answer = fc.record({ code: constant("limit"), message: text });
    comesBack("StoreReply", codecs.storeReply, fc.record({ answer }));
    const wanted = { id: count, transaction, durable: fc.boolean(), generation: count };
    comesBack("TaskTransaction", codecs.taskTransaction, fc.record(wanted));
    comesBack(
      "TaskAnswer",
      codecs.taskAnswer,
      fc.record({ id: count, answer, failure: text }, { requiredKeys: ["id"] }),
    );
  });

  it("of a feed", () => {
    const lease = fc.record({ number: large, epoch: large, position: large });
    const split = fc.record({
      ...{ lease, split: large, skip: large, path: text, start: large, end: large, length: large, modifiedMs: large },
    });
    const begun = fc.record({ lease, records: large });
    const call = fc.oneof(
      fc.record({ type: constant("open"), cursor: text }, { requiredKeys: ["type"] }),
      fc.record({ type: constant("ask"), most: count, atOnce: fc.boolean(), has: fc.array(large) }),
      fc.record({ type: constant("used"), lease, records: large }),
      fc.record({ type: constant("failed"), lease, error: text }),
      fc.record({ type: constant("moved") }),
      fc.record({ ...{ type: constant("mark"), label: text, among: fc.array(text) }, begun: fc.array(begun) }),
      fc.record({
        ...{ type: constant("steps"), among: fc.array(text), epoch: large, ready: large, known: large },
        dry: fc.boolean(),
      }),
    );
    comesBack("FeedRequest", codecs.feedRequest, fc.record({ hello, feed: text, generation: count, body: call }));
    const answer = fc.oneof(
      fc.record({ type: constant("opened"), epoch: large }),
      fc.record({ type: constant("given"), splits: fc.array(split) }),
      fc.record({ type: constant("ended") }),
      fc.record({ type: constant("noted") }),
      fc.record({ type: constant("cursor"), cursor: text }),
      fc.record({ type: constant("agreed"), steps: large, last: fc.boolean() }),
      fc.record({ type: constant("refused"), code: text, message: text }),
    );
    comesBack("FeedReply", codecs.feedReply, answer);
  });

  it("in a session", () => {
    comesBack("SessionInput", codecs.sessionInput, input);
    comesBack("SessionOutput", codecs.sessionOutput, output);
  });

  it("between attempts and executors", () => {
    comesBack("RejoinRequest", codecs.rejoinRequest, fc.record({ hello, attempt: count, masterAddress: text }));
    comesBack("RejoinReply", codecs.rejoinReply, fc.record({ accepted: fc.boolean(), reason: text }));
  });
});

describe("what a newer peer says", () => {
  it("reads as unknown", () => {
    // Field 90, a message of one byte: no version of ours has it.
    const newer = Buffer.from([0x08, 2, 0x10, 3, 0xd2, 0x05, 1, 0]);
    expect(codecs.executorMessage.decode(newer)).toEqual({ attempt: 2, generation: 3, body: { type: "unknown" } });
    expect(codecs.masterMessage.decode(newer)).toEqual({ attempt: 2, generation: 3, body: { type: "unknown" } });
    expect(codecs.followMessage.decode(newer)).toEqual({ attempt: 2, body: { type: "unknown" } });
  });

  it("is still a reason to stop", () => {
    // ChildExited with a StopReason of code 90.
    const newer = Buffer.from([0x6a, 4, 0x62, 2, 0x08, 90]);
    const { body } = codecs.executorMessage.decode(newer);
    expect(body).toMatchObject({ type: "child-exited", exit: { stopReason: { code: "unknown" } } });
  });

  it("reads as unknown where it has a word that we do not know", () => {
    // A Transfer of what "logs", then the generation: the rest of the message is read.
    const newer = Buffer.from([0x92, 0x01, 6, 0x0a, 4, ...Buffer.from("logs"), 0x10, 3]);
    expect(codecs.executorMessage.decode(newer)).toEqual({ attempt: 0, generation: 3, body: { type: "unknown" } });
  });

  it("is refused where a message within is longer than what holds it", () => {
    // A Heartbeat of two bytes, whose field of 8 takes three.
    expect(() => codecs.executorMessage.decode(Buffer.from([0x5a, 2, 0x08, 0x80, 0x01]))).toThrow(RangeError);
  });

  const sentAt = (...bytes: readonly number[]) => Buffer.from([0x5a, bytes.length + 1, 0x08, ...bytes]);

  it("has no number that is not exact: the last one that is stands for those beyond", () => {
    const most = { type: "heartbeat", sentAtMs: Number.MAX_SAFE_INTEGER };
    const beyond = [...Array.from({ length: 9 }, () => 0xff), 0x01];
    expect(codecs.executorMessage.decode(sentAt(...beyond)).body).toEqual(most);
    const offset = Buffer.from([0x20, ...Array.from({ length: 8 }, () => 0xff), 0x7f]);
    expect(codecs.readLogRequest.decode(offset).offset).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("is refused where a number has no end, or more than 64 bits", () => {
    expect(() => codecs.executorMessage.decode(sentAt(0x80))).toThrow(RangeError);
    const tooLong = sentAt(...Array.from({ length: 10 }, () => 0x80), 0x01);
    expect(() => codecs.executorMessage.decode(tooLong)).toThrow(RangeError);
  });
});

describe("a map of a message", () => {
  const write = (ports: Readonly<Record<string, number>>) =>
    codecs.childProgress.encode({ step: 1, atMs: 1, metrics: ports });

  it("has every name, also one that objects have for something else, and the last value of one that comes twice", () => {
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}');
    const bytes = Buffer.concat([write(odd), write({ toString: 4 })]);
    const { metrics = {} } = codecs.childProgress.decode(bytes);
    expect(Object.entries(metrics)).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
      ["toString", 4],
    ]);
  });

  it("grows in place, so that one of many names takes no time that is their square", () => {
    const field = someWholes(1);
    const entry = Buffer.from([6, 0x0a, 2, 0x72, 0x70, 0x10, 7]);
    const before = { other: 1 };
    expect(field.add(protobuf.Reader.create(entry), before, 1)).toBe(before);
    expect(before).toEqual({ other: 1, rp: 7 });
  });
});
