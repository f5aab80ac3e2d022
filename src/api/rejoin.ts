import type { ConnectionInjector, handleUnaryCall, Server } from "@grpc/grpc-js";
import { requireSecret } from "./authentication.ts";
import { Channel } from "./channel.ts";
import { protocolMismatch } from "./client-endpoint.ts";
import { rejoinService } from "./definition.ts";
import { type ApplicationIdentity, type ExecutorIdentity, executorServerName } from "./identity.ts";
import { PROTOCOL_VERSION, type RejoinReply, type RejoinRequest } from "./messages.ts";
import { type BindOptions, listenOn, makeServer } from "./server.ts";
import { serverCredentials } from "./tls.ts";

export interface RejoinServerOptions extends BindOptions {
  readonly identity: ExecutorIdentity;
  readonly build: string;
  /** A new ApplicationMaster calls. It is authenticated only on the stream that is then opened to its address. */
  readonly rejoin: (request: RejoinRequest) => RejoinReply;
}

/**
 * Listens on an executor's rejoin port, until the process ends. What serves it is made for the first caller: most executors have none, and it
 * would be a tenth of their start.
 * @returns the port; throws as listenOn
 */
export async function startRejoinServer(options: RejoinServerOptions): Promise<number> {
  let connections: ConnectionInjector | undefined;
  return await listenOn(options, (connection) => {
    connections ??= makeRejoinServer(options).createConnectionInjector(serverCredentials(options.identity.executor));
    connections.injectConnection(connection);
  });
}

function makeRejoinServer({ identity, build, rejoin }: RejoinServerOptions): Server {
  const server = makeServer([requireSecret({ "tony.v1.RejoinService": identity.executorSecret })]);
  const answer: handleUnaryCall<RejoinRequest, RejoinReply> = ({ request }, reply) => {
    const mismatch = protocolMismatch(request.hello, build);
    reply(null, mismatch === undefined ? rejoin(request) : { accepted: false, reason: mismatch });
  };
  server.addService(rejoinService, { rejoin: answer });
  return server;
}

export interface RejoinCall {
  readonly identity: ApplicationIdentity;
  readonly build: string;
  /** `host:port` of the executor's rejoin port, as it registered it. */
  readonly rejoinAddress: string;
  readonly attempt: number;
  /** `host:port` of this ApplicationMaster. */
  readonly masterAddress: string;
  readonly timeoutMs: number;
}

/** Asks an executor to connect to this attempt. Throws an ApiError. */
export async function callRejoin(call: RejoinCall): Promise<RejoinReply> {
  const { identity, build, attempt, masterAddress } = call;
  const channel = new Channel({
    address: call.rejoinAddress,
    serverName: executorServerName(identity.applicationId),
    certificate: identity.executor.certificate,
    secret: identity.executorSecret,
  });
  try {
    const request = { hello: { protocol: PROTOCOL_VERSION, build }, attempt, masterAddress };
    return await channel.call(rejoinService.rejoin, request, call.timeoutMs);
  } finally {
    channel.close();
  }
}
