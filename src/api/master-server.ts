import type { Server } from "@grpc/grpc-js";
import type { ExecutorJob } from "../job/executor-job.ts";
import { requireSecret } from "./authentication.ts";
import { ClientEndpoint, type ClientHandler } from "./client-endpoint.ts";
import { clientService, executorService } from "./definition.ts";
import { ExecutorEndpoint, type ExecutorHandler } from "./executor-endpoint.ts";
import type { ApplicationIdentity } from "./identity.ts";
import { type BindOptions, bindServer, closeServer, makeServer } from "./server.ts";

export interface MasterServerOptions extends BindOptions {
  readonly identity: ApplicationIdentity;
  /** The YARN attempt of this ApplicationMaster. */
  readonly attempt: number;
  /** Version and revision of this program. */
  readonly build: string;
  readonly heartbeatIntervalMs: number;
  /** Told to every executor on its welcome. */
  readonly job: ExecutorJob;
  readonly executors: ExecutorHandler;
  readonly clients: ClientHandler;
}

export interface MasterServer {
  readonly port: number;
  /** Lets streams end for at most so long, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/** Serves executors and clients over TLS on one port; throws as bindServer. */
export async function startMasterServer(options: MasterServerOptions): Promise<MasterServer> {
  const { identity, attempt, build, heartbeatIntervalMs, executors, clients } = options;
  const job = Buffer.from(JSON.stringify(options.job));
  const server = makeServer([
    requireSecret({
      "tony.v1.ExecutorService": identity.executorSecret,
      "tony.v1.ClientService": identity.clientSecret,
    }),
  ]);
  serveExecutors(server, new ExecutorEndpoint({ attempt, build, heartbeatIntervalMs, job, handler: executors }));
  serveClients(server, new ClientEndpoint({ attempt, build, handler: clients }));
  const port = await bindServer(server, identity.master, options);
  return { port, close: (graceMs) => closeServer(server, graceMs) };
}

function serveExecutors(server: Server, endpoint: ExecutorEndpoint): void {
  server.addService(executorService, { link: endpoint.accept.bind(endpoint) });
}

function serveClients(server: Server, endpoint: ClientEndpoint): void {
  server.addService(clientService, {
    follow: endpoint.follow.bind(endpoint),
    readLog: endpoint.readLog.bind(endpoint),
    stop: endpoint.stop.bind(endpoint),
  });
}
