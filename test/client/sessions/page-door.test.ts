import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { LocalPort } from "../../../client/sessions/local-port.ts";
import { MOST_VIEWERS, PageDoor } from "../../../client/sessions/page-door.ts";
import { tcpSockets } from "../../../src/tcp-sockets.ts";
import { deferred } from "../../support/deferred.ts";

const html = Buffer.from("<html><style>a{}</style><script>1</script></html>");
const asked: string[] = [];
let isLost = false;
/** What the ApplicationMaster answers. */
let answer = `{"rev":1}`;
/** What it waits for before it answers. */
let wait: Promise<void> | undefined;
let door: PageDoor;
let local: LocalPort;

async function open(sockets = tcpSockets): Promise<LocalPort> {
  const opened = await LocalPort.listen(
    { rather: 0 },
    { serve: (socket) => door.serve(socket), failed: () => undefined, refused: () => undefined, sockets },
  );
  return opened;
}

beforeEach(async () => {
  asked.length = 0;
  isLost = false;
  wait = undefined;
  answer = `{"rev":1}`;
  door = new PageDoor({
    html,
    ask: async (path) => {
      asked.push(path);
      await wait;
      if (isLost) throw new Error("lost");
      return answer;
    },
    gatherMs: 0,
  });
  local = await open();
});
afterEach(() => local.close());

async function ask(path: string, accept = "*/*", method = "GET", at = local) {
  const [host, port] = at.address.split(":");
  const sent = request({ host, port, path, method, headers: { accept }, agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  const body = await text(response);
  const { "content-security-policy": policy, "cache-control": kept } = response.headers;
  return { status: response.statusCode, policy, kept, body };
}

describe("a job's page on this machine", () => {
  test("shows the job to who has the token, and the page alone to everybody else", async () => {
    const proof = `application/json; key=${door.token}`;
    expect(await ask("/")).toMatchObject({
      status: 200,
      body: html.toString(),
      policy: expect.stringContaining("'none'"),
    });
    expect(await ask("/api/v1/live?since=7", proof)).toMatchObject({
      status: 200,
      kept: "no-store",
      body: `{"rev":1}`,
    });
    for (const accept of ["*/*", "application/json", `application/json; key=${door.token}x`])
      expect(await ask("/api/v1/live?since=8", accept)).toMatchObject({ status: 403 });
    expect(asked).toEqual(["live?since=7"]);
    expect(door.token).not.toBe(new PageDoor({ html, ask: async () => "" }).token);
  });

  test("changes nothing, serves nothing else, and says where its ApplicationMaster is away", async () => {
    const proof = `application/json; key=${door.token}`;
    expect(await ask("/api/v1/live", proof, "POST")).toMatchObject({ status: 405 });
    expect(await ask("/elsewhere", proof)).toMatchObject({ status: 404 });
    expect(asked).toEqual([]);
    isLost = true;
    expect(await ask("/api/v1/live", proof)).toMatchObject({ status: 502 });
  });

  test("is no other user's of this machine", async () => {
    const others = await open(async () => (await tcpSockets()).map((one) => ({ ...one, uid: 4242 })));
    await expect(ask("/", "*/*", "GET", others)).rejects.toMatchObject({ code: "ECONNRESET" });
    others.close();
  });
});

describe("a page on this machine that is told of changes by itself", () => {
  /** What it is told, one after the other. */
  async function listen(query = "since=0&filter=a", token = door.token) {
    const [host, port] = local.address.split(":");
    const headers = { accept: `application/json; key=${token}` };
    const sent = request({ host, port, path: `/api/v1/stream?${query}`, headers, agent: false });
    sent.end();
    return await new Promise<IncomingMessage>((resolve, reject) => {
      sent.on("error", reject).on("response", (response) => resolve(response.setEncoding("utf8")));
    });
  }

  async function* eventsOf(response: IncomingMessage): AsyncGenerator<{ readonly rev: number }> {
    let pieces: string[] = [];
    for await (const piece of response) {
      pieces.push(piece);
      if (!String(piece).endsWith("\n\n")) continue;
      yield JSON.parse(pieces.join("").replace(/^data: /, ""));
      pieces = [];
    }
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  test("is told once of each, by what it shows of the job", async () => {
    const response = await listen();
    expect(response.headers["content-type"]).toBe("text/event-stream");
    const events = eventsOf(response);
    expect((await events.next()).value).toEqual({ rev: 1 });
    door.changed();
    await until(() => asked.length === 2);
    answer = `{"rev":2}`;
    const next = events.next();
    await until(() => {
      door.changed();
      return asked.length > 2;
    });
    expect((await next).value).toEqual({ rev: 2 });
    expect(asked.slice(0, 2)).toEqual(["live?since=0&filter=a", "live?since=1&filter=a"]);
    response.destroy();
  });

  test("who reads nothing is sent no second answer, and keeps nobody else waiting", async () => {
    const long = "x".repeat(8 * 2 ** 20);
    answer = JSON.stringify({ rev: 1, long });
    const idle = (await listen("filter=idle")).pause();
    const events = eventsOf(await listen("filter=busy"));
    expect((await events.next()).value?.rev).toBe(1);
    for (const rev of [2, 3]) {
      answer = JSON.stringify({ rev, long });
      const told = events.next();
      await until(() => {
        door.changed();
        return asked.some((path) => path === `live?filter=busy&since=${rev - 1}`);
      });
      expect((await told).value?.rev).toBe(rev);
    }
    expect(asked.filter((path) => path.includes("idle"))).toHaveLength(1);
    idle.destroy();
  });

  test("asks again by itself once the ApplicationMaster is away, and where there are too many", async () => {
    const responses: IncomingMessage[] = [];
    for (let count = 0; count < MOST_VIEWERS; count += 1) responses.push(await listen());
    expect((await listen()).statusCode).toBe(503);
    expect((await listen("", "another")).statusCode).toBe(403);
    await until(() => asked.length === MOST_VIEWERS);
    isLost = true;
    const ends = responses.map((response) => once(response.resume(), "end"));
    door.changed();
    await Promise.all(ends);
    isLost = false;
    const events = eventsOf(await listen());
    expect((await events.next()).value).toEqual({ rev: 1 });
  });

  test("is told how the job ended, and that nothing more comes, before the page is closed", async () => {
    const [first, second] = [eventsOf(await listen()), eventsOf(await listen("filter=b"))];
    for (const events of [first, second]) expect((await events.next()).value).toEqual({ rev: 1 });
    answer = `{"rev":2,"job":{"state":"succeeded"}}`;
    door.changed();
    const closed = door.close("it has ended");
    const last = { rev: 2, job: { state: "succeeded" }, isClosed: true, error: "it has ended" };
    for (const events of [first, second]) {
      expect((await events.next()).value).toEqual(last);
      expect((await events.next()).done).toBe(true);
    }
    await closed;
  });

  test("is closed when its viewers have been told so, not before", async () => {
    const events = eventsOf(await listen());
    expect((await events.next()).value).toEqual({ rev: 1 });
    const held = deferred();
    wait = held.promise;
    let isClosed = false;
    const closed = door.close("it has ended").then(() => {
      isClosed = true;
    });
    await until(() => asked.length === 2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    held.resolve();
    expect((await events.next()).value).toMatchObject({ error: "it has ended" });
    await closed;
  });

  test("is told that nothing more comes also where the ApplicationMaster has gone; a viewer who reads nothing delays that little", async () => {
    const events = eventsOf(await listen());
    expect((await events.next()).value).toEqual({ rev: 1 });
    isLost = true;
    const [over] = await Promise.all([events.next(), door.close("it has ended")]);
    expect(over.value).toEqual({ isClosed: true, error: "it has ended" });
    isLost = false;
    const idle = (await listen("filter=idle")).pause();
    answer = JSON.stringify({ rev: 3, long: "x".repeat(8 * 2 ** 20) });
    await door.close("it has ended");
    idle.destroy();
  });
});
