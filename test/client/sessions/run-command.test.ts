import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "@jest/globals";
import { passSignals } from "../../../client/sessions/pass-signals.ts";
import { runCommand } from "../../../client/sessions/run-command.ts";
import { connectTerminal } from "../../../client/sessions/terminal.ts";
import { clientAccess } from "../../../src/api/identity.ts";
import { MasterClient } from "../../../src/api/master-client.ts";
import type { SessionWanted } from "../../../src/api/session-messages.ts";
import { identity, ownersDoor } from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { type SceneOptions, SessionScene } from "../../support/session-scene.ts";

const scenes: SessionScene[] = [];
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close();
});

/** Runs it with streams of the test's; `ready` resolves when it has started. */
async function begin(wanted: SessionWanted, options?: SceneOptions) {
  const scene = await SessionScene.open(options);
  scenes.push(scene);
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const session = scene.client.openSession("worker:0", wanted);
  let started: boolean | undefined;
  const code = runCommand(session, streams, (isTerminal) => (started = isTerminal));
  // Whoever expects a failure awaits it later.
  code.catch(() => undefined);
  const ready = () => eventually("it has started", () => started !== undefined);
  return { scene, session, streams, code, ready };
}

const shell = (line: string) => ({ type: "command", words: ["sh", "-c", line] }) as const;

describe("a command of a session", () => {
  it("is connected with the streams, and its exit code comes back", async () => {
    const { streams, code } = await begin(shell("cat; echo aside >&2; exit 9"));
    streams.stdin.end("typed");
    expect(await code).toBe(9);
    streams.stdout.end();
    streams.stderr.end();
    expect([await text(streams.stdout), await text(streams.stderr)]).toEqual(["typed", "aside\n"]);
  });

  it("is sent what is typed piece by piece", async () => {
    const { streams, code } = await begin(shell("read a; echo got $a; read b; echo got $b"));
    let printed = "";
    streams.stdout.on("data", (data) => (printed += String(data)));
    streams.stdin.write("one\n");
    await eventually("the first is there", () => printed === "got one\n");
    streams.stdin.write("two\n");
    expect(await code).toBe(0);
    expect(printed).toBe("got one\ngot two\n");
  });

  it("leaves the input to others when it has ended", async () => {
    const { streams, code } = await begin(shell("true"));
    await code;
    expect([streams.stdin.listenerCount("data"), streams.stdin.isPaused()]).toEqual([0, true]);
  });

  it("exits as shells have it when a signal ends it", async () => {
    const { code } = await begin(shell("kill -KILL $$"));
    expect(await code).toBe(137);
  });

  it("fails with the reason when it is ended, or cannot begin", async () => {
    const { scene, code, ready } = await begin(shell("sleep 1000"));
    await ready();
    scene.sessions.endAll("the job has ended");
    await expect(code).rejects.toMatchObject({ code: "SESSION_FAILED", exitCode: 5, message: "the job has ended" });
  });

  it("says that it may have begun where its connection breaks before it is heard of", async () => {
    const client = new MasterClient({ address: "127.0.0.1:1", access: clientAccess(identity), build: "test" });
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
    const code = runCommand(client.openSession("worker:0", shell("true")), streams, () => undefined);
    await expect(code).rejects.toMatchObject({
      code: "SESSION_FAILED",
      exitCode: 5,
      message: expect.stringContaining(
        "Whether the command began is not known; it ends with the connection: run it again",
      ),
    });
    client.close();
  });

  it("fails where there is no such task", async () => {
    const scene = await SessionScene.open();
    scenes.push(scene);
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
    const code = runCommand(scene.client.openSession("ps:0", shell("true")), streams, () => undefined);
    await expect(code).rejects.toMatchObject({ code: "NO_SUCH_TASK", exitCode: 2, message: "there is no ps:0" });
  });

  it("fails with the refusal of who may not", async () => {
    const refusal = async () => "carol may not";
    const { code } = await begin(shell("true"), { door: { ...ownersDoor, refusal } });
    await expect(code).rejects.toMatchObject({ code: "API_FORBIDDEN" });
  });
});

describe("signals of the client", () => {
  it("go to the command", async () => {
    const { session, code, ready } = await begin(shell("trap 'exit 5' INT; while :; do sleep 0.05; done"));
    await ready();
    const source = new EventEmitter();
    const signals = passSignals(session, source);
    source.emit("SIGINT", "SIGINT");
    expect(await code).toBe(5);
    expect(signals.endedWith()).toBeUndefined();
    signals.stop();
    expect(source.eventNames()).toEqual([]);
  });

  it("that are not to end it do not make the next one its end", async () => {
    const { session, code, ready } = await begin(shell("trap : USR1; trap 'exit 5' INT; while :; do sleep 0.05; done"));
    await ready();
    const source = new EventEmitter();
    const signals = passSignals(session, source);
    for (const kind of ["SIGUSR1", "SIGUSR1", "SIGINT"]) source.emit(kind, kind);
    expect(await code).toBe(5);
    expect(signals.endedWith()).toBeUndefined();
  });

  it.each([
    { kinds: ["SIGINT", "SIGINT"], exitCode: 130, when: "at the second time" },
    { kinds: ["SIGHUP"], exitCode: 129, when: "at once where the terminal is gone" },
  ])("end the session $when", async ({ kinds, exitCode }) => {
    const { session, code, ready } = await begin(shell("trap '' INT; while :; do sleep 0.05; done"));
    await ready();
    const source = new EventEmitter();
    const signals = passSignals(session, source);
    for (const kind of kinds) source.emit(kind, kind);
    await expect(code).rejects.toMatchObject({ code: "API_CANCELLED" });
    expect(signals.endedWith()).toBe(exitCode);
  });
});

describe("the client's terminal", () => {
  it("is raw while it is connected, and its sizes are told", async () => {
    const terminal = { size: { columns: 80, rows: 24 }, type: "xterm" };
    const line = "trap 'stty size | grep \"43 132\" && exit 0' WINCH; echo ready; while :; do sleep 0.05; done";
    const { session, streams, code } = await begin({ ...shell(line), terminal });
    let printed = "";
    streams.stdout.on("data", (data) => (printed += String(data)));
    const modes: boolean[] = [];
    const stdin = { setRawMode: (mode: boolean) => modes.push(mode) };
    const stdout = Object.assign(new EventEmitter(), { columns: 80, rows: 24 });
    const disconnect = connectTerminal({ stdin, stdout }, session);
    await eventually("it is ready", () => printed.includes("ready"));
    stdout.emit("resize", Object.assign(stdout, { columns: 132, rows: 43 }));
    expect(await code).toBe(0);
    expect(printed).toContain("43 132");
    disconnect();
    expect([modes, stdout.eventNames()]).toEqual([[true, false], []]);
  });
});
