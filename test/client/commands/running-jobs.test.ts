import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { JobStatus } from "../../../src/job/status.ts";
import { eventually } from "../../support/eventually.ts";
import { role } from "../job-status.ts";
import { recordedStreams } from "../support.ts";
import { LocalMachine, type Started } from "./local-machine.ts";

let machine: LocalMachine;
beforeEach(() => {
  machine = new LocalMachine();
});
afterEach(() => machine.dispose());

type Signal = "SIGINT" | "SIGTERM" | "SIGQUIT" | "SIGHUP" | "SIGUSR1" | "SIGUSR2";
const SIGNALS: readonly Signal[] = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2"];
const listening = () => SIGNALS.map((signal) => process.listenerCount(signal));

const search = { metric: "loss", direction: "minimize", parameters: ["x"], command: "t" } as const;

describe("tony-ts exec", () => {
  const sh = (line: string) => ["--", "/bin/sh", "-c", line];

  test("connects the command with its own streams, and exits as it does", async () => {
    const { id } = await machine.running({}, { executor: {} });
    machine.streams = recordedStreams({ typed: "typed" });
    const ran = await machine.run("exec", id, "worker:0", ...sh("cat; echo aside >&2; exit 9"));
    expect(ran).toEqual({ exitCode: 9, out: "", err: "" });
    expect(machine.streams).toMatchObject({ stdout: { text: "typed" }, stderr: { text: "aside\n" }, modes: [] });
  });

  test("gives the command its words as they are, options like its own among them, and no terminal", async () => {
    const { id } = await machine.running({}, { executor: {} });
    machine.streams = recordedStreams({ typed: "", terminal: true });
    const words = ["/bin/sh", "-c", 'test -t 0 && echo terminal; printf "<%s>" "$@"', "--", "--conf", "a b", "-h"];
    expect((await machine.run("exec", id, "worker:0", "--", ...words)).exitCode).toBe(0);
    expect(machine.streams).toMatchObject({ stdout: { text: "<--conf><a b><-h>" }, modes: [] });
  });

  test("of a search takes a trial's name", async () => {
    const tasks = [{ task: "worker:0", state: "running", restarts: 0, trial: { state: "running" } }] as const;
    const { id } = await machine.running({ search, tasks }, { executor: {} });
    expect((await machine.run("exec", id, "trial:0", ...sh("exit 3"))).exitCode).toBe(3);
    expect(await machine.run("exec", id, "trial:7", ...sh("exit 3"))).toEqual({
      exitCode: 2,
      out: "",
      err: "The job has no trial:7\n",
    });
  });

  test.each<{ how: string; signals: readonly Signal[]; trap: string; exitCode: number }>([
    { how: "the first one goes to the command", signals: ["SIGINT"], trap: "exit 5", exitCode: 5 },
    { how: "SIGHUP ends it", signals: ["SIGHUP"], trap: ":", exitCode: 129 },
    { how: "a second one ends it", signals: ["SIGTERM", "SIGINT"], trap: ":", exitCode: 130 },
  ])("signals: $how, and they are nobody's afterwards", async ({ signals, trap, exitCode }) => {
    const { id } = await machine.running({}, { executor: {} });
    const before = listening();
    const line = `trap '${trap}' INT; trap : TERM; echo ready; while :; do sleep 0.05; done`;
    const ran = machine.run("exec", id, "worker:0", ...sh(line));
    await eventually("it is ready", () => machine.streams.stdout.text === "ready\n");
    for (const signal of signals) process.emit(signal, signal);
    expect(await ran).toEqual({ exitCode, out: "", err: "" });
    expect(listening()).toEqual(before);
  });

  test.each([
    [["worker:0"], "Which command? Give it after --: tony-ts exec <application> <task> -- nvidia-smi"],
    [["worker:0", "--"], "Which command? Give it after --: tony-ts exec <application> <task> -- nvidia-smi"],
    [["ps:0", "--", "true"], "there is no ps:0"],
  ])("%j is refused", async (words, message) => {
    const { id } = await machine.running({}, { executor: {} });
    const before = listening();
    expect(await machine.run("exec", id, ...words)).toEqual({ exitCode: 2, out: "", err: `${message}\n` });
    expect(listening()).toEqual(before);
  });

  test("exits with 5 where the command could not begin, and says why", async () => {
    const { id } = await machine.running({}, { executor: { environment: null } });
    expect(await machine.run("exec", id, "worker:0", "--", "true")).toEqual({
      exitCode: 5,
      out: "",
      err: "no program of the task runs at present\n",
    });
  });
});

describe("tony-ts shell", () => {
  const look = ["--", "/bin/sh", "-c", 'stty size; echo "$TERM"; exit 3'];

  test("is a terminal as large as this one and of its kind, which is raw meanwhile and as before afterwards", async () => {
    const { id } = await machine.running({}, { executor: {} });
    machine.environment = { ...machine.environment, TERM: "xterm-256color" };
    machine.streams = recordedStreams({ terminal: true });
    expect(await machine.run("shell", id, "worker:0", ...look)).toEqual({ exitCode: 3, out: "", err: "" });
    expect(machine.streams).toMatchObject({
      stdout: { text: "24 80\r\nxterm-256color\r\n" },
      stderr: { text: "" },
      modes: [true, false],
    });
    expect(machine.streams.stdout.listenerCount("resize")).toBe(0);
  });

  test("is of no kind where this one says none", async () => {
    const { id } = await machine.running({}, { executor: {} });
    machine.streams = recordedStreams({ terminal: true });
    await machine.run("shell", id, "worker:0", ...look);
    expect(machine.streams.stdout.text).toBe("24 80\r\ndumb\r\n");
  });

  test("runs bash, unless another program is named", async () => {
    const { id } = await machine.running({}, { executor: {} });
    machine.streams = recordedStreams({ terminal: true });
    const ran = machine.run("shell", id, "worker:0");
    machine.streams.stdin.write('echo "shell: $0"; exit 7\r');
    expect((await ran).exitCode).toBe(7);
    expect(machine.streams.stdout.text).toContain("shell: bash\r\n");
  });

  test("says that lines are sent where the node has nothing that makes a terminal", async () => {
    symlinkSync("/bin/sh", path.join(machine.folder, "sh"));
    const { id } = await machine.running({}, { executor: { environment: { PATH: machine.folder } } });
    machine.streams = recordedStreams({ terminal: true, typed: "line\n" });
    expect(await machine.run("shell", id, "worker:0", "--", "/bin/cat")).toEqual({
      exitCode: 0,
      out: "",
      err: "worker:0 has no terminal: its node has neither script nor python3; lines are sent\n",
    });
    expect(machine.streams).toMatchObject({ stdout: { text: "line\n" }, modes: [] });
  });

  test.each(["stdin", "stdout"] as const)("needs a terminal: %s is none", async (name) => {
    const { id } = await machine.running({}, { executor: {} });
    machine.streams = { ...recordedStreams({ terminal: true }), [name]: recordedStreams()[name] };
    expect(await machine.run("shell", id, "worker:0")).toEqual({
      exitCode: 2,
      out: "",
      err: "There is no terminal here: exec runs commands in a pipe\n",
    });
  });
});

describe("ports of a job on this machine", () => {
  let program: Server;
  let port = 0;
  beforeEach(async () => {
    program = createServer((socket) => void socket.end("hello"));
    port = await listening(program);
  });
  afterEach(() => void program.close());

  async function listening(server: Server): Promise<number> {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return portOf(server);
  }

  /** Of this machine, which nobody has. */
  async function freePort(): Promise<number> {
    const server = createServer();
    const free = await listening(server);
    server.close();
    return free;
  }

  /** The job, whose program is on another machine as far as its status says. */
  const running = (changes: Partial<JobStatus> = {}, host = "192.0.2.1") => {
    const tasks = [{ task: "worker:0", state: "running", restarts: 0, host }] as const;
    const services = [
      { name: "other", task: "worker:1", url: "http://192.0.2.1:1" },
      { name: "tensorboard", task: "worker:0", url: `http://192.0.2.1:${port}` },
    ];
    return machine.running({ tasks, services, ...changes }, { executor: {} });
  };

  const read = async (localPort: number) => await text(connect(localPort, "127.0.0.1"));

  /** Once it says which port of this machine it has opened. */
  async function opened({ out }: Started): Promise<number> {
    await out.waitFor("\n");
    return Number(/127\.0\.0\.1:(\d+)/.exec(out.text)?.[1]);
  }

  test.each([
    ["forward", (id: string) => ["forward", id, "worker:0", String(port)]],
    ["tensorboard", (id: string) => ["tensorboard", id]],
  ] as const)("%s leads to the task's, as its words say, until Ctrl-C, and the job goes on", async (verb, words) => {
    const job = await running();
    const before = SIGNALS.map((signal) => process.listenerCount(signal));
    const forwarded = machine.start(...words(job.id));
    const local = await opened(forwarded);
    expect(local).not.toBe(port);
    expect(await read(local)).toBe("hello");
    const http = verb === "tensorboard" ? "http://" : "";
    process.emit("SIGINT", "SIGINT");
    expect(await forwarded.ended).toEqual({
      exitCode: 0,
      out: `${http}127.0.0.1:${local} is forwarded to port ${port} of worker:0; Ctrl-C ends it\n`,
      err: "",
    });
    await expect(read(local)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect([job.stops, SIGNALS.map((signal) => process.listenerCount(signal))]).toEqual([[], before]);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("%s ends it too", async (signal) => {
    const { id } = await running();
    const forwarded = machine.start("forward", id, "worker:0", String(port));
    await opened(forwarded);
    process.emit(signal, signal);
    expect(await forwarded.ended).toMatchObject({ exitCode: 0, err: "" });
  });

  test.each(["forward", "tensorboard"])("%s has the port that is named, and says so in JSON", async (verb) => {
    const { id } = await running();
    const wanted = await freePort();
    const task = verb === "forward" ? ["worker:0", String(port)] : [];
    const forwarded = machine.start(verb, id, ...task, "--local-port", String(wanted), "--json");
    expect(await opened(forwarded)).toBe(wanted);
    process.emit("SIGINT", "SIGINT");
    const { out } = await forwarded.ended;
    expect(JSON.parse(out)).toEqual({ jsonVersion: 1, address: `127.0.0.1:${wanted}`, task: "worker:0", port });
  });

  test("is the task's own number where that is free here, and the task is elsewhere", async () => {
    const elsewhere = await freePort();
    for (const [host, isSame] of [
      ["192.0.2.1", true],
      ["127.0.0.11", false],
    ] as const) {
      const { id } = await running({}, host);
      const forwarded = machine.start("forward", id, "worker:0", String(elsewhere));
      expect((await opened(forwarded)) === elsewhere).toBe(isSame);
      process.emit("SIGINT", "SIGINT");
      await forwarded.ended;
    }
  });

  test("of a trial's task is asked of that task", async () => {
    const tasks = [{ task: "worker:0", state: "running", restarts: 0, trial: { state: "running" } }] as const;
    const { id } = await running({ search, tasks });
    const forwarded = machine.start("forward", id, "trial:0", String(port), "--json");
    await opened(forwarded);
    process.emit("SIGINT", "SIGINT");
    expect(JSON.parse((await forwarded.ended).out)).toMatchObject({ task: "worker:0", port });
    expect((await machine.run("forward", id, "trial:9", "80")).err).toContain("has no task trial:9");
  });

  test.each(["forward", "tensorboard", "page"])("%s: one that another program has is not had", async (verb) => {
    const { id } = await running();
    const task = verb === "forward" ? ["worker:0", "8080"] : [];
    const { exitCode, out, err } = await machine.run(verb, id, ...task, "--local-port", String(port));
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(err).toMatch(new RegExp(`^--local-port ${port} cannot be opened on this machine: another program has it;`));
  });

  test.each([
    ["forward", ["worker:0", "8080"]],
    ["tensorboard", []],
    ["page", []],
  ] as const)("%s: what is no port is refused", async (verb, words) => {
    const { id } = await running();
    expect(await machine.run(verb, id, ...words, "--local-port", "65536")).toEqual({
      exitCode: 2,
      out: "",
      err: "--local-port is a number from 1 to 65535, not 65536\n",
    });
  });

  test.each([
    { verb: "forward", changes: { roles: [] } },
    { verb: "tensorboard", changes: { services: [], roles: [role("tensorboard", 1)] } },
  ])("%j is waited for, because it may still come", async ({ verb, changes }) => {
    const { id } = await running(changes);
    const task = verb === "forward" ? ["worker:0", "8080"] : [];
    const forwarded = machine.start(verb, id, ...task);
    await forwarded.err.waitFor("The job has not opened its port yet: waiting for it\n");
    process.emit("SIGINT", "SIGINT");
    expect(await forwarded.ended).toMatchObject({ exitCode: 0, out: "" });
  });

  test("page: is shown to who has its address, and the job's ApplicationMaster is asked for it", async () => {
    const asked: string[] = [];
    const askPage = async (path: string) => `{"rev":${asked.push(path)}}`;
    const job = await machine.running({}, { clients: { askPage } });
    const wanted = await freePort();
    const before = SIGNALS.map((signal) => process.listenerCount(signal));
    const shown = machine.start("page", job.id, "--json", "--local-port", String(wanted));
    expect(await opened(shown)).toBe(wanted);
    const { url, ...more } = JSON.parse(shown.out.text);
    expect([url, more]).toEqual([
      expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:${wanted}/#.{32}$`)),
      { jsonVersion: 1, applicationId: job.id },
    ]);
    const key = new URL(url).hash.slice(1);
    const accept = `application/json; key=${key}`;
    const answer = await fetch(new URL("/api/v1/tasks?from=7", url), { headers: { accept, connection: "close" } });
    expect([await answer.text(), asked.at(-1)]).toEqual([`{"rev":${asked.length}}`, "tasks?from=7"]);
    process.emit("SIGINT", "SIGINT");
    expect(await shown.ended).toMatchObject({ exitCode: 0, err: "" });
    await expect(read(wanted)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect([job.stops, SIGNALS.map((signal) => process.listenerCount(signal))]).toEqual([[], before]);
  });
});

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
