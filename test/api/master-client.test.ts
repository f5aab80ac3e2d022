import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { CallerSession } from "../../src/api/caller-session.ts";
import type { ClientHandler, Follower, LogReader } from "../../src/api/client-endpoint.ts";
import { clientAccess } from "../../src/api/identity.ts";
import { MasterClient } from "../../src/api/master-client.ts";
import type { FollowMessage, ReadLogRequest, StoreRequest, WatchRequest } from "../../src/api/messages.ts";
import type { Entry, Result, StoreAnswer, Transaction } from "../../src/job/store/transaction.ts";
import type { Watched } from "../../src/job/store/watched.ts";
import { executor, identity, noSessions, ownersDoor, startMaster } from "../support/api.ts";
import { deferred } from "../support/deferred.ts";
import { eventually } from "../support/eventually.ts";
import { Inbox } from "../support/inbox.ts";

const access = clientAccess(identity);

class RecordingClients implements ClientHandler {
  readonly followers = new Inbox<Follower>();
  readonly readers = new Inbox<{ readonly request: ReadLogRequest; readonly reader: LogReader }>();
  readonly gone = new Inbox<"follower" | "reader">();
  readonly stops: string[] = [];
  readonly transactions: Transaction[] = [];
  news: Watched[] = [];
  watches = 0;
  watchEnded = false;
  /** When a watch begins. */
  begun: Promise<void> = Promise.resolve();
  readonly results: Result[] = [];

  follow(follower: Follower): () => void {
    this.followers.put(follower);
    return () => this.gone.put("follower");
  }

  readLog(request: ReadLogRequest, reader: LogReader): () => void {
    this.readers.put({ request, reader });
    return () => this.gone.put("reader");
  }

  stop(reason: string): boolean {
    this.stops.push(reason);
    return true;
  }

  async watch({ from }: WatchRequest, tell: (news: Watched) => Promise<void>): Promise<() => void> {
    if (from === "forbidden") throw new Error("not yours");
    this.watches += 1;
    await this.begun;
    for (const news of this.news) await tell(news);
    return () => {
      this.watchEnded = true;
    };
  }

  async askPage(path: string): Promise<string> {
    if (path === "off") throw new Error("its page is off");
    return JSON.stringify({ path });
  }

  async transact({ transaction, owner = "" }: StoreRequest): Promise<StoreAnswer> {
    if (owner === "worker:9") throw new Error("the journal is away");
    if (owner !== "") return { code: "no-owner", message: `${owner} does not live` };
    this.transactions.push(transaction);
    return { revision: 7, succeeded: false, results: this.results };
  }
}

describe("a client of the ApplicationMaster", () => {
  let clients: RecordingClients;
  let master: Awaited<ReturnType<typeof startMaster>>;
  let client: MasterClient;

  beforeEach(async () => {
    clients = new RecordingClients();
    master = await startMaster({ clients });
    client = new MasterClient({ address: master.address, access, build: "client-test" });
  });

  afterEach(async () => {
    client.close();
    await master.server.close(0);
  });

  const textOf = (message: FollowMessage | undefined) => {
    const body = message?.body;
    if (body?.type === "status") return Buffer.from(body.status).toString();
    return body?.type === "outcome" ? Buffer.from(body.outcome).toString() : undefined;
  };

  it("is told every change and the outcome, after which there is nothing more", async () => {
    const told = client.follow();
    const first = told.next();
    const follower = await clients.followers.next();
    follower.status(Buffer.from("{1}"));
    expect(await first).toMatchObject({ value: { attempt: 1, body: { type: "status" } } });
    follower.outcome(Buffer.from("{done}"));
    const rest: string[] = [];
    for await (const message of told) rest.push(textOf(message) ?? "");
    expect(rest).toEqual(["{done}"]);
    expect(await clients.gone.next()).toBe("follower");
  });

  it("may leave at any time, and the ApplicationMaster hears of it", async () => {
    const leaving = new AbortController();
    const told = client.follow(leaving.signal);
    const next = told.next();
    await clients.followers.next();
    leaving.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await clients.gone.next()).toBe("follower");
  });

  it("reads a log to its end", async () => {
    const request = { task: "worker:0", stream: "stderr", offset: -100, follow: false } as const;
    const chunks = client.readLog(request);
    const first = chunks.next();
    const opened = await clients.readers.next();
    expect(opened.request).toMatchObject(request);
    const chunk = { tailId: 0, stream: "stderr", offset: 900, generation: 2, skippedBytes: 0 } as const;
    await opened.reader.send({ ...chunk, data: Buffer.from("oops\n"), end: false });
    await opened.reader.send({ ...chunk, offset: 905, data: Buffer.alloc(0), end: true });
    expect(await first).toMatchObject({ value: { offset: 900, generation: 2, end: false } });
    expect(await chunks.next()).toMatchObject({ value: { offset: 905, end: true } });
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  it("is told why a log cannot be read", async () => {
    const chunks = client.readLog({ task: "worker:9", stream: "stdout", offset: 0, follow: false });
    const first = chunks.next();
    (await clients.readers.next()).reader.fail("the job has no task worker:9");
    await expect(first).rejects.toMatchObject({
      code: "API_FAILED",
      message: expect.stringContaining("the job has no task worker:9"),
    });
  });

  it("may ask for the job's end", async () => {
    expect(await client.stop("killed by ada", 60_000)).toBe(true);
    expect(clients.stops).toEqual(["killed by ada"]);
  });

  it("reads and writes the job's store: every condition, operation and result arrives as it was sent", async () => {
    const key = "é𝄞";
    const value = "\u0000\u00ff";
    const range = { from: "a", to: "b" };
    const conditions: Transaction["conditions"] = [
      { of: "exists", key },
      { of: "missing", key },
      { of: "value", key, is: "≥", to: value },
      { of: "owner", key, is: "≠", to: "worker:0" },
      { of: "created", key, is: "<", to: 3 },
      { of: "modified", key, is: "≤", to: 3 },
      { of: "version", key, is: ">", to: 0 },
    ];
    const success: Transaction["success"] = [
      { type: "get", key },
      { type: "put", key, value, owned: true },
      { type: "list", range, limit: 3, keysOnly: true },
      { type: "delete", range: { from: "" } },
    ];
    const failure: Transaction["failure"] = [{ type: "list", range: { from: "c" }, keysOnly: false }];
    const entry: Entry = { key, value, created: 1, modified: 2 ** 40, version: 4 };
    const owned: Entry = { ...entry, owner: { task: "worker:0", generation: 3 } };
    clients.results.push({ type: "get", entry }, { type: "get" }, { type: "put", before: owned }, { type: "put" });
    clients.results.push({ type: "list", entries: [entry, owned], more: true }, { type: "delete", deleted: 5 });
    const answer = await client.transact({ conditions, success, failure }, undefined, 60_000);
    expect(clients.transactions).toEqual([{ conditions, success, failure }]);
    expect(answer).toEqual({ revision: 7, succeeded: false, results: clients.results });
  });

  it("is told why nothing was written, or that nobody knows", async () => {
    const nothing = { conditions: [], success: [], failure: [] };
    const refusal = { code: "no-owner", message: "worker:1 does not live" };
    expect(await client.transact(nothing, "worker:1", 60_000)).toEqual(refusal);
    await expect(client.transact(nothing, "worker:9", 60_000)).rejects.toMatchObject({
      code: "API_FAILED",
      message: expect.stringContaining("the journal is away"),
    });
  });

  it("asks what the job's page asks, and is told where that is off", async () => {
    expect(await client.askPage("live?since=7", 60_000)).toBe(`{"path":"live?since=7"}`);
    await expect(client.askPage("off", 60_000)).rejects.toMatchObject({
      message: expect.stringContaining("its page is off"),
    });
  });

  it("that leaves before its watch has begun is not told for ever", async () => {
    const { promise, resolve: begin } = deferred();
    clients.begun = promise;
    const leaving = new AbortController();
    const first = client.watch({ from: "a" }, leaving.signal).next();
    await eventually("the watch", () => clients.watches > 0);
    leaving.abort();
    expect(await first).toMatchObject({ done: true });
    // Over the same connection: by its answer the ApplicationMaster has heard that the watcher left.
    await client.stop("later", 60_000);
    begin();
    await eventually("the watch's end", () => clients.watchEnded);
  });

  it("does not wait to send for a session that has ended meanwhile", async () => {
    const opened = new Inbox<CallerSession>();
    const unread = await startMaster({ sessions: { ...noSessions, open: (session) => opened.put(session) } });
    const caller = new MasterClient({ address: unread.address, access, build: "client-test" });
    const session = caller.openSession("worker:0", { type: "command", words: ["cat"] });
    const received = session.receive(async () => undefined);
    const sent = session.send({ type: "data", data: Buffer.alloc(8 * 1024 ** 2) });
    (await opened.next()).fail("the task has ended");
    expect(await session.over).toBeUndefined();
    await Promise.all([sent, received]);
    caller.close();
    await unread.server.close(0);
  });

  it("sends nothing more for a session that it has finished", async () => {
    const opened = new Inbox<CallerSession>();
    const sessions = { ...noSessions, open: (session: CallerSession) => opened.put(session) };
    const idle = await startMaster({ sessions });
    const caller = new MasterClient({ address: idle.address, access, build: "client-test" });
    const session = caller.openSession("worker:0", { type: "command", words: ["cat"] });
    const received = session.receive(async () => undefined);
    session.finish();
    await session.send({ type: "data", data: Buffer.from("late") });
    (await opened.next()).fail("the task has ended");
    expect(await session.over).toBeUndefined();
    await received;
    caller.close();
    await idle.server.close(0);
  });

  it("is refused with an executor's secret", async () => {
    const strangers = [{ ...access.caller, secret: executor.caller.secret }, executor.caller];
    for (const caller of strangers) {
      const intruder = new MasterClient({
        address: master.address,
        access: { ...access, caller },
        build: "client-test",
      });
      await expect(intruder.stop("mine", 60_000)).rejects.toMatchObject({
        code: "API_UNAUTHENTICATED",
        retryable: false,
      });
      intruder.close();
    }
    expect(clients.stops).toEqual([]);
  });

  it("is told what it may not do, and nothing happens", async () => {
    const why = "carol may not do that";
    const refusal = async (_caller: string, right: string) => (right === "modify" ? why : undefined);
    const guarded = await startMaster({ clients, door: { ...ownersDoor, refusal } });
    const viewer = new MasterClient({ address: guarded.address, access, build: "client-test" });
    await expect(viewer.stop("mine", 60_000)).rejects.toMatchObject({
      code: "API_FORBIDDEN",
      message: expect.stringContaining(why),
    });
    expect(clients.stops).toEqual([]);
    const told = viewer.follow();
    const first = told.next();
    (await clients.followers.next()).status(Buffer.from("{1}"));
    expect(textOf((await first).value ?? undefined)).toBe("{1}");
    viewer.close();
    await guarded.server.close(0);
  });

  it("sees neither status nor log without the right to", async () => {
    const guarded = await startMaster({ clients, door: { ...ownersDoor, refusal: async () => "bob may not see it" } });
    const bob = new MasterClient({ address: guarded.address, access, build: "client-test" });
    const log = { task: "am", stream: "stdout", offset: 0, follow: false } as const;
    await expect(bob.follow().next()).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    await expect(bob.readLog(log).next()).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    expect([clients.followers.rest, clients.readers.rest]).toEqual([[], []]);
    bob.close();
    await guarded.server.close(0);
  });

  it("is told that nobody is there, which may pass", async () => {
    await master.server.close(0);
    await expect(client.stop("late", 2000)).rejects.toMatchObject({ code: "API_UNREACHABLE", retryable: true });
    await expect(client.follow().next()).rejects.toMatchObject({ code: "API_UNREACHABLE" });
  });

  it("watches the store: what it is told, in its order, until the last word, or what refuses it", async () => {
    const change = { type: "delete", revision: 4, key: "shared/a" } as const;
    clients.news = [
      { type: "changes", attempt: 1, revision: 3, changes: [] },
      { type: "changes", attempt: 1, revision: 4, changes: [change] },
      { type: "reset", attempt: 2, revision: 9 },
    ];
    const told: Watched[] = [];
    for await (const { watched } of client.watch({ from: "" })) told.push(watched);
    expect(told).toEqual(clients.news);
    await eventually("the watch is ended", () => clients.watchEnded);
    const refused = client.watch({ from: "forbidden" });
    await expect(refused.next()).rejects.toMatchObject({ message: expect.stringContaining("not yours") });
  });
});
