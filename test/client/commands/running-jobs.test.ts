import { symlinkSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { eventually } from "../../support/eventually.ts";
import { recordedStreams } from "../support.ts";
import { LocalMachine } from "./local-machine.ts";

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
