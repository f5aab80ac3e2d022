import type { handleBidiStreamingCall } from "@grpc/grpc-js";
import { executorService } from "../../src/api/definition.ts";
import { executorIdentity } from "../../src/api/identity.ts";
import type { ExecutorMessage, ExecutorReport, MasterMessage } from "../../src/api/messages.ts";
import { ApiServer } from "../../src/api/server.ts";
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
  let streams = 0;
  const link: handleBidiStreamingCall<ExecutorMessage, MasterMessage> = (call) => {
    streams += 1;
    const stream = streams;
    call.on("data", ({ body }: ExecutorMessage) => said.put({ stream, report: body }));
  };
  const server = new ApiServer({
    name: "silent.tony",
    callers: {
      "tony.v1.ExecutorService": (containerId) => executorIdentity(identity, containerId).caller.secret,
    },
    services: (grpc) => grpc.addService(executorService, { link }),
  });
  const ports = { from: port, to: port };
  await server.listen({ host: "127.0.0.1", ports, portKey: "", random: Math.random });
  return { said, close: () => server.close(0) };
}
