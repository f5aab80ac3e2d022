import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { MasterLink, type MasterLinkOptions } from "../../../executor/master/master-link.ts";
import { StagingFolder } from "../../../executor/master/staging-folder.ts";
import { MasterStream } from "../../../src/api/executor-client.ts";
import type { MasterServerOptions } from "../../../src/api/master-server.ts";
import { type MasterMessage, PROTOCOL_VERSION } from "../../../src/api/messages.ts";
import { noCredentials } from "../../../src/hadoop/security/credentials.ts";
import { stagingLocation } from "../../../src/job/stored/staging-location.ts";
import { openLog } from "../../../src/log.ts";
import {
  anExecutorJob,
  aRegistration,
  executor,
  identity,
  noClients,
  noSessions,
  startMaster,
} from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { CollectedSession } from "../../support/session-scene.ts";

const registration = aRegistration();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const close of closing.splice(0).reverse()) await close();
});

async function master(attempt: number, changes: Partial<MasterServerOptions> = {}) {
  const started = await startMaster({ attempt, ...changes });
  closing.push(() => started.server.close(0));
  return started;
}

function linkTo(address: string, changes: Partial<MasterLinkOptions> = {}): MasterLink {
  const link = new MasterLink({
    identity: executor,
    build: "test",
    master: { attempt: 1, address },
    log: openLog("error"),
    limits: { orphanMs: 780_000, isolationMs: 30_000 },
    random: () => 0,
    monotonicMs: () => performance.now(),
    generation: () => registration.generation,
    registration: () => registration,
    joined: () => {},
    left: () => {},
    command: () => {},
    refused: () => {},
    orphaned: () => {},
    lookIntoStaging: async () => undefined,
    replaced: () => {},
    gate: { open: () => {}, close: () => {} },
    suspend: () => {},
    resume: () => {},
    ...changes,
  });
  closing.push(() => link.close("the test is over"));
  return link;
}

it("an executor whose ApplicationMaster died before it was welcomed finds the next attempt by the staging folder, registers there, and obeys no earlier one again", async () => {
  const orphaned = jest.fn();
  const log = openLog("error");
  const said = jest.spyOn(log, "debug");
  const folder = mkdtempSync(path.join(tmpdir(), "tony-staging-"));
  closing.push(async () => rmSync(folder, { recursive: true }));
  const dead = await startMaster();
  await dead.server.close(0);
  const next = await master(2);
  const announced = { attempt: 2, host: "127.0.0.1", port: next.server.port };
  writeFileSync(path.join(folder, "am-2.json"), JSON.stringify(announced));
  const staging = new StagingFolder(
    stagingLocation({ ...anExecutorJob(), stagingUrl: `file://${folder}` }),
    () => noCredentials,
  );
  const link = linkTo(dead.address, {
    orphaned,
    log,
    lookIntoStaging: () => staging.look({ ...registration, applicationId: identity.applicationId }),
  });
  const waiting = [link.connected(), link.connected()];
  link.start();
  const call = await next.executors.calls.next((one) => one.call === "connected");
  expect(call).toMatchObject({ registration });
  await Promise.all(waiting);
  expect(link.master).toEqual({ attempt: 2, address: next.address });
  expect(orphaned).not.toHaveBeenCalled();
  expect(said.mock.calls.map(([event, words]) => `${event}: ${words}`)).toContainEqual(
    expect.stringMatching(/^connect-failed: .* did not answer: .*ECONNREFUSED/),
  );
  expect(link.rejoin({ attempt: 1, address: dead.address })).toEqual({
    accepted: false,
    reason: "attempt 2 is obeyed already",
  });
  expect(link.master.attempt).toBe(2);
});

it("an executor that a later attempt calls leaves the earlier one, whom it can show that it was replaced, should that be where the later one is said to be", async () => {
  const [first, second] = [await master(1), await master(2)];
  const link = linkTo(first.address);
  link.start();
  await link.connected();
  expect(link.rejoin({ attempt: 2, address: second.address }).accepted).toBe(true);
  await second.executors.calls.next((one) => one.call === "connected");
  await first.executors.calls.next((one) => one.call === "disconnected");
  expect(link.rejoin({ attempt: 2, address: first.address }).accepted).toBe(true);
  expect(await first.executors.calls.next((one) => one.call === "superseded")).toMatchObject({ attempt: 2 });
});

/** A link that a master has welcomed. */
async function connectedTo(changes: Partial<MasterLinkOptions> = {}, served: Partial<MasterServerOptions> = {}) {
  const first = await master(1, served);
  const link = linkTo(first.address, changes);
  link.start();
  const call = await first.executors.calls.next(({ call }) => call === "connected");
  await link.connected();
  return { ...first, link, ...("link" in call && { stream: call.link }) };
}

it("an executor registers as soon as it is ready to, and whoever waits for its stream goes on when it has told what may not be known", async () => {
  let isReady = false;
  const order: string[] = [];
  const first = await master(1);
  const link = linkTo(first.address, {
    registration: () => (isReady ? registration : undefined),
    joined: ({ heartbeatIntervalMs }) => void order.push(`joined: ${heartbeatIntervalMs}`),
  });
  void link.connected().then(() => order.push("connected"));
  link.start();
  link.register();
  expect([link.suspendedMs(1), link.hasRoom, link.serveSession()]).toEqual([0, true, undefined]);
  isReady = true;
  link.register();
  expect(await first.executors.calls.next()).toMatchObject({ call: "connected", registration });
  await link.connected();
  await Promise.resolve();
  expect(order).toEqual(["joined: 200", "connected"]);
});

it("an executor shows each attempt by the proof of the one that it obeys that this is of the same application", async () => {
  const sent = jest.spyOn(MasterStream.prototype, "send");
  const { link } = await connectedTo();
  link.register();
  const proofs = sent.mock.calls.flatMap(([{ body }]) => (body.type === "register" ? [body.attemptProof.length] : []));
  expect(proofs).toEqual([0, expect.any(Number)]);
  expect(proofs[1]).toBeGreaterThan(0);
});

describe("what an executor says over its stream", () => {
  it("is of the attempt that it obeys and of the generation that it is about; an unsent one is replaced by the next of its name", async () => {
    const { link, executors } = await connectedTo();
    const sent = jest.spyOn(MasterStream.prototype, "send");
    const heartbeat = { type: "heartbeat", sentAtMs: 7 } as const;
    link.report(3, heartbeat, "heartbeat");
    expect(await executors.calls.next(({ call }) => call === "report")).toMatchObject({
      ...{ generation: 3, report: heartbeat },
    });
    expect(sent.mock.calls).toEqual([[{ attempt: 1, generation: 3, body: heartbeat }, "heartbeat"]]);
  });

  it("is held back for the readers of logs while sixteen messages wait", async () => {
    const { link } = await connectedTo();
    const waiting = jest.spyOn(MasterStream.prototype, "waiting", "get");
    const rooms = [15, 16].map((messages) => {
      waiting.mockReturnValue(messages);
      return link.hasRoom;
    });
    expect(rooms).toEqual([true, false]);
  });

  it("ends with a goodbye; nothing is tried or answered after that, and no stream is reported as lost", async () => {
    const left = jest.fn();
    const { link, executors } = await connectedTo({ left });
    await Promise.all([link.close("the job ends"), link.close("again")]);
    expect(await executors.calls.next(({ call }) => call === "report")).toMatchObject({
      report: { type: "goodbye", reason: "the job ends" },
    });
    expect(await executors.calls.next(({ call }) => call === "disconnected")).toMatchObject({ end: "goodbye" });
    const next = await master(2);
    expect(link.rejoin({ attempt: 2, address: next.address })).toEqual({
      accepted: false,
      reason: "the executor ends",
    });
    expect([left.mock.calls, next.executors.calls.rest]).toEqual([[], []]);
  });
});

it("an executor's calls for its program are made with its own words, and not at all without a stream", async () => {
  const hello = { protocol: PROTOCOL_VERSION, build: "test" };
  const gone = new AbortController();
  const asked: unknown[] = [];
  const { link, server } = await connectedTo(
    {},
    {
      feeds: {
        ask: async ({ feed, generation, call }) => {
          asked.push([feed, generation, call]);
          return { type: "ended" };
        },
      },
      ends: {
        await: async ({ roles }) => {
          asked.push(roles);
          return { tasks: [] };
        },
      },
      clients: {
        ...noClients,
        transact: async ({ generation, durable }) => {
          asked.push([generation, durable]);
          return { revision: 8, succeeded: true, results: [] };
        },
        watch: async (request, tell) => {
          asked.push(request);
          await tell({ type: "reset", attempt: 1, revision: 9 });
          return () => undefined;
        },
      },
      sessions: {
        ...noSessions,
        open: (session) => {
          asked.push([session.task, session.wanted]);
          session.fail("there are none");
        },
        taskIn: () => "worker:0",
        tenantOf: () => "worker:0",
      },
    },
  );
  const transaction = { conditions: [], success: [], failure: [] };
  const all = () => ({
    feed: link.askFeed({ feed: "lines", generation: 2, body: { type: "moved" } }, 60_000, gone.signal),
    ends: link.awaitEnds({ roles: ["ps"] }, 60_000, gone.signal),
    store: link.transact({ transaction, durable: true, generation: 2 }, 60_000),
    changes: link.watch({ from: "a", to: "b" }, gone.signal),
    session: link.openSession("worker:1", { type: "command", words: ["date"] }),
  });
  const { feed, ends, store, changes, session } = all();
  expect(await feed).toEqual({ type: "ended" });
  expect(await ends).toEqual({ tasks: [] });
  expect(await store).toMatchObject({ revision: 8 });
  expect(await changes?.next()).toMatchObject({ value: { watched: { revision: 9 } } });
  expect(session && (await new CollectedSession(session).end())).toEqual({ type: "failed", reason: "there are none" });
  expect(asked).toHaveLength(5);
  expect(asked).toEqual(
    expect.arrayContaining([
      ["lines", 2, { type: "moved" }],
      ["ps"],
      [2, true],
      { hello, from: "a", to: "b" },
      ["worker:1", { type: "command", words: ["date"] }],
    ]),
  );
  await server.close(0);
  await eventually("the stream is seen to have ended", () => link.serveSession() === undefined);
  expect(Object.values(all())).toEqual(Array(5).fill(undefined));
});

describe("an executor that reaches neither its ApplicationMaster nor the staging folder", () => {
  /** It has searched for so long; what it is told of its first program, which runs, and its uploads. */
  function cutOff(changes: Partial<MasterLinkOptions> = {}) {
    let nowMs = 0;
    const did: string[] = [];
    const link = linkTo("127.0.0.1:1", {
      monotonicMs: () => nowMs,
      gate: { open: () => void did.push("open"), close: (why) => void did.push(why.replace(/ was .*/s, "")) },
      suspend: (generation) => void did.push(`suspend ${generation}`),
      resume: (generation) => void did.push(`resume ${generation}`),
      orphaned: (silentMs) => void did.push(`orphaned for ${silentMs}`),
      replaced: () => void did.push("replaced"),
      ...changes,
    });
    link.start();
    link.programStarted(1);
    const at = async (time: number, what: string, isSeen = () => did.includes(what)) => {
      nowMs = time;
      // Whatever it is told, its timer is set anew.
      link.register();
      await eventually(what, isSeen);
    };
    return { link, did, at };
  }

  it("suspends its programs, one after the other, and resumes them when the folder answers", async () => {
    let isThere = false;
    const { link, did, at } = cutOff({
      suspend: (generation) => {
        did.push(`suspend ${generation}`);
        // What this causes waits until all programs of before are suspended.
        if (generation === 1) link.programStarted(3);
      },
      lookIntoStaging: async () => (isThere ? { isReplaced: false } : undefined),
    });
    link.programStarted(2);
    await at(30_000, "suspend 3");
    expect(did).toEqual([
      "Neither the ApplicationMaster nor the staging folder",
      ...["suspend 1", "suspend 2", "suspend 3"],
    ]);
    expect(link.suspendedMs(1)).toBe(1);
    link.programEnded(3);
    isThere = true;
    await at(60_000, "resume 2");
    expect(did.slice(4)).toEqual(["open", "resume 1", "resume 2"]);
    expect(link.suspendedMs(2)).toBe(30_000);
  });

  it("says so when its task runs elsewhere, and for how long it found nobody", async () => {
    const elsewhere = cutOff({ lookIntoStaging: async () => ({ isReplaced: true }) });
    await elsewhere.at(12_000, "replaced");
    expect(elsewhere.did).toEqual(["replaced"]);
    const alone = cutOff();
    await alone.at(781_000, "orphaned for 781000");
    expect(alone.did.slice(-1)).toEqual(["orphaned for 781000"]);
  });

  it("waits as long as its job says, when it knows that", async () => {
    let looks = 0;
    const { link, did, at } = cutOff({
      lookIntoStaging: async () => {
        looks += 1;
        return looks === 1 ? { isReplaced: false } : undefined;
      },
    });
    link.limits = { orphanMs: 780_000, isolationMs: 60_000 };
    await at(300, "a look", () => looks === 1);
    await at(40_000, "another look", () => looks === 2);
    expect(did).toEqual([]);
    await at(61_000, "suspend 1");
    expect(did).toHaveLength(2);
  });
});

it("an executor that ends obeys nothing more", async () => {
  const obeyed: MasterMessage["body"]["type"][] = [];
  const refused = jest.fn();
  const command = ({ body }: MasterMessage) => void obeyed.push(body.type);
  const { link, stream } = await connectedTo({ command, refused });
  stream?.send(1, { type: "tell-place" });
  await eventually("an order", () => obeyed.length > 0);
  link.endingBegins();
  stream?.send(1, { type: "tell-place" });
  stream?.send(1, { type: "refuse", reason: "it was released", fatal: true });
  await eventually("what is said last", () => refused.mock.calls.length > 0);
  expect(obeyed).toEqual(["tell-place"]);
});
