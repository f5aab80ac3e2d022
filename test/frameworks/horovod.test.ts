import { createServer } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { taskProgram } from "../../src/frameworks/task-program.ts";
import { eventually } from "../support/eventually.ts";
import { listenLocally, localAddress } from "../support/local-port.ts";
import { environmentOf, jobOf, processesOf, startOf } from "./support.ts";

const horovod = { "tony.application.framework": "horovod" };

describe("Horovod's processes", () => {
  test("are numbered over all machines, on each machine, and across the machines", () => {
    const spec = jobOf({ worker: 3 }, { ...horovod, "tony.worker.processes": "2" });
    const told = [0, 1, 2].flatMap((index) => processesOf(spec, `worker:${index}`, ["n1", "n2"]));
    const places = told.map((one) => [one.HOROVOD_RANK, one.HOROVOD_LOCAL_RANK, one.HOROVOD_CROSS_RANK]);
    expect(places).toEqual([
      ["0", "0", "0"],
      ["1", "1", "0"],
      ["2", "0", "1"],
      ["3", "1", "1"],
      ["4", "2", "0"],
      ["5", "3", "0"],
    ]);
    expect(told[5]).toMatchObject({
      HOROVOD_SIZE: "6",
      HOROVOD_LOCAL_SIZE: "4",
      HOROVOD_CROSS_SIZE: "1",
      HOROVOD_HOSTNAME: "n1",
      HOROVOD_GLOO_RENDEZVOUS_ADDR: "n1",
      HOROVOD_GLOO_RENDEZVOUS_PORT: "5000",
      HOROVOD_CONTROLLER: "gloo",
      HOROVOD_CPU_OPERATIONS: "gloo",
      CLUSTER_SPEC: '{"worker":["n1:5000","n2:5001","n1:5002"]}',
    });
  });

  test("are numbered across those machines alone that have one of their local rank", () => {
    const spec = jobOf({ chief: 1, worker: 2 }, { ...horovod, "tony.worker.processes": "2" });
    const told = ["chief:0", "worker:0", "worker:1"].flatMap((task) => processesOf(spec, task, ["n1", "n2", "n3"]));
    const across = told.map((one) => [one.HOROVOD_LOCAL_RANK, one.HOROVOD_CROSS_RANK, one.HOROVOD_CROSS_SIZE]);
    expect(across).toEqual([
      ["0", "0", "3"],
      ["0", "1", "3"],
      ["1", "0", "2"],
      ["0", "2", "3"],
      ["1", "1", "2"],
    ]);
  });

  test("of containers with GPUs are on machines of their own", () => {
    const spec = jobOf({ worker: 2 }, { ...horovod, "tony.worker.gpus": "1" });
    const environment = environmentOf(spec, "worker:1", { hosts: ["n1"] });
    expect(environment).toMatchObject({
      HOROVOD_HOSTNAME: "worker-1",
      HOROVOD_LOCAL_RANK: "0",
      HOROVOD_CROSS_RANK: "1",
    });
  });
});

describe("the time that Horovod's processes wait for each other", () => {
  const seconds = (settings: Readonly<Record<string, string>>) =>
    environmentOf(jobOf({ worker: 2 }, { ...horovod, ...settings }), "worker:1").HOROVOD_GLOO_TIMEOUT_SECONDS;

  test("is TonY's, unless the job sets it", () => {
    expect(seconds({})).toBe("2000");
    expect(seconds({ "tony.worker.envs": "HOROVOD_GLOO_TIMEOUT_SECONDS=60" })).toBe("60");
  });

  test("is not said to a task that does not train", () => {
    const spec = jobOf({ worker: 1, evaluator: 1 }, horovod);
    expect(environmentOf(spec, "evaluator:0")).not.toHaveProperty("HOROVOD_GLOO_TIMEOUT_SECONDS");
  });
});

describe("Horovod's rendezvous", () => {
  const spec = jobOf({ worker: 2 }, horovod);
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  type Body = string | ReadableStream<Uint8Array>;

  async function served(): Promise<(method: string, path: string, body?: Body) => Promise<[number, string]>> {
    const { serve } = taskProgram({}, startOf(spec, "worker:0"));
    const server = createServer(serve);
    servers.push(server);
    await listenLocally(server);
    return async (method, path, body) => {
      const response = await fetch(`http://${localAddress(server)}${path}`, {
        method,
        ...(body !== undefined && { body, duplex: "half" }),
      });
      return [response.status, await response.text()];
    };
  }

  test("is served beside rank 0 alone", () => {
    expect(taskProgram({}, startOf(spec, "worker:1")).serve).toBeUndefined();
  });

  test("gives what a process has left there, and says where there is nothing yet", async () => {
    const ask = await served();
    expect(await ask("GET", "/global/0")).toEqual([404, ""]);
    expect(await ask("PUT", "/global/0", "address of 0")).toEqual([200, ""]);
    expect(await ask("GET", "/global/0")).toEqual([200, "address of 0"]);
  });

  test("forgets a scope when all of its processes have met, so that they can meet again", async () => {
    const ask = await served();
    await ask("PUT", "/global/0", "first");
    await ask("DELETE", "/global/0");
    expect(await ask("GET", "/global/0")).toEqual([200, "first"]);
    await ask("DELETE", "/global/1");
    expect(await ask("GET", "/global/0")).toEqual([404, ""]);
  });

  test("refuses what names no key", async () => {
    const ask = await served();
    expect(await ask("GET", "/global")).toEqual([400, ""]);
  });

  test("takes no value without an end, whose length nobody has said", async () => {
    const ask = await served();
    const [sent, endless] = countedZeros();
    // The answer comes before the value's end, or the connection breaks off.
    const answer = await ask("PUT", "/global/0", endless).catch(() => undefined);
    expect([413, undefined]).toContain(answer?.[0]);
    expect(sent()).toBeLessThan(16 << 20);
    expect(await ask("GET", "/global/0")).toEqual([404, ""]);
  });

  test("reads no more at a time than it would keep, from however many connections", async () => {
    const ask = await served();
    const [port = ""] = servers.map((server) => localAddress(server).split(":")[1]);
    const bytes = 1 << 20;
    let refused = 0;
    const sockets = Array.from({ length: 24 }, (_, key) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      socket.once("data", (answer: Buffer) => (refused += answer.toString().startsWith("HTTP/1.1 507 ") ? 1 : 0));
      socket.write(`PUT /mine/${key} HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
      socket.write(Buffer.alloc(bytes - 1));
      return socket;
    });
    await eventually("a refusal of what there is no room for", () => refused >= 8);
    expect(refused).toBeLessThan(sockets.length);
    for (const socket of sockets) socket.destroy();
    await eventually("room again", async () => (await ask("PUT", "/mine/0", "v"))[0] === 200);
  });

  test("is full after some megabytes, whatever the keys, until something is taken back", async () => {
    const ask = await served();
    const value = "v".repeat(1 << 20);
    const statuses: number[] = [];
    for (let key = 0; key < 17; key += 1) statuses.push((await ask("PUT", `/mine/${key}`, value))[0]);
    expect(statuses.filter((status) => status === 200).length).toBe(15);
    expect(statuses.at(-1)).toBe(507);
    await ask("DELETE", "/mine/0");
    expect(await ask("PUT", "/mine/0", "v")).toEqual([200, ""]);
  });

  test("counts all that stands in an address, too", async () => {
    const ask = await served();
    const long = "s".repeat(15_000);
    const status = async (path: string) => (await ask("PUT", path))[0];
    let taken = 0;
    while (taken < 2_000 && (await status(`/${long}${taken}/k`)) === 200) taken += 1;
    expect(taken).toBeLessThan((16 << 20) / 15_000);
    expect(await status(`/mine/k/${long}`)).toBe(400);
  });
});

/** A body of zeros that never ends by itself, and how many bytes of it were taken. */
function countedZeros(): [() => number, ReadableStream<Uint8Array>] {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  return [() => sent, body];
}
