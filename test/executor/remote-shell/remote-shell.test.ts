import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer, text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "@jest/globals";
import { BoundedLines, RemoteShell } from "../../../executor/remote-shell/remote-shell.ts";
import { ApiError } from "../../../src/api/errors.ts";
import type { SessionInput, SessionOutput } from "../../../src/api/session-messages.ts";
import type { CallingSession } from "../../../src/api/session-stream.ts";
import { eventually } from "../../support/eventually.ts";

type RemoteSession = Pick<CallingSession, "send" | "receive" | "cancel" | "over">;

/** What stands in for the ApplicationMaster and another task's executor. */
class Remote {
  readonly asked: { readonly task: string; readonly words: readonly string[] }[] = [];
  readonly sent: SessionInput[] = [];
  cancelled = 0;
  /** Its sessions end with it when they have said what they say. */
  lost: ApiError | undefined;
  readonly #sessions: (readonly SessionOutput[])[];

  /** @param sessions what each session says, one after another; the last one's says it ever again, and never ends where it says nothing */
  constructor(...sessions: (readonly SessionOutput[])[]) {
    this.#sessions = sessions;
  }

  open(task: string, words: readonly string[]): RemoteSession | undefined {
    this.asked.push({ task, words });
    const said = (this.#sessions.length > 1 ? this.#sessions.shift() : this.#sessions[0]) ?? [];
    let end: () => void = () => undefined;
    const over = new Promise<ApiError | undefined>((resolve) => {
      end = () => resolve(this.lost);
    });
    return {
      over,
      send: async (message) => void this.sent.push(message),
      cancel: () => {
        this.cancelled++;
        end();
      },
      receive: async (take) => {
        for (const message of said) await take(message);
        const isWhole = said.some(({ type }) => type === "exited" || type === "failed");
        if (isWhole || this.lost !== undefined) end();
        else await over;
      },
    };
  }
}

const unreadable = (session: RemoteSession | undefined) =>
  session && { ...session, receive: () => Promise.reject(new Error("it is no message")) };

const out = (words: string): SessionOutput => ({ type: "data", stream: "stdout", data: Buffer.from(words) });
const broken = new ApiError("the connection broke", { code: "API_UNREACHABLE" });
const started: SessionOutput = { type: "started", terminal: false };
const exited = (exitCode: number, signal = ""): SessionOutput => ({ type: "exited", exitCode, signal });

describe("the command ssh of a launcher's container", () => {
  const left: RemoteShell[] = [];
  afterEach(async () => {
    for (const shell of left.splice(0)) await shell.close();
  });

  async function shell(remote: Pick<Remote, "open">, pause?: (ms: number) => Promise<unknown>) {
    const folder = mkdtempSync(path.join(tmpdir(), "remote-shell-"));
    const hosts = {
      tasks: new Map([["worker-0", "worker:0"]] as const),
      files: { hostfile: "worker-0 slots=2\n" },
      folderVariables: ["HOME", "SCRATCH"],
    };
    const open = (task: string, words: readonly string[]) => remote.open(task, words);
    const opened = await RemoteShell.open({ folder, hosts, open, ...(pause && { pause }) });
    left.push(opened);
    const start = (...words: readonly string[]) => spawn(path.join(folder, "ssh"), words);
    return { folder, opened, start };
  }

  async function ended(child: ReturnType<typeof spawn>) {
    const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
    if (child.stdout === null || child.stderr === null) throw new Error("it has no pipes");
    const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
    return { stdout, stderr, exitCode };
  }

  test("is its user's alone, beside the files that the launcher needs", async () => {
    const { folder } = await shell(new Remote());
    const mode = (name: string) => statSync(path.join(folder, name)).mode & 0o777;
    expect([mode("ssh"), mode("door"), mode("calls")]).toEqual([0o700, 0o600, 0o700]);
    expect(readFileSync(path.join(folder, "hostfile"), "utf8")).toBe("worker-0 slots=2\n");
  });

  test("runs a command line in the task that the host stands for, with its working directory in variables", async () => {
    const remote = new Remote([started, out("hello "), out("there\n"), exited(0)]);
    const { folder, start } = await shell(remote);
    const options = ["-x", "-o", "BatchMode=yes", "-lada"];
    expect(await ended(start(...options, "ada@worker-0", "echo", '"a  b"'))).toEqual({
      stdout: "hello there\n",
      stderr: "",
      exitCode: 0,
    });
    const command = 'export HOME="$PWD"; export SCRATCH="$PWD"; echo "a  b"';
    expect(remote.asked).toEqual([{ task: "worker:0", words: ["bash", "-c", command] }]);
    await eventually("nothing of the call is left", () => readdirSync(path.join(folder, "calls")).length === 0);
  });

  test("sends on its input, whole, and its end", async () => {
    const remote = new Remote([started]);
    const { start } = await shell(remote);
    const child = start("worker-0", "cat");
    const input = Buffer.alloc(300_000, "x");
    child.stdin.end(input);
    await eventually("the input has ended", () => remote.sent.some(({ type }) => type === "end"));
    const sent = remote.sent.flatMap((message) => (message.type === "data" ? [message.data] : []));
    expect(Buffer.concat(sent).equals(input)).toBe(true);
    child.kill();
  });

  test("gives out what comes, however much", async () => {
    const much = "y".repeat(100_000);
    const { start } = await shell(new Remote([started, out(much), out(much), exited(0)]));
    const child = start("worker-0", "yes");
    expect((await buffer(child.stdout)).length).toBe(200_000);
  });

  test("has a stderr of its own", async () => {
    const warned: SessionOutput = { type: "data", stream: "stderr", data: Buffer.from("no GPU\n") };
    const { start } = await shell(new Remote([started, warned, out("trained\n"), exited(0)]));
    expect(await ended(start("worker-0", "train"))).toEqual({ stdout: "trained\n", stderr: "no GPU\n", exitCode: 0 });
  });

  test("has no input where its caller wants none", async () => {
    const remote = new Remote([started]);
    const { start } = await shell(remote);
    const child = start("-n", "worker-0", "cat");
    child.stdin.end("not for the command");
    await eventually("the input has ended", () => remote.sent.some(({ type }) => type === "end"));
    expect(remote.sent).toEqual([{ type: "end" }]);
    child.kill();
  });

  test.each([
    [exited(3), 3],
    [exited(0, "SIGKILL"), 137],
  ])("exits as the command does: %j", async (end, exitCode) => {
    const { start } = await shell(new Remote([started, end]));
    expect(await ended(start("worker-0", "true"))).toMatchObject({ exitCode });
  });

  test("waits for a task whose program does not run yet", async () => {
    const remote = new Remote(
      [{ type: "failed", reason: "no program of the task runs at present" }],
      [started, exited(0)],
    );
    const { start } = await shell(remote);
    expect(await ended(start("worker-0", "true"))).toMatchObject({ exitCode: 0, stderr: "" });
    expect(remote.asked).toHaveLength(2);
  });

  test("waits for an ApplicationMaster, and begins with the first one that is connected", async () => {
    const remote = new Remote([started, exited(0)]);
    const pauses: number[] = [];
    let asked = 0;
    const open = (...call: Parameters<Remote["open"]>) => {
      asked += 1;
      return asked < 3 ? undefined : remote.open(...call);
    };
    const { start } = await shell({ open }, async (ms) => pauses.push(ms));
    expect(await ended(start("worker-0", "true"))).toMatchObject({ exitCode: 0, stderr: "" });
    expect(pauses).toEqual([500, 500]);
  });

  test.each([
    ["nobody is connected", { open: () => undefined }, "worker:0 cannot be reached"],
    ["its program never runs", new Remote([{ type: "failed", reason: "no program runs" }]), "no program runs"],
    [
      "what comes is no session's",
      { open: (...call: Parameters<Remote["open"]>) => unreadable(new Remote().open(...call)) },
      "it is no message",
    ],
    ["the connection is lost each time", Object.assign(new Remote([]), { lost: broken }), "the connection broke"],
  ])("is given up after half a minute where %s", async (_what, remote, reason) => {
    const pauses: number[] = [];
    const { start } = await shell(remote, async (ms) => pauses.push(ms));
    expect(await ended(start("worker-0", "true"))).toEqual({ stdout: "", stderr: `ssh: ${reason}\n`, exitCode: 255 });
    expect(pauses).toEqual(Array(59).fill(500));
  });

  test("is not begun again where the connection is lost after it began", async () => {
    const remote = Object.assign(new Remote([started, out("half of it\n")]), { lost: broken });
    const { start } = await shell(remote);
    expect(await ended(start("worker-0", "train"))).toEqual({
      stdout: "half of it\n",
      stderr: "ssh: the connection broke\n",
      exitCode: 255,
    });
    expect(remote.asked).toHaveLength(1);
  });

  test("says why a command that ran was ended", async () => {
    const { start } = await shell(new Remote([started, { type: "failed", reason: "the executor was lost" }]));
    const end = await ended(start("worker-0", "true"));
    expect(end).toMatchObject({ exitCode: 255, stderr: "ssh: the executor was lost\n" });
  });

  test("knows no other host", async () => {
    const { start } = await shell(new Remote());
    expect(await ended(start("elsewhere", "true"))).toMatchObject({
      exitCode: 255,
      stderr: "ssh: elsewhere is not a host of this job; there are worker-0\n",
    });
  });

  test("wants a command", async () => {
    const { start } = await shell(new Remote());
    expect(await ended(start("worker-0"))).toMatchObject({
      exitCode: 255,
      stderr: expect.stringContaining("give a host"),
    });
  });

  test("ends the command elsewhere when it is killed", async () => {
    const remote = new Remote([started]);
    const { start } = await shell(remote);
    const child = start("worker-0", "sleep 600");
    await eventually("the command runs", () => remote.asked.length > 0);
    child.kill("SIGKILL");
    await eventually("it is ended", () => remote.cancelled > 0);
    expect(remote.asked).toHaveLength(1);
  });

  test("asks no more for a call that is over", async () => {
    const remote = new Remote([{ type: "failed", reason: "no program of the task runs at present" }], [started]);
    const { folder, start } = await shell(remote);
    const child = start("worker-0", "sleep 600");
    await eventually("it was refused once", () => remote.asked.length === 1);
    child.kill("SIGKILL");
    await eventually("nothing of the call is left", () => readdirSync(path.join(folder, "calls")).length === 0);
    expect(remote.asked).toHaveLength(1);
  });

  test("ends all when the launcher's program has, and leaves no pipe", async () => {
    const remote = new Remote([started]);
    const { folder, opened, start } = await shell(remote);
    const end = ended(start("worker-0", "sleep 600"));
    await eventually("the command runs", () => remote.asked.length > 0);
    await opened.close();
    expect(existsSync(folder)).toBe(false);
    expect(await end).toMatchObject({ exitCode: 255 });
    expect(remote.cancelled).toBeGreaterThan(0);
  });
});

describe("lines of a stream", () => {
  const push = (lines: BoundedLines, text: string) => lines.push(Buffer.from(text));

  test("come when they end, wherever the stream is cut", () => {
    const lines = new BoundedLines(100);
    expect(push(lines, "a\nb")).toEqual(["a"]);
    expect(push(lines, "c\n\n")).toEqual(["bc", ""]);
    const euro = Buffer.from("€\n");
    expect(lines.push(euro.subarray(0, 1))).toEqual([]);
    expect(lines.push(euro.subarray(1))).toEqual(["€"]);
  });

  test("are left out where they are too long, and nothing of an endless one is kept", () => {
    const lines = new BoundedLines(10);
    for (let count = 0; count < 100; count += 1) expect(push(lines, "x".repeat(1_000))).toEqual([]);
    expect(push(lines, "y\n0123456789\n0123456789a\nb\n")).toEqual(["0123456789", "b"]);
  });
});
