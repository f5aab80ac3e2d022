import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "@jest/globals";
import { connectTo } from "../../../executor/sessions/connection.ts";
import { Sessions } from "../../../executor/sessions/sessions.ts";
import { PROTOCOL_VERSION } from "../../../src/api/messages.ts";
import { tcpSockets } from "../../../src/tcp-sockets.ts";
import { eventually } from "../../support/eventually.ts";
import { processesWith } from "../../support/processes.ts";
import { type SceneOptions, SessionScene } from "../../support/session-scene.ts";
import { silentLog } from "../../support/silent-log.ts";

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function open(options?: SceneOptions): Promise<SessionScene> {
  const scene = await SessionScene.open(options);
  ended.push(() => scene.close());
  return scene;
}

const size = { columns: 91, rows: 33 };
const terminal = { size, type: "xterm" };

/** A folder for PATH with these programs alone. */
function pathWith(...programs: string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-ts-path-"));
  ended.push(() => rmSync(folder, { recursive: true }));
  for (const program of ["sh", "stty", "bash", "echo", "cat", "sleep", "python3.11", ...programs])
    symlinkSync(`/usr/bin/${program}`, path.join(folder, program));
  return folder;
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

describe("a command in a task's container", () => {
  it("has its own stdin, stdout and stderr, and the program's environment and folder", async () => {
    const scene = await open({ environment: { PATH: process.env.PATH ?? "", OF_PROGRAM: "yes" } });
    const run = scene.command("sh", "-c", 'read line; echo "$line $OF_PROGRAM $PWD"; echo oops >&2');
    await run.say("hello\n");
    expect(await run.end()).toEqual({ type: "exited", exitCode: 0, signal: "" });
    expect(run.texts).toEqual({ stdout: `hello yes ${process.cwd()}\n`, stderr: "oops\n" });
  });

  it("reads to the end of its input, and loses no byte of either", async () => {
    const scene = await open();
    const run = scene.command("cat");
    const text = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251)).toString("latin1");
    await run.session.send({ type: "data", data: Buffer.from(text, "latin1") });
    await run.session.send({ type: "end" });
    await run.end();
    expect(run.texts.stdout === text).toBe(true);
  });

  it.each([
    ["no-such-command", 127],
    ["/etc/passwd", 126],
  ])("exits as shells have it where %s cannot be run", async (command, exitCode) => {
    const scene = await open();
    const run = scene.command(command);
    expect(await run.end()).toEqual({ type: "exited", exitCode, signal: "" });
    expect(run.texts.stderr).toContain(`${command} cannot be run`);
  });

  it("gets signals, with what it has started", async () => {
    const scene = await open();
    const run = scene.command("sh", "-c", "sleep 1000 & wait");
    await run.started();
    await run.session.send({ type: "signal", signal: "SIGNONSENSE" });
    await run.session.send({ type: "signal", signal: "SIGTERM" });
    expect(await run.end()).toMatchObject({ type: "exited", signal: "SIGTERM" });
  });

  it("is ended with all it has started when its caller goes", async () => {
    const scene = await open();
    const marker = "executor-test-marker";
    const run = scene.command("sh", "-c", `SLEEPER=${marker} nohup sleep 1000`);
    await eventually("it runs", () => processesWith("SLEEPER", marker).length > 0);
    run.session.cancel();
    await eventually("it is gone", () => processesWith("SLEEPER", marker).length === 0);
    expect(run.texts.stdout).toBe("");
  });

  it("is ended with the program, and its caller is told", async () => {
    const scene = await open();
    const run = scene.command("sleep", "1000");
    await run.started();
    scene.serving.endAll("the program has ended");
    expect(await run.end()).toEqual({ type: "failed", reason: "the program has ended" });
  });

  it("is one of several, each of which is ended and told; another one may begin after that", async () => {
    const scene = await open();
    const runs = [scene.command("sleep", "1000"), scene.command("sleep", "1000")];
    for (const run of runs) await run.started();
    scene.serving.endAll("the program has ended");
    const told = { type: "failed", reason: "the program has ended" };
    expect(await Promise.all(runs.map((run) => run.end()))).toEqual([told, told]);
    expect(await scene.command("true").end()).toEqual({ type: "exited", exitCode: 0, signal: "" });
  });

  it("that has ended says so, though the program ends before all that it has left behind", async () => {
    const scene = await open();
    const run = scene.command("sh", "-c", "sleep 1000 & echo $$; exit 4");
    await eventually("it has ended", () => {
      const [shell = ""] = run.texts.stdout.split("\n");
      return shell !== "" && !isRunning(Number(shell));
    });
    scene.serving.endAll("the program has ended");
    expect(await run.end()).toEqual({ type: "exited", exitCode: 4, signal: "" });
  });

  it("leaves to the program what it has left behind", async () => {
    const scene = await open();
    const marker = "executor-test-left";
    const left = () => processesWith("LEFT", marker);
    ended.push(() => left().forEach((pid) => void process.kill(pid, "SIGKILL")));
    const run = scene.command("sh", "-c", `LEFT=${marker} sleep 1000 > /dev/null 2>&1 &`);
    expect(await run.end()).toMatchObject({ type: "exited", exitCode: 0 });
    await eventually("it runs", () => left().length > 0);
    await scene.commands.next((type) => type === "end-session");
    await scene.command("sleep", "0.3").end();
    expect(left()).toHaveLength(1);
  });

  it("need not read its input", async () => {
    const scene = await open();
    const run = scene.command("sh", "-c", "exec <&-; echo closed; sleep 0.5");
    await eventually("it has closed it", () => run.texts.stdout === "closed\n");
    for (let count = 0; count < 4; count += 1) await run.session.send({ type: "data", data: Buffer.alloc(65_536) });
    expect(await run.end()).toEqual({ type: "exited", exitCode: 0, signal: "" });
  });

  it("is found by its mark, and ended, wherever it has put itself, also where the program is marked as another's", async () => {
    const scene = await open({ environment: { PATH: process.env.PATH ?? "", TONY_SESSION: "another/1" } });
    const marker = "executor-test-orphan";
    const orphans = () => processesWith("ORPHAN", marker);
    ended.push(() => orphans().forEach((pid) => void process.kill(pid, "SIGKILL")));
    const run = scene.command("sh", "-c", `(ORPHAN=${marker} setsid sleep 1000 &); sleep 1000`);
    await eventually("it runs", () => orphans().length > 0);
    run.session.cancel();
    await eventually("it is gone", () => orphans().length === 0);
    expect(orphans()).toEqual([]);
  });

  it("may be a shell that ignores SIGTERM: it ends on SIGHUP", async () => {
    const scene = await open();
    const file = path.join(mkdtempSync(path.join(tmpdir(), "tony-ts-hung-up-")), "said");
    ended.push(() => rmSync(path.dirname(file), { recursive: true }));
    const run = scene.command("sh", "-c", `trap "" TERM; trap "echo hung up > ${file}; exit" HUP; sleep 1000 & wait`);
    await run.started();
    run.session.cancel();
    await eventually("it has ended", () => existsSync(file) && readFileSync(file, "utf8") !== "");
    expect(readFileSync(file, "utf8")).toBe("hung up\n");
  });

  it("is begun once, however often its caller says what it is", async () => {
    const scene = await open();
    const run = scene.command("sh", "-c", "echo once; cat");
    const hello = { protocol: PROTOCOL_VERSION, build: "test" };
    const wanted = { type: "command", words: ["sh", "-c", "echo once; cat"] } as const;
    await run.session.send({ type: "open", hello, task: "worker:0", wanted });
    await run.session.send({ type: "end" });
    expect(await run.end()).toMatchObject({ type: "exited", exitCode: 0 });
    expect(run.texts.stdout).toBe("once\n");
  });

  it("is not begun where no program runs", async () => {
    const scene = await open({ environment: null });
    expect(await scene.command("true").end()).toEqual({
      type: "failed",
      reason: "no program of the task runs at present",
    });
  });
});

describe("a terminal in a task's container", () => {
  it.each([
    ["script", ["script"]],
    ["Python", ["python3"]],
  ])("is made by %s, has the caller's size and type, and learns of another one", async (_what, programs) => {
    const scene = await open({ environment: { PATH: pathWith(...programs) } });
    const words = [
      "sh",
      "-c",
      `echo "$TERM $(stty size)"; trap 'stty size; test "$(stty size)" = "40 100" && exit 3' WINCH; while :; do sleep 0.1; done`,
    ];
    const run = scene.run({ type: "command", words, terminal });
    expect(await run.started()).toEqual({ type: "started", terminal: true });
    await eventually("its size", () => run.texts.stdout.includes("xterm 33 91"));
    await run.session.send({ type: "resize", size: { columns: 100, rows: 40 } });
    expect(await run.end()).toEqual({ type: "exited", exitCode: 3, signal: "" });
    expect(run.texts.stdout).toContain("40 100");
  });

  it.each([
    ["script", ["script"]],
    ["Python", ["python3"]],
  ])("tells by 128 and its number which signal ended a command on a terminal of %s", async (_what, programs) => {
    const scene = await open({ environment: { PATH: pathWith(...programs) } });
    const run = scene.run({ type: "command", words: ["sh", "-c", "kill -TERM $$"], terminal });
    expect(await run.end()).toEqual({ type: "exited", exitCode: 143, signal: "" });
  });

  it("has the usual size where its caller's is not known, and bash for what starts a shell on it", async () => {
    const environment = { PATH: process.env.PATH ?? "", SHELL: "/usr/sbin/nologin" };
    const scene = await open({ environment });
    const words = ["sh", "-c", 'echo "$(stty size) $SHELL"'];
    const run = scene.run({ type: "command", words, terminal: { size: { columns: 0, rows: 0 }, type: "xterm" } });
    expect(await run.end()).toMatchObject({ type: "exited", exitCode: 0 });
    expect(run.texts.stdout).toBe("24 80 /bin/bash\r\n");
  });

  it("turns what is typed into signals", async () => {
    const scene = await open();
    const run = scene.run({ type: "command", words: ["cat"], terminal });
    await run.started();
    await run.say("typed\r");
    await eventually("it is echoed and printed", () => run.texts.stdout.split("typed").length === 3);
    await run.say("\u0003");
    expect(await run.end()).toEqual({ type: "exited", exitCode: 130, signal: "" });
  });

  it("is none where the node has nothing that makes one", async () => {
    const scene = await open({ environment: { PATH: pathWith() } });
    const run = scene.run({ type: "command", words: ["echo", "on pipes"], terminal });
    expect(await run.started()).toEqual({ type: "started", terminal: false });
    expect(await run.end()).toEqual({ type: "exited", exitCode: 0, signal: "" });
    expect(run.texts.stdout).toBe("on pipes\n");
  });
});

describe("where a task's Python processes stand", () => {
  const stacks = Array.from({ length: 600 }, (_, pid) => {
    return { pid, parent: 1, program: "python3.11", why: `ä${"x".repeat(150)}` };
  });

  it("is told whole, however much that is", async () => {
    const scene = await open({ stacks });
    const run = scene.run({ type: "stacks" });
    expect(await run.end()).toEqual({ type: "exited", exitCode: 0, signal: "" });
    expect(JSON.parse(Buffer.from(run.texts.stdout, "latin1").toString("utf8"))).toEqual(stacks);
  });

  it("is told of no program where none runs any more", async () => {
    const scene = await open();
    const reason = "no program of the task runs at present";
    expect(await scene.run({ type: "stacks" }).end()).toEqual({ type: "failed", reason });
  });
});

it("a caller whose ApplicationMaster has gone before the executor could answer is not served", () => {
  const opened: number[] = [];
  const sessions = new Sessions({
    ...{ containerId: "container_1", workFolder: "/", log: silentLog },
    openStream: () => void opened.push(1),
    environment: () => ({}),
    stacks: async () => [],
  });
  expect(() => {
    sessions.serve(1);
    sessions.end(1);
    sessions.endAll("the program has ended");
  }).not.toThrow();
  expect(opened).toEqual([1]);
});

describe("a connection to a task's node", () => {
  async function listen(answer: (server: Server) => void, host = "127.0.0.1"): Promise<number> {
    const server = createServer({ allowHalfOpen: true });
    answer(server);
    ended.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  it("carries both directions, and the end of each", async () => {
    const port = await listen((server) =>
      server.on("connection", (socket) => {
        socket.setEncoding("utf8");
        let heard = "";
        socket.on("data", (text) => (heard += String(text)));
        socket.on("end", () => socket.end(`heard ${heard}`));
      }),
    );
    const scene = await open();
    const run = scene.run({ type: "connection", port });
    expect(await run.started()).toEqual({ type: "started", terminal: false });
    await run.say("hello", { end: true });
    expect(await run.end()).toEqual({ type: "end" });
    expect(run.texts.stdout).toBe("heard hello");
  });

  it("takes what its caller sends after the other side has ended, and is over when the caller has, too", async () => {
    const seen = { heard: "", ended: false, closed: false };
    const port = await listen((server) =>
      server.on("connection", (socket) => {
        socket.on("data", (data) => (seen.heard += data.toString()));
        socket.on("end", () => (seen.ended = true));
        socket.on("error", () => undefined);
        socket.on("close", () => (seen.closed = true));
        socket.end("that is all");
      }),
    );
    const scene = await open();
    const run = scene.run({ type: "connection", port });
    await run.outputs.next(({ type }) => type === "end");
    await run.say("first, ");
    await eventually("what was sent late has come", () => seen.heard !== "" || seen.closed);
    await run.say("second", { end: true });
    await eventually("both sides have ended", () => seen.closed);
    await run.session.over;
    expect(seen).toEqual({ heard: "first, second", ended: true, closed: true });
    expect(run.texts.stdout).toBe("that is all");
  });

  it("is closed there when its caller goes", async () => {
    let closed = false;
    const port = await listen((server) =>
      server.on("connection", (socket) => socket.on("end", () => (closed = true)).resume()),
    );
    const scene = await open();
    const run = scene.run({ type: "connection", port });
    await run.started();
    run.session.cancel();
    await eventually("it is closed", () => closed);
    expect(closed).toBe(true);
  });

  it("says why it broke off", async () => {
    const port = await listen((server) => server.on("connection", (socket) => void socket.resetAndDestroy()));
    const run = (await open()).run({ type: "connection", port });
    expect(await run.end()).toEqual({ type: "failed", reason: expect.stringContaining("ECONNRESET") });
  });

  it.each(["0.0.0.0", "::"])("leads to a program that listens on all addresses: %s", async (host) => {
    const port = await listen((server) => server.on("connection", (socket) => socket.end("here")), host);
    const socket = await connectTo(port);
    expect([socket.remoteAddress, await text(socket)]).toEqual(["127.0.0.1", "here"]);
    socket.end();
  });

  it("leads to the next listener of that port where the first one takes no connection", async () => {
    const port = await listen((server) => server.on("connection", (socket) => socket.end("here")));
    const refusing = async () => {
      const own = (await tcpSockets()).filter(({ localPort }) => localPort === port);
      return own.flatMap((one) => (one.listens ? [{ ...one, localAddress: "127.0.0.2" }, one] : [one]));
    };
    const socket = await connectTo(port, refusing);
    expect(await text(socket)).toBe("here");
    socket.end();
    const gone = [{ ...aListener, localAddress: "127.0.0.2", localPort: port }];
    await expect(connectTo(port, async () => gone)).rejects.toThrow("ECONNREFUSED");
  });

  it("is given up, and closed there, where the program has stopped listening meanwhile", async () => {
    let closed = false;
    const port = await listen((server) =>
      server.on("connection", (socket) => {
        socket.on("error", () => undefined);
        socket.on("close", () => (closed = true)).resume();
        socket.on("end", () => socket.end());
      }),
    );
    const tables = [[{ ...aListener, localPort: port }], []];
    await expect(connectTo(port, async () => tables.shift() ?? [])).rejects.toThrow(
      `nothing listens on port ${port} any more`,
    );
    await eventually("it is closed", () => closed);
  });

  it("says that nobody listens", async () => {
    const scene = await open();
    expect(await scene.run({ type: "connection", port: 1 }).end()).toMatchObject({
      type: "failed",
      reason: expect.stringContaining("nothing listens on port 1"),
    });
  });

  const aListener = {
    ...{ localAddress: "127.0.0.1", localPort: 1, remoteAddress: "0.0.0.0", remotePort: 0 },
    ...{ listens: true, uid: process.getuid?.() },
  };

  /** What the kernel would say if whoever holds that port were another user. */
  const ofStranger = (port: number) => async () =>
    (await tcpSockets()).map((one) => (one.localPort === port ? { ...one, uid: 4_242 } : one));

  it("leads to nobody who listens there as another user of the node", async () => {
    let connections = 0;
    const port = await listen((server) => server.on("connection", () => (connections += 1)));
    await expect(connectTo(port, ofStranger(port))).rejects.toThrow(`port ${port} belongs to another user`);
    expect(connections).toBe(0);
  });

  it("leads to nobody who has taken the place of the program since", async () => {
    const port = await listen((server) => server.on("connection", (socket) => socket.resume()));
    const tables = [tcpSockets, ofStranger(port)];
    await expect(connectTo(port, async () => (await tables.shift()?.()) ?? [])).rejects.toThrow("another user");
  });

  it("leads to nobody who has taken the place and accepts it late", async () => {
    const port = await listen((server) => server.on("connection", (socket) => socket.resume()));
    const unaccepted = async () =>
      (await ofStranger(port)()).map((one) => (one.listens ? one : { ...one, uid: undefined }));
    const tables = [tcpSockets, unaccepted];
    await expect(connectTo(port, async () => (await tables.shift()?.()) ?? [])).rejects.toThrow("another user");
  });

  it("leads to our own program, though that accepts it late", async () => {
    const port = await listen((server) => server.on("connection", (socket) => socket.resume()));
    const unaccepted = async () => (await tcpSockets()).map((one) => (one.listens ? one : { ...one, uid: undefined }));
    const tables = [tcpSockets, unaccepted];
    const socket = await connectTo(port, async () => (await tables.shift()?.()) ?? []);
    expect(socket.remotePort).toBe(port);
    socket.destroy();
  });
});
