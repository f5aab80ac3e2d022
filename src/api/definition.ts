import type { MethodDefinition } from "@grpc/grpc-js";
import type { ApplicationRight } from "../job/access-list.ts";
import type { Message } from "./fields.ts";
import {
  endsReply,
  endsRequest,
  executorMessage,
  feedReply,
  feedRequest,
  followMessage,
  followRequest,
  logChunk,
  masterMessage,
  pageReply,
  pageRequest,
  readLogRequest,
  rejoinReply,
  rejoinRequest,
  sessionInput,
  sessionOutput,
  stopReply,
  stopRequest,
  storeReply,
  storeRequest,
  taskAnswers,
  taskTransactions,
  watchReply,
  watchRequest,
} from "./generated/codecs.ts";

/** Which sides of a method may send any number of messages. */
type Streaming = "none" | "responses" | "both";

/** The three services of proto/tony as grpc-js service definitions, over the types of messages.ts. */
export const executorService = {
  link: method("ExecutorService", "Link", "both", executorMessage, masterMessage),
  serveSession: method("ExecutorService", "ServeSession", "both", sessionOutput, sessionInput),
  openSession: method("ExecutorService", "OpenSession", "both", sessionInput, sessionOutput),
  transact: method("ExecutorService", "Transact", "both", taskTransactions, taskAnswers),
  watch: method("ExecutorService", "Watch", "responses", watchRequest, watchReply),
  askFeed: method("ExecutorService", "AskFeed", "none", feedRequest, feedReply),
  awaitEnds: method("ExecutorService", "AwaitEnds", "none", endsRequest, endsReply),
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
  watch: method("ClientService", "Watch", "responses", watchRequest, watchReply),
  askPage: method("ClientService", "AskPage", "none", pageRequest, pageReply),
};

/** The right that each method of ClientService requires. */
export const rightByPath: ReadonlyMap<string, ApplicationRight> = new Map([
  [clientService.follow.path, "view"],
  [clientService.readLog.path, "view"],
  [clientService.stop.path, "modify"],
  [clientService.openSession.path, "run"],
  [clientService.transact.path, "run"],
  [clientService.watch.path, "run"],
  [clientService.askPage.path, "view"],
]);

function method<Request, Response>(
  serviceName: string,
  name: string,
  streaming: Streaming,
  request: Message<Request>,
  response: Message<Response>,
): MethodDefinition<Request, Response> {
  return {
    path: `/tony.v1.${serviceName}/${name}`,
    requestStream: streaming === "both",
    responseStream: streaming !== "none",
    requestSerialize: (message) => toBuffer(request.encode(message)),
    requestDeserialize: request.decode,
    responseSerialize: (message) => toBuffer(response.encode(message)),
    responseDeserialize: response.decode,
  };
}

/** The bytes of a protobuf writer, without a copy. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
