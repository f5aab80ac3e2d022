import type { MethodDefinition } from "@grpc/grpc-js";
import type { ApplicationRight } from "../job/access-list.ts";
import {
  followMessage,
  followRequest,
  logChunk,
  readLogRequest,
  rejoinReply,
  rejoinRequest,
  stopReply,
  stopRequest,
  storeReply,
  storeRequest,
} from "./client-codec.ts";
import { executorMessage } from "./executor-codec.ts";
import { masterMessage } from "./master-codec.ts";
import { sessionInput, sessionOutput } from "./session-codec.ts";
import type { Codec } from "./wire.ts";

/** Which side of a method sends any number of messages. */
type Streaming = "none" | "responses" | "both";

/** The three services of proto/tony as grpc-js defines services, over the types of messages.ts. */
export const executorService = {
  link: method("ExecutorService", "Link", "both", executorMessage, masterMessage),
  serveSession: method("ExecutorService", "ServeSession", "both", sessionOutput, sessionInput),
  openSession: method("ExecutorService", "OpenSession", "both", sessionInput, sessionOutput),
};

export const rejoinService = {
  rejoin: method("RejoinService", "Rejoin", "none", rejoinRequest, rejoinReply),
};

export const clientService = {
  follow: method("ClientService", "Follow", "responses", followRequest, followMessage),
  readLog: method("ClientService", "ReadLog", "responses", readLogRequest, logChunk),
  stop: method("ClientService", "Stop", "none", stopRequest, stopReply),
  openSession: method("ClientService", "OpenSession", "both", sessionInput, sessionOutput),
  transact: method("ClientService", "Transact", "none", storeRequest, storeReply),
};

/** What it takes to call each method of ClientService. */
export const rightByPath: ReadonlyMap<string, ApplicationRight> = new Map([
  [clientService.follow.path, "view"],
  [clientService.readLog.path, "view"],
  [clientService.stop.path, "modify"],
  [clientService.openSession.path, "run"],
  [clientService.transact.path, "run"],
]);

function method<Request, Response>(
  serviceName: string,
  name: string,
  streaming: Streaming,
  request: Codec<Request>,
  response: Codec<Response>,
): MethodDefinition<Request, Response> {
  return {
    path: `/tony.v1.${serviceName}/${name}`,
    requestStream: streaming === "both",
    responseStream: streaming !== "none",
    requestSerialize: request.serialize,
    requestDeserialize: request.deserialize,
    responseSerialize: response.serialize,
    responseDeserialize: response.deserialize,
  };
}
