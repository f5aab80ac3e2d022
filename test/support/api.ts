import type { SessionHandler } from "../../src/api/caller-session.ts";
import type { ClientDoor, ClientHandler } from "../../src/api/client-endpoint.ts";
import type { ApiError } from "../../src/api/errors.ts";
import { MasterStream, type MasterStreamOptions } from "../../src/api/executor-client.ts";
import type {
  EndsHandler,
  ExecutorHandler,
  ExecutorLink,
  FeedHandler,
  LinkEnd,
} from "../../src/api/executor-endpoint.ts";
import { clientAccess, executorIdentity, makeIdentity, OWNER } from "../../src/api/identity.ts";
import { type MasterServer, type MasterServerOptions, startMasterServer } from "../../src/api/master-server.ts";
import { type ExecutorReport, type MasterMessage, PROTOCOL_VERSION } from "../../src/api/messages.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { ExecutorJob } from "../../src/job/stored/executor-job.ts";
import { Inbox } from "./inbox.ts";
import { aJobSpec } from "./job-spec.ts";

export const identity = makeIdentity("application_1795305600000_0001");
/** The container of `aRegistration`, and what its executor was given. */
const containerId = "container_1795305600000_0001_01_000002";
export const executor = executorIdentity(identity, containerId);

export function anExecutorJob(spec: JobSpec = aJobSpec()): ExecutorJob {
  const applicationId = identity.applicationId;
  return {
    jobFileVersion: 1,
    build: "test",
    applicationId,
    user: "alice",
    spec,
    stagingUrl: "file:///none",
    hadoop: {},
  };
}

export function aRegistration(changes: Partial<ExecutorRegistration> = {}): ExecutorRegistration {
  return {
    task: "worker:0",
    containerId,
    generation: 1,
    host: "node-1",
    port: 4001,
    tensorboardPort: 0,
    rejoinAddress: "node-1:4002",
    child: { state: "none" },
    ...changes,
  };
}

/** The calls that an ApplicationMaster's handler received, in order. */
export type ExecutorCall =
  | {
      readonly call: "connected" | "registered";
      readonly link: ExecutorLink;
      readonly registration: ExecutorRegistration;
    }
  | {
      readonly call: "report";
      readonly link: ExecutorLink;
      readonly generation: number;
      readonly report: ExecutorReport;
    }
  | { readonly call: "disconnected"; readonly link: ExecutorLink; readonly end: LinkEnd }
  | { readonly call: "superseded"; readonly attempt: number };

/** A handler that keeps every call, so that a test can await it. */
export class RecordingExecutors implements ExecutorHandler {
  readonly calls = new Inbox<ExecutorCall>();
  refusal: (registration: ExecutorRegistration) => string | undefined = () => undefined;

  connected(link: ExecutorLink, registration: ExecutorRegistration): void {
    this.calls.put({ call: "connected", link, registration });
  }

  registered(link: ExecutorLink, registration: ExecutorRegistration): void {
    this.calls.put({ call: "registered", link, registration });
  }

  report(link: ExecutorLink, generation: number, report: ExecutorReport): void {
    this.calls.put({ call: "report", link, generation, report });
  }

  disconnected(link: ExecutorLink, end: LinkEnd): void {
    this.calls.put({ call: "disconnected", link, end });
  }

  superseded(attempt: number): void {
    this.calls.put({ call: "superseded", attempt });
  }
}

export const noClients: ClientHandler = {
  follow: () => () => undefined,
  readLog: () => () => undefined,
  stop: () => false,
  transact: async () => ({ revision: 0, succeeded: true, results: [] }),
  watch: async () => () => undefined,
  askPage: async () => "{}",
};

/** A door that is open to the owner alone, who may do everything. */
export const ownersDoor: ClientDoor = {
  secretOf: (name) => (name === OWNER ? clientAccess(identity).caller.secret : undefined),
  refusal: async () => undefined,
  userOf: () => "alice",
};

export const noFeeds: FeedHandler = { ask: async () => ({ type: "ended" }) };

export const noEnds: EndsHandler = { await: async () => ({ tasks: [] }) };

export const noSessions: SessionHandler = {
  open: (session) => session.fail("there are none"),
  accepted: () => undefined,
  taskIn: () => undefined,
  tenantOf: () => undefined,
};

/**
 * Ports outside the range from which the kernel gives out free ones (ip_local_port_range), so that a master that starts again at an
 * earlier master's address finds its port free, whatever else runs on this machine.
 */
const asideOfFreePorts = { from: 10_000, to: 30_000 };

export async function startMaster(changes: Partial<MasterServerOptions> = {}) {
  const executors = new RecordingExecutors();
  const server: MasterServer = await startMasterServer({
    identity,
    attempt: 1,
    build: "master-test",
    host: "127.0.0.1",
    portKey: "tony.am.port-range",
    ports: asideOfFreePorts,
    feeds: noFeeds,
    ends: noEnds,
    random: Math.random,
    heartbeatIntervalMs: 200,
    job: anExecutorJob(),
    executors,
    clients: noClients,
    sessions: noSessions,
    door: ownersDoor,
    ...changes,
  });
  return { executors, server, address: `127.0.0.1:${server.port}` };
}

/** An executor's stream whose messages and end a test can await. */
export function openStream(options: Pick<MasterStreamOptions, "identity" | "address">) {
  const messages = new Inbox<MasterMessage>();
  const ends = new Inbox<ApiError | undefined>();
  const stream = new MasterStream({
    ...options,
    onMessage: (message) => messages.put(message),
    onEnd: (error) => ends.put(error),
  });
  return { stream, messages, ends };
}

const noProof: Uint8Array = new Uint8Array();

export function register(
  registration = aRegistration(),
  { attempt = 1, protocol = PROTOCOL_VERSION, attemptProof = noProof } = {},
) {
  const hello = { protocol, build: "executor-test" };
  const { generation, ...own } = registration;
  return {
    attempt,
    generation,
    body: { type: "register", hello, ...own, attemptProof },
  } as const;
}
