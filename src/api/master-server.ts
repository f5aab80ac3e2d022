import type { Server } from "@grpc/grpc-js";
import { countTasks } from "../job/spec.ts";
import type { ExecutorJob } from "../job/stored/executor-job.ts";
import { type CallLimits, callLimitsOf } from "./caller-calls.ts";
import type { SessionHandler } from "./caller-session.ts";
import { type ClientDoor, ClientEndpoint, type ClientHandler } from "./client-endpoint.ts";
import { clientService, executorService, rightByPath } from "./definition.ts";
import { type EndsHandler, ExecutorEndpoint, type ExecutorHandler, type FeedHandler } from "./executor-endpoint.ts";
import { type ApplicationIdentity, executorIdentity, masterServerName } from "./identity.ts";
import { ApiServer, type BindOptions } from "./server.ts";

export interface MasterServerOptions extends BindOptions {
  readonly identity: ApplicationIdentity;
  /** The YARN attempt of this ApplicationMaster. */
  readonly attempt: number;
  /** Version and revision of this program. */
  readonly build: string;
  readonly heartbeatIntervalMs: number;
  /** Sent to every executor in its welcome. */
  readonly job: ExecutorJob;
  readonly executors: ExecutorHandler;
  readonly clients: ClientHandler;
  readonly sessions: SessionHandler;
  readonly feeds: FeedHandler;
  readonly ends: EndsHandler;
  readonly door: ClientDoor;
  /** What the server does for each caller at a time; absent: derived from the job's tasks. */
  readonly callLimits?: CallLimits;
}

export interface MasterServer {
  readonly port: number;
  /** Closes whatever containers that have gone had opened. To be called when the job has changed. */
  look(): void;
  /** Waits at most that long for streams to end, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/** Serves executors and clients over TLS on one port; throws as ApiServer's listen. */
export async function startMasterServer(options: MasterServerOptions): Promise<MasterServer> {
  const { identity, attempt, build, heartbeatIntervalMs, executors, clients, sessions, feeds, ends, door } = options;
  const tasks = countTasks(options.job.spec);
  const job = Buffer.from(JSON.stringify(options.job));
  const own = { identity, attempt, build, heartbeatIntervalMs, job };
  const endpoint = new ExecutorEndpoint({ ...own, handler: executors, sessions, store: clients, feeds, ends });
  const server = new ApiServer({
    name: masterServerName(identity.applicationId),
    callers: {
      "tony.v1.ExecutorService": (containerId) => executorIdentity(identity, containerId).caller.secret,
      "tony.v1.ClientService": (name) => door.secretOf(name),
    },
    async refusal(caller, path) {
      const right = rightByPath.get(path);
      return right && (await door.refusal(caller, right));
    },
    callLimits: options.callLimits ?? callLimitsOf(tasks),
    services: (grpc) => {
      serveExecutors(grpc, endpoint);
      serveClients(grpc, new ClientEndpoint({ attempt, build, door, handler: clients, sessions }));
    },
  });
  const port = await server.listen(options);
  return { port, look: () => endpoint.look(), close: (graceMs) => server.close(graceMs) };
}

function serveExecutors(server: Server, endpoint: ExecutorEndpoint): void {
  server.addService(executorService, {
    link: endpoint.accept.bind(endpoint),
    serveSession: endpoint.serveSession.bind(endpoint),
    openSession: endpoint.openSession.bind(endpoint),
    transact: endpoint.transact.bind(endpoint),
    watch: endpoint.watch.bind(endpoint),
    askFeed: endpoint.askFeed.bind(endpoint),
    awaitEnds: endpoint.awaitEnds.bind(endpoint),
  });
}

function serveClients(server: Server, endpoint: ClientEndpoint): void {
  server.addService(clientService, {
    follow: endpoint.follow.bind(endpoint),
    readLog: endpoint.readLog.bind(endpoint),
    stop: endpoint.stop.bind(endpoint),
    openSession: endpoint.openSession.bind(endpoint),
    transact: endpoint.transact.bind(endpoint),
    watch: endpoint.watch.bind(endpoint),
    askPage: endpoint.askPage.bind(endpoint),
  });
}
