import type { SessionInput, SessionWanted } from "../../src/api/session-messages.ts";
import type { ServedSession } from "../../src/api/session-stream.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { ProcessStacks } from "../../src/job/stacks.ts";
import type { Log } from "../../src/log.ts";
import { startCommand } from "./command.ts";
import { openConnection } from "./connection.ts";
import type { Session } from "./session.ts";

export interface SessionsOptions {
  readonly containerId: string;
  readonly workFolder: string;
  /** A new stream to the ApplicationMaster; undefined: none is connected. */
  readonly openStream: () => ServedSession | undefined;
  /** The environment with which the running program was started; undefined: none runs. */
  readonly environment: () => Readonly<Record<string, string>> | undefined;
  /** Where its Python processes stand; undefined: none runs. */
  readonly stacks: () => Promise<readonly ProcessStacks[] | undefined>;
  readonly log: Log;
}

interface Served {
  readonly stream: ServedSession;
  session: Promise<Session> | undefined;
}

/** The size of one message is limited. */
const PIECE_BYTES = 65_536;

/** What runs in the container besides the program, for callers at the ApplicationMaster; never longer than the program. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #served = new Map<number, Served>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The ApplicationMaster has a caller for this executor. */
  serve(sessionId: number): void {
    const stream = this.#options.openStream();
    if (stream === undefined) return;
    const served: Served = { stream, session: undefined };
    this.#served.set(sessionId, served);
    void stream.over.then(() => this.end(sessionId));
    void stream.send({ type: "accept", sessionId });
    void stream.receive((input) => this.#take(sessionId, served, input));
  }

  /** Its caller has gone. */
  end(sessionId: number): void {
    const served = this.#served.get(sessionId);
    this.#served.delete(sessionId);
    served?.stream.cancel();
    void served?.session?.then((session) => session.end()).catch(() => undefined);
  }

  /** Ends all, and tells their callers why. */
  endAll(reason: string): void {
    for (const sessionId of [...this.#served.keys()]) this.#fail(sessionId, reason);
  }

  async #take(sessionId: number, served: Served, input: SessionInput): Promise<void> {
    try {
      if (input.type === "open" && input.wanted.type !== "unknown")
        served.session ??= this.#begin(sessionId, input.wanted, served.stream);
      await (await served.session)?.take(input);
    } catch (error) {
      this.#fail(sessionId, errorMessage(error));
    }
  }

  #fail(sessionId: number, reason: string): void {
    const served = this.#served.get(sessionId);
    this.#served.delete(sessionId);
    if (served !== undefined) void closeServed(served, reason);
  }

  async #begin(sessionId: number, wanted: SessionWanted, stream: ServedSession): Promise<Session> {
    const { containerId, workFolder, environment, stacks, log } = this.#options;
    const program = environment();
    if (program === undefined) throw new Error("no program of the task runs at present");
    log.info("session", `A session begins: ${wanted.type}.`, { session: sessionId });
    if (wanted.type === "connection") return openConnection(wanted.port, stream);
    if (wanted.type === "stacks") return tellStacks(await stacks(), stream);
    return startCommand({ ...wanted, id: `${containerId}/${sessionId}`, environment: program, workFolder, stream });
  }
}

async function tellStacks(taken: readonly ProcessStacks[] | undefined, stream: ServedSession): Promise<Session> {
  if (taken === undefined) throw new Error("no program of the task runs at present");
  const text = Buffer.from(JSON.stringify(taken));
  for (let at = 0; at < text.length; at += PIECE_BYTES) {
    await stream.send({ type: "data", stream: "stdout", data: text.subarray(at, at + PIECE_BYTES) });
  }
  stream.finish({ type: "exited", exitCode: 0, signal: "" });
  return { hasEnded: true, take: async () => undefined, end: async () => undefined };
}

/** A caller that waits for a command which has ended is told of that end, not of what followed. */
async function closeServed({ stream, session }: Served, reason: string): Promise<void> {
  const opened = await session?.catch(() => undefined);
  if (opened?.hasEnded !== true) stream.finish({ type: "failed", reason });
  await opened?.end();
}
