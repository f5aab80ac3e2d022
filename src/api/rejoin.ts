import type { handleUnaryCall } from "@grpc/grpc-js";
import { Channel } from "./channel.ts";
import { protocolMismatch } from "./client-endpoint.ts";
import { rejoinService } from "./definition.ts";
import { type ExecutorIdentity, executorServerName } from "./identity.ts";
import { PROTOCOL_VERSION, type RejoinReply, type RejoinRequest } from "./messages.ts";
import { ApiServer, type BindOptions } from "./server.ts";

export interface RejoinServerOptions extends BindOptions {
  readonly identity: ExecutorIdentity;
  readonly build: string;
  /** A new ApplicationMaster calls. It is authenticated only on the stream that the executor then opens to its address. */
  readonly rejoin: (request: RejoinRequest) => RejoinReply;
}

/**
 * Listens on an executor's rejoin port until the process ends.
 * @returns the port; throws as ApiServer's listen
 */
export async function startRejoinServer(options: RejoinServerOptions): Promise<number> {
  const { identity, build, rejoin } = options;
  const { caller } = identity;
  const answer: handleUnaryCall<RejoinRequest, RejoinReply> = ({ request }, reply) => {
    const mismatch = protocolMismatch(request.hello, build);
    reply(null, mismatch === undefined ? rejoin(request) : { accepted: false, reason: mismatch });
  };
  const server = new ApiServer({
    name: executorServerName(identity.applicationId),
    callers: { "tony.v1.RejoinService": (name) => (name === caller.name ? caller.secret : undefined) },
    services: (grpc) => grpc.addService(rejoinService, { rejoin: answer }),
  });
  return await server.listen(options);
}

export interface RejoinCall {
  /** The executor's identity. */
  readonly identity: ExecutorIdentity;
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
    caller: identity.caller,
  });
  try {
    const request = { hello: { protocol: PROTOCOL_VERSION, build }, attempt, masterAddress };
    return await channel.call(rejoinService.rejoin, request, call.timeoutMs);
  } finally {
    channel.close();
  }
}
