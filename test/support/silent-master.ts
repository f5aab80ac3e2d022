import type { handleBidiStreamingCall } from "@grpc/grpc-js";
import { requireSecret } from "../../src/api/authentication.ts";
import { executorService } from "../../src/api/definition.ts";
import type { ExecutorMessage, ExecutorReport, MasterMessage } from "../../src/api/messages.ts";
import { bindServer, closeServer, makeServer } from "../../src/api/server.ts";
import { identity } from "./api.ts";
import { Inbox } from "./inbox.ts";

export interface Said {
  /** 1 for the first stream that was opened. */
  readonly stream: number;
  readonly report: ExecutorReport;
}

/** An ApplicationMaster that takes streams on that port and never answers; a test awaits what executors say there. */
export async function startSilentMaster(port: number) {
  const said = new Inbox<Said>();
  const server = makeServer([requireSecret({ "tony.v1.ExecutorService": identity.executorSecret })]);
  let streams = 0;
  const link: handleBidiStreamingCall<ExecutorMessage, MasterMessage> = (call) => {
    streams += 1;
    const stream = streams;
    call.on("data", ({ body }: ExecutorMessage) => said.put({ stream, report: body }));
  };
  server.addService(executorService, { link });
  const ports = { from: port, to: port };
  await bindServer(server, identity.master, { host: "127.0.0.1", ports, portKey: "", random: Math.random });
  return { said, close: () => closeServer(server, 0) };
}
