import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { SessionExit, SessionInput, Terminal } from "../../src/api/session-messages.ts";
import type { ServedSession } from "../../src/api/session-stream.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { readProcFs } from "../processes/proc-fs.ts";
import { ProcessTree } from "../processes/process-tree.ts";
import type { Session } from "./session.ts";
import { resizeTerminal, terminalCommand } from "./terminal.ts";

export interface CommandOptions {
  /** The session's own; no other has it. */
  readonly id: string;
  readonly words: readonly string[];
  readonly terminal?: Terminal;
  /** The program's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly workFolder: string;
  readonly stream: ServedSession;
}

/** A variable of a session's processes; the value is its id. */
const SESSION_MARKER = "TONY_SESSION";
/** Between SIGHUP with SIGTERM, and SIGKILL. */
const GRACE_MS = 500;
/** Shells' exit codes for a command that does not exist, or that cannot be run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/**
 * Runs a session's command like the program: in its folder, with its environment. Processes that it leaves behind live on as part of
 * the program. Resolves when it runs, or when its caller was told that it cannot be run.
 */
export async function startCommand(options: CommandOptions): Promise<Session> {
  const { id, words, terminal, environment, workFolder, stream } = options;
  const run = terminal && terminalCommand(words, terminal, environment.PATH ?? "");
  const [file = "", ...args] = run?.words ?? words;
  const env = { ...environment, ...run?.environment, [SESSION_MARKER]: id };
  try {
    const child = spawn(file, args, { env, cwd: workFolder, stdio: "pipe" });
    await once(child, "spawn");
    void stream.send({ type: "started", terminal: run?.isTerminal ?? false });
    return new Command(child, `${SESSION_MARKER}=${id}`, stream);
  } catch (error) {
    const data = Buffer.from(`tony-ts: ${file} cannot be run: ${errorMessage(error)}\n`);
    await stream.send({ type: "data", stream: "stderr", data });
    const exitCode = errorCode(error) === "EACCES" ? NOT_EXECUTABLE : NOT_FOUND;
    stream.finish({ type: "exited", exitCode, signal: "" });
    return { hasEnded: true, take: async () => undefined, end: async () => undefined };
  }
}

class Command implements Session {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #tree: ProcessTree;
  readonly #stream: ServedSession;
  /** Its output may still be held open by processes that it has left behind. */
  #isOver = false;

  constructor(child: ChildProcessWithoutNullStreams, marker: string, stream: ServedSession) {
    this.#child = child;
    this.#stream = stream;
    this.#tree = new ProcessTree({
      root: child.pid ?? 0,
      marker,
      procFs: readProcFs(),
      kill: (pid, signal) => process.kill(pid, signal),
    });
    // A command need not read its input.
    child.stdin.on("error", () => undefined);
    void this.#run();
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async take(input: SessionInput): Promise<void> {
    const { stdin } = this.#child;
    if (input.type === "data") await new Promise<void>((resolve) => stdin.write(input.data, () => resolve()));
    else if (input.type === "end") stdin.end();
    else if (input.type === "signal" && isSignal(input.signal)) this.#tree.signal(input.signal);
    else if (input.type === "resize")
      resizeTerminal(
        this.#tree.members().map(({ pid }) => pid),
        input.size,
      );
  }

  /** An interactive shell ignores SIGTERM, and ends on SIGHUP. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#tree.signal("SIGHUP");
    await this.#tree.end(() => GRACE_MS, performance.now.bind(performance));
  }

  async #run(): Promise<void> {
    const { stdout, stderr } = this.#child;
    const [exit] = await Promise.all([this.#exit(), this.#send("stdout", stdout), this.#send("stderr", stderr)]);
    this.#isOver = true;
    this.#stream.finish(exit);
  }

  #exit(): Promise<SessionExit> {
    return new Promise((resolve) => {
      this.#child.once("exit", (exitCode, signal) =>
        resolve({ type: "exited", exitCode: exitCode ?? 0, signal: signal ?? "" }),
      );
    });
  }

  async #send(stream: "stdout" | "stderr", output: AsyncIterable<Buffer>): Promise<void> {
    for await (const data of output) await this.#stream.send({ type: "data", stream, data });
  }
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}
