import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { beforeEach, expect, test } from "@jest/globals";
import type { FollowUpdate } from "../../../client/master/attempt-connection.ts";
import { MasterConnection } from "../../../client/master/master-connection.ts";
import type { followRunning } from "../../../client/sessions/follow-running.ts";
import { showPage } from "../../../client/sessions/show-page.ts";
import { ExitCode } from "../../../src/errors.ts";
import { Inbox } from "../../support/inbox.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { type RecordedContext, recordedContext } from "../support.ts";

const id = "application_1_0007";
const status: FollowUpdate = { type: "status", status: aJobStatus() };
const ended: FollowUpdate = { type: "outcome", outcome: { ...allSucceeded, endedAtMs: 0 } };

let context: RecordedContext;
/** What the present ApplicationMaster answers. */
let rev = 1;
beforeEach(() => {
  context = recordedContext({});
  rev = 1;
});

function aMaster(name: string, refusal?: Error): MasterConnection {
  const never = () => {
    throw new Error("nobody asks for that");
  };
  const asking = { close: () => undefined, follow: never, openSession: never, readLog: never, stop: never };
  return new MasterConnection({
    ...{ ...asking, transact: never, watch: never },
    askPage: async () => {
      if (refusal !== undefined) throw refusal;
      return JSON.stringify({ rev, by: name });
    },
  });
}

/** A page whose job's ApplicationMasters say what the test puts there. */
function showing({ json = true, localPort }: { readonly json?: boolean; readonly localPort?: number } = {}) {
  const updates = new Inbox<readonly [FollowUpdate, MasterConnection] | "over">();
  const taken = new Inbox<"taken">();
  const heard: typeof followRunning = async function* (_id, _conf, _context, signal) {
    signal.addEventListener("abort", () => updates.put("over"), { once: true });
    for (;;) {
      const next = await updates.next();
      if (next === "over") return;
      const [update, master] = next;
      yield { update, master };
      taken.put("taken");
    }
  };
  const over = showPage(id, { localPort, json, conf: undefined }, context, heard);
  over.catch(() => undefined);
  const say = async (update: FollowUpdate, master: MasterConnection) => {
    updates.put([update, master]);
    if (update.type !== "outcome") await taken.next();
  };
  const end = () => updates.put("over");
  return { say, end, over };
}

async function open(path: string): Promise<IncomingMessage> {
  const { url }: { readonly url: string } = JSON.parse(context.out.text);
  const { hostname, port, hash } = new URL(url);
  const headers = { accept: `application/json; key=${hash.slice(1)}` };
  const sent = request({ hostname, port, path: `/api/v1/${path}`, headers, agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  return response.setEncoding("utf8");
}

/** Waits for the next event of a page's stream. */
async function event(stream: IncomingMessage): Promise<unknown> {
  const [data] = await once(stream, "data");
  return JSON.parse(String(data).replace(/^data: /, ""));
}

test("a page is told of each change of its job, by whichever ApplicationMaster it has, and at last of its end", async () => {
  const { say, over } = showing();
  const first = aMaster("first");
  await say(status, first);
  const stream = await open("stream?since=0");
  expect(await event(stream)).toEqual({ rev: 1, by: "first" });
  rev = 2;
  await say(status, first);
  expect(await event(stream)).toEqual({ rev: 2, by: "first" });

  first.close();
  expect((await open("live")).statusCode).toBe(502);
  rev = 3;
  await say(status, aMaster("second"));
  expect(await event(stream)).toEqual({ rev: 3, by: "second" });

  await say(ended, aMaster("second"));
  const words = `${id} has ended (succeeded): tony-ts status ${id}`;
  expect(JSON.parse((await text(stream)).replace(/^data: /, ""))).toMatchObject({ isClosed: true, error: words });
  expect(await over).toBe(ExitCode.succeeded);
  expect(context.err.text).toBe(`${words}\n`);
  await expect(open("live")).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("a page whose job ends without a word is told that it has ended", async () => {
  const { say, end, over } = showing();
  await say(status, aMaster("first"));
  const stream = await open("stream?since=0");
  await event(stream);
  end();
  const words = `${id} has ended: tony-ts status ${id}`;
  expect(JSON.parse((await text(stream)).replace(/^data: /, ""))).toMatchObject({ isClosed: true, error: words });
  expect(await over).toBe(ExitCode.succeeded);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("a page is closed at %s, and the job goes on", async (signal) => {
  const before = process.listenerCount(signal);
  const { say, over } = showing({ json: false });
  await say(status, aMaster("first"));
  expect(context.out.text).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/#\S+ shows application_1_0007 until the job ends; Ctrl-C closes the page, and the job goes on\n$/,
  );
  process.emit(signal, signal);
  expect(await over).toBe(ExitCode.succeeded);
  expect([process.listenerCount(signal), context.err.text]).toEqual([before, ""]);
});

test("a page is at the port that is wanted, and nowhere for who may not see the job", async () => {
  const first = showing();
  await first.say(status, aMaster("first"));
  const { url }: { readonly url: string } = JSON.parse(context.out.text);
  const port = Number(new URL(url).port);
  const taken = showing({ localPort: port });
  await Promise.race([taken.say(status, aMaster("first")), taken.over.catch(() => undefined)]);
  await expect(taken.over).rejects.toMatchObject({ code: "LOCAL_PORT_TAKEN" });
  first.end();
  await first.over;
  context.out.text = "";
  const refusal = new Error("carol may not");
  const refused = showing({ localPort: port });
  await Promise.race([refused.say(status, aMaster("first", refusal)), refused.over.catch(() => undefined)]);
  await expect(refused.over).rejects.toBe(refusal);
  expect(context.out.text).toBe("");
  const wanted = showing({ localPort: port });
  await wanted.say(status, aMaster("first"));
  expect(context.out.text).toContain(`http://127.0.0.1:${port}/#`);
  wanted.end();
  await wanted.over;
});
