import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
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
  for (const child of children) child.kill("SIGKILL");
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
  const child = spawn("/bin/bash", ["-c", `${prelude}\n${command}`], { env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let printed = "";
  child.stdout.on("data", (data: Buffer) => {
    printed += data.toString();
  });
  return { child, printed: () => printed };
}

async function ask(method: string, path: string, body?: string): Promise<[number, string]> {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...(body !== undefined && { body }) });
  return [response.status, await response.text()];
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

  test("begins with an empty store at each meeting", async () => {
    const started = [0, 1, 2].map((index) => start(index, `${PRINT_SLOT}; exec sleep 100`));
    await eventually("all three", () => started.every(({ printed }) => printed() !== ""));
    await ask("PUT", "/global/0", "address");
    expect(await ask("GET", "/global/0")).toEqual([200, "address"]);
    await Promise.all([0, 1, 2].map((index) => ask("GET", `/rank_and_size/worker-${index}:0`)));
    expect(await ask("GET", "/global/0")).toEqual([404, ""]);
  });

  test("need not wait for more once another has succeeded", async () => {
    const started = [0, 1, 2].map((index) => start(index, index === 0 ? `${PRINT_SLOT}; exec sleep 100` : PRINT_SLOT));
    await eventually("the ends of two", () => started.filter(({ child }) => child.exitCode === 0).length === 2);
    expect(await ask("GET", "/rank_and_size/worker-0:0")).toEqual([200, "0,1,0,1,0,1"]);
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

  test("is refused an announcement that is too long, though nobody said how long", async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("PUT /worker_addresses/worker-0:0 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = `10000\r\n${"A".repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < 64 && !socket.destroyed; sent += 1) socket.write(chunk);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 413 /);
  });

  test("is refused what names no service", async () => {
    expect(await ask("PUT", "/worker_addresses/worker-0:0", "gARLBS4=")).toEqual([
      400,
      "not the addresses and the secret of one service",
    ]);
  });
});
