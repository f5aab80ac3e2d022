import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { FollowUpdate } from "../../../client/master/attempt-connection.ts";
import { MasterConnection } from "../../../client/master/master-connection.ts";
import { type ForwardOptions, forwardUntil, leadsTo } from "../../../client/sessions/forward.ts";
import { UserError } from "../../../src/errors.ts";
import type { JobStatus } from "../../../src/job/status.ts";
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
  async function* heard() {
    for (;;) {
      const [update, master] = await updates.next(() => true);
      yield { update, master };
      taken.put("taken");
      if (update.type === "outcome") return;
    }
  }
  const options: ForwardOptions = {
    find: ({ services: [service] }: JobStatus) => service && { task: service.task, port },
    show: leadsTo,
    localPort: undefined,
    json: true,
    conf: undefined,
    ...changes,
  };
  const over = forwardUntil(new AbortController().signal, id, options, context, heard);
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
    expect(await over).toMatchObject({ result: "succeeded" });
    await expect(read()).rejects.toMatchObject({ code: "ECONNREFUSED" });
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

  test("is not looked for in vain once it was found", async () => {
    const { say, over } = forwarding({ patience: { waitMs: () => 0, missing: () => missing } });
    await say(status(true));
    await say(status(false));
    await say(ended);
    expect(await over).toMatchObject({ result: "succeeded" });
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
