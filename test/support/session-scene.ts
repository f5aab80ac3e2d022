import { SessionRecords } from "../../am/clients/session-records.ts";
import { Sessions as MasterSessions } from "../../am/clients/sessions.ts";
import { Sessions as ExecutorSessions } from "../../executor/sessions/sessions.ts";
import { MasterStream } from "../../src/api/executor-client.ts";
import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import { clientAccess } from "../../src/api/identity.ts";
import { MasterClient } from "../../src/api/master-client.ts";
import type { MasterServerOptions } from "../../src/api/master-server.ts";
import { type MasterCommand, PROTOCOL_VERSION } from "../../src/api/messages.ts";
import type { SessionOutput, SessionWanted } from "../../src/api/session-messages.ts";
import type { CallingSession } from "../../src/api/session-stream.ts";
import type { Happening } from "../../src/job/history-event.ts";
import type { ProcessStacks } from "../../src/job/stacks.ts";
import { aRegistration, executor, identity, register, startMaster } from "./api.ts";
import { Inbox } from "./inbox.ts";
import { silentLog } from "./silent-log.ts";
import { SteppedClock } from "./stepped-clock.ts";

export interface SceneOptions {
  readonly door?: MasterServerOptions["door"];
  readonly clients?: MasterServerOptions["clients"];
  /** The one that has an executor; default worker:0. */
  readonly task?: string;
  /** What the program of worker:0 runs with; null: none runs. */
  readonly environment?: Readonly<Record<string, string>> | null;
  /** Where its Python processes are in their code. */
  readonly stacks?: readonly ProcessStacks[];
  /** Whether the executor ignores what it is asked for. */
  readonly deaf?: boolean;
}

/** A client, an ApplicationMaster's sessions and those of worker:0's executor, connected as they are in a job. */
export class SessionScene {
  readonly records: Happening[] = [];
  readonly clock = new SteppedClock();
  readonly client: MasterClient;
  /** Where the ApplicationMaster listens. */
  readonly port: number;
  readonly commands = new Inbox<string>();
  readonly serving: ExecutorSessions;
  readonly stream: MasterStream;
  readonly sessions: MasterSessions;
  readonly #server: { close(graceMs: number): Promise<void> };

  private constructor(
    master: Awaited<ReturnType<typeof startMaster>>,
    sessions: MasterSessions,
    stream: MasterStream,
    { environment = { PATH: process.env.PATH ?? "" }, stacks }: SceneOptions,
  ) {
    this.#server = master.server;
    this.port = master.server.port;
    this.sessions = sessions;
    this.stream = stream;
    this.client = new MasterClient({ address: master.address, access: clientAccess(identity), build: "test" });
    this.serving = new ExecutorSessions({
      containerId: executor.caller.name,
      workFolder: process.cwd(),
      openStream: () => this.stream.serveSession(),
      environment: () => environment ?? undefined,
      stacks: async () => stacks,
      log: silentLog,
    });
  }

  static async open(options: SceneOptions = {}): Promise<SessionScene> {
    const { door, clients, task = "worker:0" } = options;
    const [role] = task.split(":");
    let link: ExecutorLink | undefined;
    const made: { records: Happening[]; clock: SteppedClock } = { records: [], clock: new SteppedClock() };
    const sessions = new MasterSessions({
      clock: made.clock,
      records: new SessionRecords({ log: silentLog, add: (event) => made.records.push(event) }),
      unknownTask: (name) => (name.split(":")[0] === role ? undefined : `there is no ${name}`),
      spokenName: (task) => task,
      linkTo: (task) => (link?.task === task ? link : undefined),
      taskIn: (containerId) => (link?.containerId === containerId ? link.task : undefined),
      tenantOf: (containerId) => (link?.containerId === containerId ? link.task : undefined),
    });
    const master = await startMaster({ sessions, ...(door && { door }), ...(clients && { clients }) });
    const stream = new MasterStream({
      identity: executor,
      address: master.address,
      onMessage: ({ body }) => scene.#obey(body, options.deaf === true),
      onEnd: () => undefined,
    });
    const scene = new SessionScene(master, sessions, stream, options);
    stream.send(register(aRegistration({ task })));
    const call = await master.executors.calls.next(({ call }) => call === "connected");
    if ("link" in call) link = call.link;
    return Object.assign(scene, made);
  }

  async close(): Promise<void> {
    this.serving.endAll("the test has ended");
    this.client.close();
    this.stream.close();
    await this.#server.close(0);
  }

  /** Opens a session of the client and collects its outputs. */
  run(wanted: SessionWanted, task = "worker:0"): CollectedSession {
    return new CollectedSession(this.client.openSession(task, wanted));
  }

  /** Runs a command of the client. */
  command(...words: string[]): CollectedSession {
    return this.run({ type: "command", words });
  }

  /** Opens a session from the executor. */
  fromExecutor(task: string, wanted: SessionWanted): CollectedSession {
    const session = this.stream.openSession();
    const hello = { protocol: PROTOCOL_VERSION, build: "executor-test" };
    void session.send({ type: "open", hello, task, wanted });
    return new CollectedSession(session);
  }

  #obey(body: MasterCommand, deaf: boolean): void {
    this.commands.put(body.type);
    if (body.type === "serve-session" && !deaf) this.serving.serve(body.sessionId);
    if (body.type === "end-session") this.serving.end(body.sessionId);
  }
}

/** A session whose outputs a test can await. */
export class CollectedSession {
  readonly session: CallingSession;
  readonly outputs = new Inbox<SessionOutput>();
  readonly texts = { stdout: "", stderr: "" };
  readonly #received: Promise<void>;

  constructor(session: CallingSession) {
    this.session = session;
    this.#received = session.receive(async (message) => {
      if (message.type === "data") this.texts[message.stream] += Buffer.from(message.data).toString("latin1");
      this.outputs.put(message);
    });
  }

  /** Sends text as input, and the end of the input where wanted. */
  async say(text: string, { end = false } = {}): Promise<void> {
    await this.session.send({ type: "data", data: Buffer.from(text) });
    if (end) await this.session.send({ type: "end" });
  }

  /** The last message, when all have arrived. */
  async end(): Promise<SessionOutput> {
    const last = this.outputs.next(({ type }) => type === "exited" || type === "failed" || type === "end");
    await Promise.all([this.#received, this.session.over]);
    return await last;
  }

  async started(): Promise<SessionOutput> {
    return await this.outputs.next(({ type }) => type === "started" || type === "failed");
  }
}
