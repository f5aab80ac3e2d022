import { once } from "node:events";
import { constants, openSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionOutput } from "../../src/api/session-messages.ts";
import type { CallingSession } from "../../src/api/session-stream.ts";
import type { Hosts } from "../../src/frameworks/framework.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { TaskId } from "../../src/job/task.ts";

/** A session, as its caller sees it. */
type CommandSession = Pick<CallingSession, "send" | "receive" | "over" | "cancel">;

export interface CallOptions {
  /** The call's folder, with the files that the script has made. */
  readonly folder: string;
  readonly hosts: Hosts;
  /** Runs a command in another task; undefined while no ApplicationMaster is connected. */
  readonly open: (task: TaskId, words: readonly string[]) => CommandSession | undefined;
  /** Between two tries. Default: in real time. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** ssh's exit code for failures other than the command's own. */
const FAILED = 255;
/** The programs of a gang start one after another: the launcher's may be first. */
const ATTEMPTS = 60;
const RETRY_MS = 500;

/** One call of the script `ssh`: a command in another task, its streams, and its exit code. */
export class Call {
  readonly #options: CallOptions;
  readonly #pipes: Socket[] = [];
  #session: CommandSession | undefined;
  #isOver = false;

  constructor(options: CallOptions) {
    this.#options = options;
  }

  /** Resolves when nothing of it is left in this container. */
  async run(): Promise<void> {
    const { folder } = this.#options;
    try {
      const [host = "", command = ""] = (await readFile(path.join(folder, "call"), "utf8")).split("\0");
      const pipes = {
        stdin: this.#pipe("stdin", "read"),
        stdout: this.#pipe("stdout", "write"),
        stderr: this.#pipe("stderr", "write"),
      };
      const alive = this.#pipe("alive", "read");
      const gone = once(alive, "close").then(() => this.end());
      await Promise.race([once(alive, "data"), gone]);
      await this.#serve(host, command, pipes);
      pipes.stdout.end();
      pipes.stderr.end();
      await gone;
    } finally {
      this.end();
      await rm(folder, { recursive: true, force: true });
    }
  }

  end(): void {
    this.#isOver = true;
    this.#session?.cancel();
    for (const pipe of this.#pipes) pipe.destroy();
  }

  async #serve(host: string, command: string, pipes: Pipes): Promise<void> {
    const { hosts, folder } = this.#options;
    const task = hosts.tasks.get(host);
    const said =
      task === undefined
        ? {
            exitCode: FAILED,
            reason: `${host} is not a host of this job; there are ${[...hosts.tasks.keys()].join(", ")}`,
          }
        : await this.#runIn(task, command, pipes);
    if (said.reason !== undefined) pipes.stderr.write(`ssh: ${said.reason}\n`);
    if (!this.#isOver) await writeFile(path.join(folder, "exit"), String(said.exitCode));
  }

  /** A task refuses until its program runs, so the call is retried. */
  async #runIn(task: string, command: string, pipes: Pipes): Promise<Said> {
    const { hosts, open, pause = sleep } = this.#options;
    const folder = hosts.folderVariables.map((name) => `export ${name}="$PWD"; `).join("");
    const words = ["bash", "-c", `${folder}${command}`];
    let said: Said = { exitCode: FAILED, reason: `${task} cannot be reached` };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(RETRY_MS);
      if (this.#isOver) break;
      const session = open(task, words);
      if (session === undefined) continue;
      this.#session = session;
      const { started, ...ended } = await follow(session, pipes);
      said = ended;
      if (started) break;
    }
    return said;
  }

  #pipe(name: string, mode: "read" | "write"): Socket {
    const { O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
    // Opened for writing only, it would have to wait for its reader. A pipe for reading reports no end before it has had a writer (Linux:
    // pipe_poll).
    const fd = openSync(path.join(this.#options.folder, name), O_NONBLOCK | (mode === "read" ? O_RDONLY : O_RDWR));
    const pipe = new Socket({ fd, readable: mode === "read", writable: mode === "write" });
    pipe.on("error", (error) => pipe.destroy(error));
    this.#pipes.push(pipe);
    return pipe;
  }
}

interface Pipes {
  readonly stdin: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
}

interface Said {
  readonly exitCode: number;
  /** Why it did not end as its command did. */
  readonly reason?: string;
}

async function follow(session: CommandSession, pipes: Pipes): Promise<Said & { readonly started: boolean }> {
  let started = false;
  let said: Said = { exitCode: FAILED, reason: "the ApplicationMaster is not reached" };
  const hear = async (message: SessionOutput): Promise<void> => {
    if (message.type === "started") {
      started = true;
      void sendInput(session, pipes.stdin);
    } else if (message.type === "data") {
      await write(pipes[message.stream], message.data);
    } else if (message.type === "exited") {
      said = { exitCode: message.signal === "" ? message.exitCode : 128 + signalNumber(message.signal) };
    } else if (message.type === "failed") {
      said = { exitCode: FAILED, reason: message.reason };
    }
  };
  try {
    await session.receive(hear);
    const error = await session.over;
    if (error !== undefined) said = { exitCode: FAILED, reason: errorMessage(error) };
  } catch (error) {
    said = { exitCode: FAILED, reason: errorMessage(error) };
  }
  return { ...said, started };
}

async function sendInput(session: CommandSession, stdin: Socket): Promise<void> {
  try {
    for await (const data of stdin) await session.send({ type: "data", data });
    await session.send({ type: "end" });
  } catch {
    // The pipe was closed at the end of the call.
  }
}

async function write(pipe: Socket, data: Uint8Array): Promise<void> {
  if (!pipe.destroyed && !pipe.write(data)) await Promise.race([once(pipe, "drain"), once(pipe, "close")]);
}

function signalNumber(signal: string): number {
  return Object.entries(os.constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
}
