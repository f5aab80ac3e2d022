import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { SessionInput } from "../../src/api/session-messages.ts";
import type { ServedSession } from "../../src/api/session-stream.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { Session } from "./session.ts";

/**
 * Connects a session to a port of this node: of the first host where somebody listens.
 * @throws Error where nobody does
 */
export async function openConnection(hosts: readonly string[], port: number, stream: ServedSession): Promise<Session> {
  const socket = await connectTo(hosts, port);
  // Reading tells of its errors; of one that comes later its close does.
  socket.on("error", () => undefined);
  void stream.send({ type: "started", terminal: false });
  void sendAll(socket, stream);
  return {
    hasEnded: false,
    take: (input) => take(socket, input),
    end: async () => void socket.destroy(),
  };
}

async function connectTo(hosts: readonly string[], port: number): Promise<Socket> {
  let failure: unknown;
  for (const host of hosts) {
    try {
      const socket = connect({ host, port, allowHalfOpen: true });
      await once(socket, "connect");
      return socket;
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(`nothing listens on port ${port} of ${hosts[0]} (${errorMessage(failure)})`);
}

async function take(socket: Socket, input: SessionInput): Promise<void> {
  if (input.type === "end") socket.end();
  if (input.type === "data") await new Promise<void>((resolve) => socket.write(input.data, () => resolve()));
}

/** Either side may end while the other goes on: the session is over when both have. */
async function sendAll(socket: Socket, stream: ServedSession): Promise<void> {
  try {
    for await (const data of socket.iterator({ destroyOnReturn: false }))
      await stream.send({ type: "data", stream: "stdout", data });
    await stream.send({ type: "end" });
    if (!socket.closed) await once(socket, "close");
    stream.finish();
  } catch (error) {
    stream.finish({ type: "failed", reason: errorMessage(error) });
  }
}
