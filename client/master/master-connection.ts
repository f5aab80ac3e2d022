import type { Message } from "../../src/api/fields.ts";
import { MasterClient } from "../../src/api/master-client.ts";
import type { SessionWanted } from "../../src/api/session-messages.ts";
import type { CallingSession } from "../../src/api/session-stream.ts";
import { jobOutcome, jobStatus } from "../../src/api/status-codec.ts";
import { TonyError } from "../../src/errors.ts";
import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import type { StoreAnswer, Transaction } from "../../src/job/store/transaction.ts";
import type { Watched, WatchWanted } from "../../src/job/store/watched.ts";
import { buildId } from "../../src/programs.ts";
import type { MasterContact } from "../applications/applications.ts";
import type { AttemptConnection, FollowUpdate, LogPiece, LogRequest } from "./attempt-connection.ts";

const stopTimeoutMs = 5_000;
/** The AM waits for logs, and for up to five seconds for executors that do not answer. */
const pageTimeoutMs = 20_000;
/** A write waits for the file system that the journal is on. */
const storeTimeoutMs = 60_000;

/** Connects to an AM, over gRPC. */
export function connectMaster({ host, port, access }: MasterContact): MasterConnection {
  return new MasterConnection(new MasterClient({ address: formatHostPort({ host, port }), access, build: buildId() }));
}

/** The calls that a connection makes to an AM. */
type Asking = Pick<
  MasterClient,
  "askPage" | "close" | "follow" | "openSession" | "readLog" | "stop" | "transact" | "watch"
>;

/** What it adds for those who run something in a task's container: sessions. */
export class MasterConnection implements AttemptConnection {
  readonly #client: Asking;
  #isClosed = false;

  constructor(client: Asking) {
    this.#client = client;
  }

  async *follow(signal: AbortSignal): AsyncGenerator<FollowUpdate, void> {
    for await (const { body } of this.#client.follow(signal)) {
      if (body.type === "status") yield { type: "status", status: decode(jobStatus, body.status) };
      if (body.type === "outcome") yield { type: "outcome", outcome: decode(jobOutcome, body.outcome) };
    }
  }

  readLog(request: LogRequest, signal: AbortSignal): AsyncIterable<LogPiece> {
    return this.#client.readLog(request, signal);
  }

  async stop(reason: string): Promise<void> {
    await this.#client.stop(reason, stopTimeoutMs);
  }

  /** The answer to a request of the job's page, as JSON. @param path below `api/v1/` */
  askPage(path: string): Promise<string> {
    return this.#client.askPage(path, pageTimeoutMs);
  }

  openSession(task: string, wanted: SessionWanted): CallingSession {
    return this.#client.openSession(task, wanted);
  }

  async transact(transaction: Transaction, owner?: string): Promise<StoreAnswer> {
    return await this.#client.transact(transaction, owner, storeTimeoutMs);
  }

  async *watch({ range, after }: WatchWanted): AsyncGenerator<Watched, void> {
    const request = { ...range, ...(after && { after }) };
    for await (const { watched } of this.#client.watch(request)) yield watched;
  }

  /**
   * Checks that the caller may open sessions: opens one without a task, which the AM refuses to those who may not, and
   * which has no other effect.
   * @throws ApiError: `API_FORBIDDEN`, or the AM is lost
   */
  async checkSessions(): Promise<void> {
    const session = this.openSession("", { type: "connection", port: 0 });
    const [error] = await Promise.all([session.over, session.receive(async () => undefined)]);
    if (error !== undefined) throw error;
  }

  /** Whether it can no longer be used. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    this.#client.close();
  }
}

function decode<T>(codec: Message<T>, bytes: Uint8Array): T {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    throw new TonyError("The AM sent what this tony-ts does not understand: it is of another version", {
      code: "STATUS_UNREADABLE",
      cause,
    });
  }
}
