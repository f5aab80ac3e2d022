import { createServer } from "node:net";
import { connect } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { CallerSession } from "../../src/api/caller-session.ts";
import type { EndsAsked, FeedAsked } from "../../src/api/executor-endpoint.ts";
import { clientAccess, executorIdentity, makeIdentity, masterServerName } from "../../src/api/identity.ts";
import { type FeedCall, PROTOCOL_VERSION } from "../../src/api/messages.ts";
import type { SessionOutput } from "../../src/api/session-messages.ts";
import { transactions } from "../../src/job/store/transaction.ts";
import {
  aRegistration,
  executor,
  identity,
  noClients,
  noSessions,
  openStream,
  register,
  startMaster,
} from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { Inbox } from "../support/inbox.ts";
import { listenLocally, localAddress } from "../support/local-port.ts";

describe("the ApplicationMaster's server", () => {
  let master: Awaited<ReturnType<typeof startMaster>>;
  const streams: { close(): void }[] = [];

  beforeEach(async () => {
    master = await startMaster();
  });

  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    await master.server.close(0);
  });

  function open(given = executor) {
    const opened = openStream({ identity: given, address: master.address });
    streams.push(opened.stream);
    return opened;
  }

  it("welcomes an executor with the heartbeat interval and the job, and tells of its registration", async () => {
    const { stream, messages } = open();
    stream.send(register());
    const welcome = await messages.next();
    expect(welcome).toMatchObject({ attempt: 1, generation: 1, body: { type: "welcome", heartbeatIntervalMs: 200 } });
    const job = welcome.body.type === "welcome" ? Buffer.from(welcome.body.job).toString() : "";
    expect(JSON.parse(job)).toMatchObject({ applicationId: identity.applicationId, spec: { leadTask: "worker:0" } });
    expect(await master.executors.calls.next()).toMatchObject({ call: "connected", registration: aRegistration() });
  });

  it("carries reports one way and commands the other", async () => {
    const { stream, messages } = open();
    stream.send(register());
    const connected = await master.executors.calls.next(({ call }) => call === "connected");
    stream.send({ attempt: 1, generation: 1, body: { type: "child-started", pid: 17, atMs: 1_795_305_600_123 } });
    expect(await master.executors.calls.next()).toMatchObject({
      call: "report",
      generation: 1,
      report: { type: "child-started", pid: 17, atMs: 1_795_305_600_123 },
    });
    if ("link" in connected) connected.link.send(2, { type: "prepare", reason: "worker:1 exited 1" });
    expect(await messages.next(({ body }) => body.type === "prepare")).toEqual({
      attempt: 1,
      generation: 2,
      body: { type: "prepare", reason: "worker:1 exited 1" },
    });
  });

  it("refuses who has the client's secret, or that of another container", async () => {
    const strangers = [
      { ...executor.caller, secret: clientAccess(identity).caller.secret },
      {
        ...executor.caller,
        secret: executorIdentity(identity, "container_1795305600000_0001_01_000003").caller.secret,
      },
      clientAccess(identity).caller,
    ];
    for (const caller of strangers) {
      const { ends } = open({ ...executor, caller });
      expect(await ends.next()).toMatchObject({ code: "API_UNAUTHENTICATED", retryable: false });
    }
    expect(master.executors.calls.rest).toEqual([]);
  });

  it("asks the key-value store in the name of the task that the container has, and for no container without one", async () => {
    const asked: unknown[] = [];
    const answer = { revision: 7, succeeded: true, results: [] };
    const own = await startMaster({
      clients: {
        ...noClients,
        transact: async (...call) => {
          asked.push(call);
          return answer;
        },
      },
      sessions: {
        ...noSessions,
        taskIn: (containerId) => (containerId === executor.caller.name ? "worker:0" : undefined),
      },
    });
    const ask = (given: typeof executor) => {
      const { stream } = openStream({ identity: given, address: own.address });
      streams.push(stream);
      return stream.transact({ transaction: transactions.get("a"), durable: false, generation: 3 }, 10_000);
    };
    expect(await ask(executor)).toEqual(answer);
    expect(asked).toEqual([[expect.objectContaining({ generation: 3, durable: false }), "worker:0"]]);
    const other = executorIdentity(identity, "container_1795305600000_0001_01_000003");
    await expect(ask(other)).rejects.toMatchObject({
      code: "API_FAILED",
      message: expect.stringContaining("not part"),
    });
    await own.server.close(0);
  });

  it("ends what a container opened as soon as it is no part of the job, or another task's, and not because it is away", async () => {
    let tenant: string | undefined = "worker:0";
    const opened = new Inbox<CallerSession>();
    const watches = new Inbox<string>();
    const own = await startMaster({
      clients: {
        ...noClients,
        watch: async () => {
          watches.put("begun");
          return () => undefined;
        },
      },
      sessions: {
        ...noSessions,
        open: (session) => opened.put(session),
        taskIn: () => tenant,
        tenantOf: () => tenant,
      },
    });
    const { stream } = openStream({ identity: executor, address: own.address });
    streams.push(stream);
    const hello = { protocol: PROTOCOL_VERSION, build: "t" };
    const said = new Inbox<SessionOutput>();
    const ends: unknown[] = [];
    const begin = async () => {
      const session = stream.openSession();
      void session.receive(async (message) => said.put(message));
      await session.send({ type: "open", hello, task: "worker:1", wanted: { type: "stacks" } });
      await opened.next();
      const news = stream.watch({ hello, from: "shared/" }, new AbortController().signal);
      ends.push(news.next().catch((error: unknown) => error));
      await watches.next();
    };
    await begin();
    own.server.look();
    expect(said.rest).toEqual([]);
    for (const next of [undefined, "worker:2"]) {
      tenant = next;
      own.server.look();
      expect(await said.next()).toEqual({ type: "failed", reason: "the container is not part of the job any more" });
      expect(await ends.pop()).toMatchObject({ code: "API_FORBIDDEN" });
      tenant = "worker:0";
      await begin();
    }
    await own.server.close(0);
  });

  it("asks a feed in the name of the task that the container has, and says when nobody waits any more", async () => {
    const asked: FeedAsked[] = [];
    const own = await startMaster({
      feeds: {
        ask: (one) => {
          asked.push(one);
          return one.call.type === "ask" ? new Promise(() => undefined) : Promise.resolve({ type: "noted" });
        },
      },
      sessions: {
        ...noSessions,
        taskIn: (containerId) => (containerId === executor.caller.name ? "worker:0" : undefined),
      },
    });
    const ask = (given: typeof executor, body: FeedCall, gone = new AbortController().signal) => {
      const { stream } = openStream({ identity: given, address: own.address });
      streams.push(stream);
      const hello = { protocol: PROTOCOL_VERSION, build: "t" };
      return stream.askFeed({ hello, feed: "train", generation: 3, body }, 10_000, gone);
    };
    expect(await ask(executor, { type: "moved" })).toEqual({ type: "noted" });
    expect(asked).toMatchObject([{ feed: "train", task: "worker:0", generation: 3, call: { type: "moved" } }]);
    const lease = { number: 1, epoch: 0, position: 0 };
    await ask(executor, { type: "failed", lease, error: "x".repeat(100_000) });
    expect(asked.pop()?.call).toEqual({ type: "failed", lease, error: `${"x".repeat(4_096)}…` });
    const gone = new AbortController();
    const waits = ask(executor, { type: "ask", most: 1, atOnce: false, has: [] }, gone.signal);
    await eventually("the call that waits", () => asked.length === 2);
    gone.abort();
    await expect(waits).rejects.toMatchObject({ code: expect.stringMatching("API_") });
    await eventually("its end", () => asked[1]?.gone.aborted === true);
    const other = executorIdentity(identity, "container_1795305600000_0001_01_000003");
    await expect(ask(other, { type: "moved" })).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    await own.server.close(0);
  });

  it("says how other tasks ended, in the name of the task that the container has", async () => {
    const asked: EndsAsked[] = [];
    const tasks = [{ task: "worker:1", state: "failed", exit: "SIGKILL" }];
    const own = await startMaster({
      ends: {
        await: async (one) => {
          asked.push(one);
          return { tasks };
        },
      },
      sessions: {
        ...noSessions,
        taskIn: (containerId) => (containerId === executor.caller.name ? "evaluator:0" : undefined),
      },
    });
    const ask = (given: typeof executor) => {
      const { stream } = openStream({ identity: given, address: own.address });
      streams.push(stream);
      const hello = { protocol: PROTOCOL_VERSION, build: "t" };
      return stream.awaitEnds({ hello, roles: ["worker"] }, 10_000, new AbortController().signal);
    };
    expect(await ask(executor)).toEqual({ tasks });
    expect(asked).toMatchObject([{ task: "evaluator:0", roles: ["worker"] }]);
    const other = executorIdentity(identity, "container_1795305600000_0001_01_000003");
    await expect(ask(other)).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    await own.server.close(0);
  });

  it("lets no executor speak for another container, neither at first nor later", async () => {
    const others = aRegistration({ containerId: "container_1795305600000_0001_01_000003", task: "worker:1" });
    const first = open();
    first.stream.send(register(others));
    expect(await first.messages.next()).toMatchObject({ body: { type: "refuse", fatal: true } });
    expect(master.executors.calls.rest).toEqual([]);

    for (const later of [others, aRegistration({ task: "worker:1" })]) {
      const { stream, messages } = open();
      stream.send(register());
      await messages.next(({ body }) => body.type === "welcome");
      stream.send(register(later));
      expect(await messages.next(({ body }) => body.type === "refuse")).toMatchObject({ body: { fatal: true } });
    }
    const registered = master.executors.calls.rest.filter(({ call }) => call === "registered");
    expect(registered).toEqual([]);
  });

  it("is not believed by an executor of another application", async () => {
    const other = executorIdentity(makeIdentity(identity.applicationId), executor.caller.name);
    const { ends } = open(other);
    expect(await ends.next()).toMatchObject({ code: "API_UNAUTHENTICATED", retryable: false });
  });

  it.each([
    ["TLSv1.2", false],
    ["TLSv1.3", true],
  ] as const)("answers a caller of %s: %s", async (version, accepted) => {
    const outcome = await new Promise<string>((resolve) => {
      const socket = connect({
        port: master.server.port,
        host: "127.0.0.1",
        servername: masterServerName(identity.applicationId),
        rejectUnauthorized: false,
        minVersion: version,
        maxVersion: version,
        ALPNProtocols: ["h2"],
      });
      socket.on("secureConnect", () => {
        resolve(socket.getProtocol() ?? "");
        socket.destroy();
      });
      socket.on("error", (error) => resolve(error.message));
    });
    expect(outcome).toMatch(accepted ? /^TLSv1\.3$/ : /alert protocol version/);
  });

  it("is reached past the proxies that the environment names", async () => {
    const proxied: string[] = [];
    const proxy = createServer((socket) => {
      proxied.push("connection");
      socket.destroy();
    });
    await listenLocally(proxy);
    const url = `http://${localAddress(proxy)}`;
    const names = ["http_proxy", "https_proxy", "grpc_proxy"];
    for (const name of names) process.env[name] = url;
    try {
      const { stream, messages } = open();
      stream.send(register());
      expect(await messages.next()).toMatchObject({ body: { type: "welcome" } });
      expect(proxied).toEqual([]);
    } finally {
      for (const name of names) delete process.env[name];
      await new Promise((resolve) => proxy.close(resolve));
    }
  });

  it("turns away an executor of another protocol for good", async () => {
    const { stream, messages } = open();
    stream.send(register(aRegistration(), { protocol: 99 }));
    expect(await messages.next()).toMatchObject({
      body: { type: "refuse", fatal: true, reason: expect.stringContaining("executor-test speaks 99") },
    });
    expect(master.executors.calls.rest).toEqual([]);
  });

  it("turns away an executor whose host is no host name", async () => {
    const { stream, messages } = open();
    stream.send(register(aRegistration({ host: "node-1;reboot" })));
    expect(await messages.next()).toMatchObject({
      body: { type: "refuse", fatal: true, reason: 'its host is not a host name: "node-1;reboot"' },
    });
    expect(master.executors.calls.rest).toEqual([]);
  });

  it("turns away an executor that its handler does not know", async () => {
    master.executors.refusal = ({ containerId }) => `${containerId} was released`;
    const { stream, messages, ends } = open();
    stream.send(register());
    expect(await messages.next()).toMatchObject({
      body: { type: "refuse", fatal: true, reason: "container_1795305600000_0001_01_000002 was released" },
    });
    expect(await ends.next()).toBeUndefined();
    expect(master.executors.calls.rest).toEqual([]);
  });

  it("wants a registration first", async () => {
    const { stream, messages } = open();
    stream.send({ attempt: 1, generation: 1, body: { type: "heartbeat", sentAtMs: 1 } });
    expect(await messages.next()).toMatchObject({ body: { type: "refuse" } });
    expect(master.executors.calls.rest).toEqual([]);
  });

  it("learns from an executor that a later attempt has taken over, by what that attempt gave it", async () => {
    const later = await startMaster({ attempt: 2 });
    const there = openStream({ identity: executor, address: later.address });
    streams.push(there.stream);
    there.stream.send(register());
    const welcome = await there.messages.next();
    const attemptProof = welcome.body.type === "welcome" ? welcome.body.attemptProof : new Uint8Array();
    await later.server.close(0);

    const { stream } = open();
    stream.send(register(aRegistration(), { attempt: 2, attemptProof }));
    expect(await master.executors.calls.next()).toEqual({ call: "superseded", attempt: 2 });
    expect(master.executors.calls.rest).toEqual([]);
  });

  it("is not superseded by an executor that merely says so, before it is admitted or after", async () => {
    const proofOfOwn = await (async () => {
      const { stream, messages } = open();
      stream.send(register());
      const { body } = await messages.next();
      stream.send({ attempt: 4_294_967_295, generation: 1, body: { type: "heartbeat", sentAtMs: 1 } });
      expect(await messages.next()).toMatchObject({ body: { type: "refuse" } });
      return body.type === "welcome" ? body.attemptProof : new Uint8Array();
    })();
    for (const attemptProof of [new Uint8Array(), new Uint8Array(32), proofOfOwn]) {
      const { stream, messages } = open();
      stream.send(register(aRegistration(), { attempt: 4_294_967_295, attemptProof }));
      expect(await messages.next()).toMatchObject({ body: { type: "refuse" } });
    }
    expect(master.executors.calls.rest.filter(({ call }) => call === "superseded")).toEqual([]);
  });

  it("ignores reports meant for an earlier attempt", async () => {
    const { stream } = open();
    stream.send(register());
    stream.send({ attempt: 0, generation: 1, body: { type: "child-started", pid: 1, atMs: 1 } });
    stream.send({ attempt: 1, generation: 1, body: { type: "child-started", pid: 2, atMs: 2 } });
    expect(await master.executors.calls.next(({ call }) => call === "report")).toMatchObject({ report: { pid: 2 } });
  });

  it("tells a goodbye from a broken stream", async () => {
    const polite = open();
    polite.stream.send(register());
    await polite.messages.next();
    polite.stream.send({ attempt: 1, generation: 1, body: { type: "goodbye", reason: "told to end" } });
    await master.executors.calls.next((call) => call.call === "report");
    polite.stream.close();
    expect(await master.executors.calls.next(({ call }) => call === "disconnected")).toMatchObject({ end: "goodbye" });

    const broken = open();
    broken.stream.send(register());
    await broken.messages.next();
    broken.stream.close();
    expect(await master.executors.calls.next(({ call }) => call === "disconnected")).toMatchObject({ end: "broken" });
  });

  it("keeps one stream per container: a new one replaces the old", async () => {
    const first = open();
    first.stream.send(register());
    await first.messages.next();
    const second = open();
    second.stream.send(register());
    await second.messages.next();
    expect(await master.executors.calls.next(({ call }) => call === "disconnected")).toMatchObject({ end: "replaced" });
    await first.ends.next();
    second.stream.send({ attempt: 1, generation: 1, body: { type: "heartbeat", sentAtMs: 5 } });
    expect(await master.executors.calls.next(({ call }) => call === "report")).toMatchObject({
      report: { sentAtMs: 5 },
    });
    const third = open();
    third.stream.send(register());
    await third.messages.next();
    expect(await master.executors.calls.next(({ call }) => call === "disconnected")).toMatchObject({ end: "replaced" });
    await second.ends.next();
  });

  it("names the key when no port of the range is free", async () => {
    const { port } = master.server;
    await expect(startMaster({ ports: { from: port, to: port } })).rejects.toMatchObject({
      code: "NO_FREE_PORT",
      message: expect.stringContaining("tony.am.port-range"),
    });
  });
});
