import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { FollowUpdate } from "../../../client/master/attempt-connection.ts";
import { MasterConnection } from "../../../client/master/master-connection.ts";
import type { followRunning } from "../../../client/sessions/follow-running.ts";
import { type ForwardOptions, forwardUntilEnd, leadsTo } from "../../../client/sessions/forward.ts";
import { UserError } from "../../../src/errors.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { ownersDoor } from "../../support/api.ts";
import { Inbox } from "../../support/inbox.ts";
import { SessionScene } from "../../support/session-scene.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { type RecordedContext, recordedContext } from "../support.ts";

const id = "application_1_0007";
const ended: FollowUpdate = { type: "outcome", outcome: { ...allSucceeded, endedAtMs: 0 } };
const missing = new UserError("it has no TensorBoard", { code: "NO_TENSORBOARD" });

let context: RecordedContext;
let scene: SessionScene;
/** What the job's program listens with. */
let program: Server;
let port: number;
beforeEach(async () => {
  context = recordedContext({});
  scene = await SessionScene.open();
  program = createServer((socket) => void socket.end("hello"));
  program.listen(0, "127.0.0.1");
  await once(program, "listening");
  const address = program.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterEach(async () => {
  program.close();
  await scene.close();
});

/** The job as its AM tells it: with the service that is looked for, or without it yet. */
const status = (has: boolean): FollowUpdate => {
  const services = has ? [{ name: "tensorboard", task: "worker:0", url: `http://127.0.0.12:${port}` }] : [];
  return { type: "status", status: aJobStatus({ services }) };
};

/** A job whose AMs say what the test puts there. */
function forwarding(changes: Partial<ForwardOptions> = {}) {
  const updates = new Inbox<readonly [FollowUpdate, MasterConnection]>();
  const taken = new Inbox<"taken">();
  const first = new MasterConnection(scene.client);
  const heard: typeof followRunning = async function* (_id, _conf, _context, signal) {
    const aborted = new Promise<"aborted">((resolve) => {
      signal.addEventListener("abort", () => resolve("aborted"), { once: true });
    });
    for (;;) {
      const next = await Promise.race([updates.next(() => true), aborted]);
      if (next === "aborted") return;
      const [update, master] = next;
      yield { update, master };
      taken.put("taken");
      if (update.type === "outcome") return;
    }
  };
  const options: ForwardOptions = {
    find: ({ services: [service] }: JobStatus) => service && { task: service.task, port },
    show: leadsTo,
    localPort: undefined,
    json: true,
    conf: undefined,
    ...changes,
  };
  const over = forwardUntilEnd(id, options, context, heard);
  over.catch(() => undefined);
  const say = async (update: FollowUpdate, master = first) => {
    updates.put([update, master]);
    if (update.type !== "outcome") await Promise.race([taken.next(() => true), over.catch(() => undefined)]);
  };
  return { say, over };
}

const told = () => context.err.text.trimEnd().split("\n");
/** What comes from the forwarded port. */
async function read(): Promise<string> {
  const { address }: { readonly address: string } = JSON.parse(context.out.text);
  return await text(connect(Number(address.split(":")[1]), "127.0.0.1"));
}

describe("a port of this machine", () => {
  test("leads to the task's, as long as the job runs; a restart in which that has none closes nothing", async () => {
    const { say, over } = forwarding();
    await say(status(true));
    expect(JSON.parse(context.out.text)).toMatchObject({ task: "worker:0", port });
    expect(await read()).toBe("hello");
    await say(status(false));
    expect(await read()).toBe("hello");
    await say(ended);
    expect(await over).toBe(0);
    expect(context.err.text).toBe(`${id} has ended (succeeded): nothing is forwarded any more\n`);
    await expect(read()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("is closed at %s, and the job goes on", async (signal) => {
    const before = process.listenerCount(signal);
    const { say, over } = forwarding();
    await say(status(true));
    expect(await read()).toBe("hello");
    process.emit(signal, signal);
    expect(await over).toBe(0);
    expect(context.err.text).toBe("");
    expect(process.listenerCount(signal)).toBe(before);
    await expect(read()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  /** The same, of a task on another machine. */
  const elsewhere = (update: FollowUpdate): FollowUpdate =>
    update.type === "outcome"
      ? update
      : {
          ...update,
          status: { ...update.status, tasks: update.status.tasks.map((task) => ({ ...task, host: "192.0.2.1" })) },
        };

  test("is the task's own where that is on another machine, or exactly the one that is wanted", async () => {
    program.close();
    const first = forwarding({ json: false });
    await first.say(elsewhere(status(true)));
    expect(context.out.text).toBe(`127.0.0.1:${port} is forwarded to port ${port} of worker:0; Ctrl-C ends it\n`);
    const second = forwarding({ localPort: port });
    await second.say(elsewhere(status(true)));
    await expect(second.over).rejects.toMatchObject({ code: "LOCAL_PORT_TAKEN" });
    await first.say(ended);
    await first.over;
  });

  test("is never the task's own on that one's machine, where its executor would take it for the program's", async () => {
    program.close();
    const any = forwarding();
    await any.say(status(true));
    const { address }: { readonly address: string } = JSON.parse(context.out.text);
    expect(address).not.toBe(`127.0.0.1:${port}`);
    const same = forwarding({ localPort: port });
    await same.say(status(true));
    await expect(same.over).rejects.toMatchObject({
      code: "LOCAL_PORT_TAKEN",
      message: `--local-port ${port}: this machine is the node of worker:0, and that port is the task's own; name another, or leave it out for any free one`,
    });
    await any.say(ended);
    await any.over;
    context.out.text = "";
    const wanted = Number(address.split(":")[1]);
    const exactly = forwarding({ localPort: wanted });
    await exactly.say(status(true));
    expect(JSON.parse(context.out.text)).toEqual({ jsonVersion: 1, address, task: "worker:0", port });
    await exactly.say(ended);
    await exactly.over;
  });

  test("is not opened for who may not, and closed for who may not any more", async () => {
    await scene.close();
    let refusal: string | undefined = "carol may not";
    scene = await SessionScene.open({ door: { ...ownersDoor, refusal: async () => refusal } });
    const none = forwarding();
    await none.say(status(true));
    await expect(none.over).rejects.toMatchObject({ code: "API_FORBIDDEN" });
    expect(context.out.text).toBe("");
    refusal = undefined;
    const some = forwarding();
    await some.say(status(true));
    refusal = "carol may not";
    await expect(read()).rejects.toMatchObject({ code: "ECONNRESET" });
    await expect(some.over).rejects.toMatchObject({ code: "API_FORBIDDEN" });
  });

  test("says why a connection cannot be served, once, and goes on", async () => {
    const { say, over } = forwarding();
    await say(status(true));
    program.close();
    for (let times = 0; times < 2; times += 1) await expect(read()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(told()).toEqual([expect.stringContaining(`nothing listens on port ${port}`)]);
    await say(ended);
    expect(await over).toBe(0);
  });

  test("is told once that the job has not opened its own, and then why it never will", async () => {
    const patience = { waitMs: () => 1_000, missing: () => missing };
    const { say, over } = forwarding({ patience });
    await say(status(false));
    await say(status(false));
    expect(told()).toEqual(["The job has not opened its port yet: waiting for it"]);
    context.clock.nowMs += 1_000;
    await say(status(false));
    await expect(over).rejects.toBe(missing);
  });

  test("is waited for as long as the job runs where nothing else is said", async () => {
    const { say, over } = forwarding();
    await say(status(false));
    context.clock.nowMs += 3_600_000;
    await say(status(false));
    expect([context.out.text, context.err.text]).toEqual(["", ""]);
    await say(status(true));
    expect(await read()).toBe("hello");
    await say(ended);
    await over;
  });

  test("is not looked for in vain once it was found", async () => {
    const { say, over } = forwarding({ patience: { waitMs: () => 0, missing: () => missing } });
    await say(status(true));
    await say(status(false));
    await say(ended);
    expect(await over).toBe(0);
  });

  test("is opened when the program listens, which is waited for as long as is said", async () => {
    program.close();
    const { say, over } = forwarding({ listensWithinMs: 60_000 });
    await say(status(true));
    context.clock.nowMs += 59_999;
    await say(status(true));
    const silence = `worker:0 runs but does not listen on its port ${port}`;
    expect([context.out.text, told()]).toEqual(["", [`${silence} yet: waiting for it, up to 1 min`]]);
    context.clock.nowMs += 1;
    await say(status(true));
    await expect(over).rejects.toMatchObject({
      code: "NOT_LISTENING",
      message: `${silence} after 1 min: tony-ts logs ${id} worker:0 shows what it prints; the job runs on`,
    });
  });

  test("leads on by the next ApplicationMaster, and to nobody while there is none", async () => {
    const { say, over } = forwarding();
    const lost = new MasterConnection({ ...masterOf(), close: () => undefined });
    await say(status(true), lost);
    expect(await read()).toBe("hello");
    lost.close();
    await expect(read()).rejects.toMatchObject({ code: "ECONNRESET" });
    await say(status(true));
    expect(await read()).toBe("hello");
    await say(ended);
    await over;
  });
});

/** Asks by the scene's own client, which stays open. */
function masterOf(): ConstructorParameters<typeof MasterConnection>[0] {
  const { client } = scene;
  return {
    askPage: (...words) => client.askPage(...words),
    close: () => undefined,
    follow: (signal) => client.follow(signal),
    openSession: (...wanted) => client.openSession(...wanted),
    readLog: (...wanted) => client.readLog(...wanted),
    stop: (...words) => client.stop(...words),
    transact: (...wanted) => client.transact(...wanted),
    watch: (...wanted) => client.watch(...wanted),
  };
}

test("a person reads where the port is, and to what it leads", () => {
  expect(leadsTo("127.0.0.1:8080", { task: "worker:0", port: 80 })).toBe(
    "127.0.0.1:8080 is forwarded to port 80 of worker:0; Ctrl-C ends it",
  );
});
