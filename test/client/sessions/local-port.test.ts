import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "@jest/globals";
import { carriedBy } from "../../../client/sessions/carry-connection.ts";
import { LocalPort, type LocalPortChoice } from "../../../client/sessions/local-port.ts";
import { tcpSockets } from "../../../src/tcp-sockets.ts";
import { ownersDoor } from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { type SceneOptions, SessionScene } from "../../support/session-scene.ts";

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A server on the node of worker:0. */
async function serve(answer: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => answer(socket.on("error", () => undefined)));
  ended.push(() => server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return portOf(server);
}

interface Forwarded {
  readonly scene: SessionScene;
  readonly local: LocalPort;
  readonly failed: string[];
  readonly refused: unknown[];
}

async function forward(
  port: number,
  choice: LocalPortChoice = { rather: 0 },
  scene: SceneOptions = {},
  sockets = tcpSockets,
) {
  const made = await SessionScene.open(scene);
  ended.push(() => made.close());
  const failed: string[] = [];
  const refused: unknown[] = [];
  const local = await LocalPort.listen(choice, {
    serve: carriedBy(() => made.client.openSession("worker:0", { type: "connection", port })),
    failed: (reason) => failed.push(reason),
    refused: (error) => refused.push(error),
    sockets,
  });
  ended.push(() => local.close());
  return { scene: made, local, failed, refused } satisfies Forwarded;
}

function dial({ local }: Forwarded): Socket {
  const [host = "", port] = local.address.split(":");
  const socket = connect({ host, port: Number(port), allowHalfOpen: true });
  ended.push(() => socket.destroy());
  return socket.on("error", () => undefined);
}

describe("a port of this machine", () => {
  it("resets connections while there is nobody to ask for a session, and serves those that come later", async () => {
    const port = await serve((socket) => socket.end("here"));
    const { client } = await SessionScene.open().then((scene) => {
      ended.push(() => scene.close());
      return scene;
    });
    let isLost = true;
    const refused: unknown[] = [];
    const local = await LocalPort.listen(
      { rather: 0 },
      {
        serve: carriedBy(() => (isLost ? undefined : client.openSession("worker:0", { type: "connection", port }))),
        failed: () => undefined,
        refused: (error) => refused.push(error),
      },
    );
    ended.push(() => local.close());
    const [host = "", localPort] = local.address.split(":");
    const first = connect({ host, port: Number(localPort) });
    const [error] = await once(first, "error").catch((reason: unknown) => [reason]);
    expect(error).toMatchObject({ code: "ECONNRESET" });
    isLost = false;
    expect(await text(connect({ host, port: Number(localPort) }))).toBe("here");
    expect(refused).toEqual([]);
  });

  it("forwards several connections at once to the task's node", async () => {
    const port = await serve((socket) => socket.pipe(socket));
    const forwarded = await forward(port);
    const sockets = ["one", "two", "three"].map((word) => dial(forwarded).end(word));
    expect(await Promise.all(sockets.map((socket) => text(socket)))).toEqual(["one", "two", "three"]);
    expect(forwarded.local.address).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it("carries what comes after the caller's end, and after the server's", async () => {
    let heard = "";
    const port = await serve((socket) => {
      socket.end("greeting");
      socket.on("data", (data) => (heard += String(data)));
    });
    const forwarded = await forward(port);
    const socket = dial(forwarded);
    let greeting = "";
    socket.on("data", (data) => (greeting += String(data)));
    await once(socket, "end");
    expect(greeting).toBe("greeting");
    socket.end("after the end");
    await eventually("the server hears it", () => heard === "after the end");
    expect(forwarded.failed).toEqual([]);
  });

  it("loses no byte of what a slow reader takes, and keeps little of it", async () => {
    const whole = Buffer.alloc(20_000_000, "0123456789abcdef");
    let flushed = false;
    const port = await serve((socket) => void socket.end(whole, () => (flushed = true)));
    const forwarded = await forward(port);
    const socket = dial(forwarded).pause();
    await once(socket, "connect");
    // Whoever reads nothing is sent nothing more, and others are served.
    const other = dial(forwarded);
    await once(other, "readable");
    other.destroy();
    expect(flushed).toBe(false);
    expect((await buffer(socket)).equals(whole)).toBe(true);
  });

  it("closes the server's side when the caller is gone", async () => {
    let closed = false;
    const port = await serve((socket) => {
      socket
        .on("close", () => (closed = true))
        .on("end", () => socket.end())
        .resume();
      socket.write("greeting");
    });
    const socket = dial(await forward(port));
    await once(socket, "data");
    socket.resetAndDestroy();
    await eventually("it is closed", () => closed);
    expect(closed).toBe(true);
  });

  it("ends its connections with itself", async () => {
    const port = await serve((socket) => socket.write("greeting"));
    const forwarded = await forward(port);
    const socket = dial(forwarded);
    await once(socket, "data");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    forwarded.local.close();
    await closed;
    const later = dial(forwarded);
    const [error] = await once(later, "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
  });

  it("serves no other user of this machine", async () => {
    const port = await serve((socket) => socket.end("secret"));
    const ofStranger = async () => (await tcpSockets()).map((one) => ({ ...one, uid: 4_242 }));
    const forwarded = await forward(port, { rather: 0 }, {}, ofStranger);
    const [error] = await once(dial(forwarded), "error");
    expect(error).toMatchObject({ code: "ECONNRESET" });
    expect(forwarded.failed).toEqual(["a connection of another user of this machine (uid 4242) was refused"]);
  });

  it("takes nothing from who has gone before it could be seen who it was", async () => {
    let connections = 0;
    const port = await serve(() => (connections += 1));
    let gone: (value?: unknown) => void = () => undefined;
    const whenGone = new Promise((resolve) => (gone = resolve));
    const seenLate = () => whenGone.then(tcpSockets);
    const forwarded = await forward(port, { rather: 0 }, {}, seenLate);
    const socket = dial(forwarded);
    await once(socket, "connect");
    // Its process has no socket any more: the kernel says that it is root's.
    socket.write("POST /run HTTP/1.0\r\n\r\n", () => socket.destroy());
    await once(socket, "close");
    gone();
    await eventually("it is told", () => forwarded.failed.length > 0);
    expect(forwarded.failed).toEqual([
      "a connection was refused that had been closed before it could be seen whose it was",
    ]);
    expect(connections).toBe(0);
  });

  it("resets the connection, and says why, where nobody listens", async () => {
    const forwarded = await forward(1);
    const socket = dial(forwarded);
    const [error] = await once(socket, "error");
    expect(error).toMatchObject({ code: "ECONNRESET" });
    expect(forwarded.failed).toEqual([expect.stringContaining("nothing listens on port 1")]);
  });

  it("does not let a transfer that is cut off look whole", async () => {
    const port = await serve((socket) => socket.write("the first half"));
    const forwarded = await forward(port);
    const socket = dial(forwarded);
    await once(socket, "data");
    const broken = once(socket, "error");
    forwarded.scene.sessions.endAll("the job has ended");
    expect((await broken)[0]).toMatchObject({ code: "ECONNRESET" });
    expect(forwarded.failed).toEqual(["the job has ended"]);
  });

  it("tells of a refusal", async () => {
    const refusal = async () => "carol may not";
    const forwarded = await forward(1, undefined, { door: { ...ownersDoor, refusal } });
    await once(dial(forwarded), "error");
    expect(forwarded.refused).toEqual([expect.objectContaining({ code: "API_FORBIDDEN" })]);
  });

  it("is another one when the one that it would rather have is taken, unless exactly that is wanted", async () => {
    const taken = await serve((socket) => socket.end("not this one"));
    const port = await serve((socket) => socket.end("this one"));
    expect(await text(dial(await forward(port, { rather: taken })))).toBe("this one");
    await expect(forward(port, { exactly: taken })).rejects.toMatchObject({
      code: "LOCAL_PORT_TAKEN",
      exitCode: 2,
      message: expect.stringContaining(
        `--local-port ${taken} cannot be opened on this machine: another program has it`,
      ),
    });
  });
});
