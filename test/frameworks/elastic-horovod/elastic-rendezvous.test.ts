import { type ChildProcess, spawn } from "node:child_process";
import { createServer, get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { elasticRendezvous } from "../../../src/frameworks/elastic-horovod/elastic-rendezvous.ts";
import { taskProgram } from "../../../src/frameworks/task-program.ts";
import { eventually } from "../../support/eventually.ts";
import { listenLocally } from "../../support/local-port.ts";
import { jobOf, startOf } from "../support.ts";

const spec = jobOf({ worker: 3 }, { "tony.application.framework": "horovod", "tony.worker.min-instances": "2" });
const PRINT_SLOT =
  'echo "$HOROVOD_RANK of $HOROVOD_SIZE, $HOROVOD_LOCAL_RANK of $HOROVOD_LOCAL_SIZE, $HOROVOD_CROSS_RANK of $HOROVOD_CROSS_SIZE"';

let server: ReturnType<typeof createServer>;
let children: ChildProcess[];
beforeEach(async () => {
  children = [];
  server = createServer(taskProgram({}, startOf(spec, "worker:0")).serve);
  await listenLocally(server);
});
afterEach(async () => {
  for (const child of children) signalGroup(child, "SIGKILL");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A task's shell, as its executor starts it, but that the rendezvous is on another port than the cluster spec says. */
function start(index: number, command: string): { readonly child: ChildProcess; readonly printed: () => string } {
  const { prelude, environments } = taskProgram({}, startOf(spec, `worker:${index}`));
  const { port } = server.address() as AddressInfo;
  const env = {
    ...environments[0],
    PATH: process.env.PATH ?? "",
    HOROVOD_GLOO_RENDEZVOUS_ADDR: "127.0.0.1",
    HOROVOD_GLOO_RENDEZVOUS_PORT: String(port),
  };
  const child = spawn("/bin/bash", ["-c", `${prelude}\n${command}`], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  children.push(child);
  let printed = "";
  child.stdout.on("data", (data: Buffer) => {
    printed += data.toString();
  });
  return { child, printed: () => printed };
}

/** As a NodeManager ends a container: the shell and all that it started. One that has ended is none any more. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {}
}

async function ask(method: string, path: string, body?: string): Promise<[number, string]> {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...(body !== undefined && { body }) });
  return [response.status, await response.text()];
}

/** The service of a process that trains, which keeps what it is told. */
async function listenForNews() {
  const said: string[] = [];
  const service = createTcpServer((socket) => {
    socket.once("data", (message) => {
      said.push(message.toString("hex"));
      socket.end("heard");
    });
  });
  await listenLocally(service);
  const { port } = service.address() as AddressInfo;
  const pickle = [0x80, 4, 0x4d, port & 0xff, port >> 8, 0x43, 32, ...Buffer.alloc(32, 7), 0x2e];
  return {
    announcement: Buffer.from(pickle).toString("base64"),
    count: () => said.length,
    /** Horovod passes over one that is no later than the one before. */
    areNews: () => new Set(said).size === said.length,
    close: () => service.close(),
  };
}

describe("a process of an elastic Horovod", () => {
  test("is told before it starts where it stands", async () => {
    const started = [2, 0, 1].map((index) => start(index, PRINT_SLOT));
    await eventually("all three", () => started.every(({ printed }) => printed() !== ""));
    expect(started.map(({ printed }) => printed())).toEqual([
      "2 of 3, 0 of 1, 2 of 3\n",
      "0 of 3, 0 of 1, 0 of 3\n",
      "1 of 3, 0 of 1, 1 of 3\n",
    ]);
  });

  test("exits as its program does", async () => {
    const [failing] = [0, 1, 2].map((index) => start(index, index === 0 ? "exit 3" : "true"));
    await eventually("its exit", () => failing?.child.exitCode !== null);
    expect(failing?.child.exitCode).toBe(3);
  });

  test("is told its new place when it asks again and one of the others has ended, however it did", async () => {
    const started = [0, 1, 2].map((index) => start(index, `${PRINT_SLOT}; exec sleep 100`));
    await eventually("all three", () => started.every(({ printed }) => printed() !== ""));
    started[1]?.child.kill("SIGKILL");
    const answers = Promise.all([ask("GET", "/rank_and_size/worker-0:0"), ask("GET", "/rank_and_size/worker-2:0")]);
    expect(await answers).toEqual([
      [200, "0,2,0,1,0,2"],
      [200, "1,2,0,1,1,2"],
    ]);
    expect(await ask("GET", "/rank_and_size/worker-1:0")).toEqual([200, "-1,-1,-1,-1,-1,-1"]);
  });

  test("begins with an empty store at each meeting, and when all who have met have found each other", async () => {
    const started = [0, 1, 2].map((index) => start(index, `${PRINT_SLOT}; exec sleep 100`));
    await eventually("all three", () => started.every(({ printed }) => printed() !== ""));
    await ask("PUT", "/global/0", "address");
    expect(await ask("GET", "/global/0")).toEqual([200, "address"]);
    await Promise.all([0, 1, 2].map((index) => ask("GET", `/rank_and_size/worker-${index}:0`)));
    expect(await ask("GET", "/global/0")).toEqual([404, ""]);
    await ask("PUT", "/global/0", "another");
    await Promise.all([1, 2].map((rank) => ask("DELETE", `/global/${rank}`)));
    expect(await ask("GET", "/global/0")).toEqual([200, "another"]);
    await ask("DELETE", "/global/1");
    expect(await ask("GET", "/global/0")).toEqual([404, ""]);
  });

  test("finds what was put under its name in a scope of the program's own", async () => {
    expect(await ask("PUT", "/own/worker-1:0", "address")).toEqual([200, ""]);
    expect(await ask("GET", "/own/worker-1:0")).toEqual([200, "address"]);
  });

  test("need not wait for more once another has succeeded", async () => {
    const started = [0, 1, 2].map((index) => start(index, index === 0 ? `${PRINT_SLOT}; exec sleep 100` : PRINT_SLOT));
    await eventually("the ends of two", () => started.filter(({ child }) => child.exitCode === 0).length === 2);
    expect(await ask("GET", "/rank_and_size/worker-0:0")).toEqual([200, "0,1,0,1,0,1"]);
  });

  test("has not succeeded when a signal ends it while its program runs: who takes its place is taken in", async () => {
    const staying = [0, 1].map((index) => start(index, `${PRINT_SLOT}; exec sleep 100`));
    const ended = start(2, `${PRINT_SLOT}; sleep 100; exit 1`);
    await eventually("all three", () => [...staying, ended].every(({ printed }) => printed() !== ""));
    signalGroup(ended.child, "SIGTERM");
    await eventually("its end", () => ended.child.signalCode === "SIGTERM");
    const again = start(2, PRINT_SLOT);
    await eventually("its start, at this meeting or the next", async () => {
      await Promise.all([0, 1].map((index) => ask("GET", `/rank_and_size/worker-${index}:0`)));
      return again.printed() !== "";
    });
    expect(again.printed()).toBe("2 of 3, 0 of 1, 2 of 3\n");
  });

  test("that comes again before the end of its life before was noticed is there", async () => {
    const started = [0, 1, 2].map((index) => start(index, `${PRINT_SLOT}; exec sleep 100`));
    await eventually("all three", () => started.every(({ printed }) => printed() !== ""));
    const again = start(2, PRINT_SLOT);
    await eventually("its start, at this meeting or the next", async () => {
      await Promise.all([0, 1].map((index) => ask("GET", `/rank_and_size/worker-${index}:0`)));
      return again.printed() !== "";
    });
    expect(again.printed()).toBe("2 of 3, 0 of 1, 2 of 3\n");
  });

  test("that comes again stays, when the end of its life before is noticed after that", async () => {
    const { port } = server.address() as AddressInfo;
    const join = (index: number) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const path = `/slot/worker-${index}:0`;
        get({ port, path, agent: false }, (slot) => resolve(slot.on("error", () => undefined).resume())).on(
          "error",
          reject,
        );
      });
    const [, , before] = await Promise.all([0, 1, 2].map(join));
    const again = join(2);
    await new Promise((resolve) => before?.once("close", resolve));
    const answers = [0, 1].map((index) => ask("GET", `/rank_and_size/worker-${index}:0`));
    expect(await Promise.all(answers)).toEqual([
      [200, "0,3,0,1,0,3"],
      [200, "1,3,0,1,1,3"],
    ]);
    await again;
  });

  test("that comes while the others train starts when these have asked", async () => {
    const started = [0, 1].map((index) => start(index, `${PRINT_SLOT}; exec sleep 100`));
    const gone = start(2, `${PRINT_SLOT}; exec sleep 100`);
    await eventually("all three", () => [...started, gone].every(({ printed }) => printed() !== ""));
    gone.child.kill("SIGKILL");
    const late = start(2, PRINT_SLOT);
    await Promise.all([0, 1].map((index) => ask("GET", `/rank_and_size/worker-${index}:0`)));
    await eventually("its start, at this meeting or the next", async () => {
      if (late.printed() === "")
        await Promise.all([0, 1].map((index) => ask("GET", `/rank_and_size/worker-${index}:0`)));
      return late.printed() !== "";
    });
    expect(late.printed()).toBe("2 of 3, 0 of 1, 2 of 3\n");
  });

  test("that comes when one of the others has succeeded is told so", async () => {
    const started = [0, 1, 2].map((index) => start(index, index === 0 ? `${PRINT_SLOT}; exec sleep 100` : PRINT_SLOT));
    await eventually("the ends of two", () => started.filter(({ child }) => child.exitCode === 0).length === 2);
    const late = start(1, PRINT_SLOT);
    const { stderr } = late.child;
    expect(stderr && (await text(stderr))).toBe("tony-ts: the others are done\n");
    expect(late.printed()).toBe("");
  });

  test("that trains as rank 0 is told, and no other, of who waits after each meeting, however soon after the one before", async () => {
    server.close();
    const together = { role: "worker", instances: 3, processes: 1, least: 2, expected: [0, 1, 2] };
    server = createServer(elasticRendezvous({ ...together, nowMs: () => 0 }));
    await listenLocally(server);
    const heard = await listenForNews();
    const staying = [0, 1].map((index) => start(index, `${PRINT_SLOT}; exec sleep 100`));
    let third = start(2, `${PRINT_SLOT}; exec sleep 100`);
    await eventually("all three", () => [...staying, third].every(({ printed }) => printed() !== ""));
    expect(await ask("PUT", "/worker_addresses/worker-0:0", heard.announcement)).toEqual([200, ""]);
    const other = await listenForNews();
    const announceOther = () => ask("PUT", "/worker_addresses/worker-1:0", other.announcement);
    expect(await announceOther()).toEqual([200, ""]);
    for (const again of [1, 2]) {
      const before = heard.count();
      third.child.kill("SIGKILL");
      third = start(2, `${PRINT_SLOT}; exec sleep 100`);
      await eventually(`news that it waits, ${again}`, () => heard.count() > before, 30_000);
      // Whatever else happens meanwhile, it is told no more often.
      for (const _ of [1, 2]) await announceOther();
      await Promise.all([0, 1].map((index) => ask("GET", `/rank_and_size/worker-${index}:0`)));
      await eventually("its start", () => third.printed() !== "", 30_000);
    }
    expect([heard.areNews(), heard.count()]).toEqual([true, 2]);
    expect(other.count()).toBe(0);
    heard.close();
    other.close();
  });

  describe("of two in each task", () => {
    const key = (task: number, process: number) => `worker-${task}:${process}`;
    const both = [0, 1];
    let slots: Map<string, IncomingMessage>;
    const join = async (name: string) => {
      const { port } = server.address() as AddressInfo;
      const slot = await new Promise<IncomingMessage>((resolve, reject) => {
        get({ port, path: `/slot/${name}`, agent: false }, resolve).on("error", reject);
      });
      slots.set(name, slot.on("error", () => undefined).resume());
    };
    const everybody = [0, 1, 2].flatMap((task) => both.map((process) => key(task, process)));
    beforeEach(async () => {
      slots = new Map();
      server.close();
      const together = { role: "worker", instances: 3, processes: 2, least: 3, expected: [0, 1, 2] };
      server = createServer(elasticRendezvous({ ...together, nowMs: () => 0 }));
      await listenLocally(server);
      await Promise.all(everybody.map(join));
    });
    const askAgain = (tasks: readonly number[]) =>
      Promise.all(tasks.flatMap((task) => both.map((process) => ask("GET", `/rank_and_size/${key(task, process)}`))));

    test("those that are too few go on as soon as one has succeeded", async () => {
      for (const process of both) slots.get(key(2, process))?.destroy();
      const answers = askAgain([0, 1]);
      await ask("PUT", "/own/mark", "");
      expect(await ask("DELETE", `/slot/${key(1, 0)}`)).toEqual([200, ""]);
      expect((await answers).map(([, slot]) => slot)).toEqual([
        "0,4,0,2,0,2",
        "1,4,1,2,0,2",
        "2,4,0,2,1,2",
        "3,4,1,2,1,2",
      ]);
    });

    test("rank 0 alone is told of who waits already, when it says where it listens", async () => {
      const [first, second] = [await listenForNews(), await listenForNews()];
      for (const process of both) slots.get(key(2, process))?.destroy();
      const waiting = Promise.all(both.map((process) => join(key(2, process))));
      waiting.catch(() => undefined);
      await ask("PUT", "/own/mark", "");
      expect(await ask("PUT", `/worker_addresses/${key(0, 1)}`, second.announcement)).toEqual([200, ""]);
      expect(await ask("PUT", `/worker_addresses/${key(0, 0)}`, first.announcement)).toEqual([200, ""]);
      await eventually("news that they wait", () => first.count() > 0, 30_000);
      expect([first.count(), second.count()]).toEqual([1, 0]);
      first.close();
      second.close();
    });
  });

  test("is none of a task that the role has not, however many such are named", async () => {
    for (const key of ["worker-3:0", "worker-999999:0", "worker-0:1", "ps-0:0"])
      expect(await ask("GET", `/slot/${key}`)).toEqual([404, ""]);
  });

  test("is refused an announcement that is too long, though nobody said how long", async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("PUT /worker_addresses/worker-0:0 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = `10000\r\n${"A".repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < 64 && !socket.destroyed; sent += 1) socket.write(chunk);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 /);
  });

  test("is refused an announcement for which others leave no room", async () => {
    const { port } = server.address() as AddressInfo;
    let refused = 0;
    const sockets = Array.from({ length: 24 }, () => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.once("data", (answer: Buffer) => (refused += answer.toString().startsWith("HTTP/1.1 507 ") ? 1 : 0));
      socket.write(`PUT /worker_addresses/worker-0:0 HTTP/1.1\r\nHost: a\r\nContent-Length: ${1 << 20}\r\n\r\n`);
      socket.write(Buffer.alloc((1 << 20) - 1));
      return socket;
    });
    await eventually("refusals", () => refused >= 8);
    expect(refused).toBeLessThan(sockets.length);
    for (const socket of sockets) socket.destroy();
  });

  test("is refused what names no service", async () => {
    expect(await ask("PUT", "/worker_addresses/worker-0:0", "gARLBS4=")).toEqual([
      400,
      "not the addresses and the secret of one service",
    ]);
  });
});
