import type { MethodDefinition } from "@grpc/grpc-js";
import {
  followMessage,
  followRequest,
  logChunk,
  readLogRequest,
  reattachReply,
  reattachRequest,
  stopReply,
  stopRequest,
} from "./client-codec.ts";
import { executorMessage } from "./executor-codec.ts";
import { masterMessage } from "./master-codec.ts";
import { type Codec, wireService } from "./wire.ts";

/** The three services of proto/tony as grpc-js defines services, over the types of messages.ts. */
export const executorService = {
  link: method("ExecutorService", "Link", executorMessage, masterMessage),
};

export const rejoinService = {
  reattach: method("RejoinService", "Reattach", reattachRequest, reattachReply),
};

export const clientService = {
  follow: method("ClientService", "Follow", followRequest, followMessage),
  readLog: method("ClientService", "ReadLog", readLogRequest, logChunk),
  stop: method("ClientService", "Stop", stopRequest, stopReply),
};

function method<Request, Response>(
  serviceName: string,
  name: string,
  request: Codec<Request>,
  response: Codec<Response>,
): MethodDefinition<Request, Response> {
  const reflected = wireService(serviceName).methods[name];
  if (reflected === undefined) throw new Error(`proto/tony has no ${serviceName}.${name}`);
  return {
    path: `/tony.v1.${serviceName}/${name}`,
    requestStream: reflected.requestStream ?? false,
    responseStream: reflected.responseStream ?? false,
    requestSerialize: request.serialize,
    requestDeserialize: request.deserialize,
    responseSerialize: response.serialize,
    responseDeserialize: response.deserialize,
  };
}
