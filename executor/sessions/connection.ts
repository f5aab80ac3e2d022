import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { SessionInput } from "../../src/api/session-messages.ts";
import type { ServedSession } from "../../src/api/session-stream.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { isTrusted, otherEnd, type TcpSocket, tcpSockets } from "../../src/tcp-sockets.ts";
import type { Session } from "./session.ts";

/**
 * Connects a session to a port of this node.
 * @throws Error as connectTo
 */
export async function openConnection(port: number, stream: ServedSession): Promise<Session> {
  const socket = await connectTo(port);
  // Reading reports its errors; a later one is reported by its close.
  socket.on("error", () => undefined);
  void stream.send({ type: "started", terminal: false });
  void sendAll(socket, stream);
  return {
    hasEnded: false,
    take: (input) => take(socket, input),
    end: async () => void socket.destroy(),
  };
}

/** Where a process that listens on all addresses is reached: with `::` also on IPv4 addresses, unless it says otherwise. */
const LOOPBACKS: Readonly<Record<string, readonly string[]>> = { "0.0.0.0": ["127.0.0.1"], "::": ["127.0.0.1", "::1"] };

/**
 * A connection to a process of our own user, or of root, that listens at that port of this node. Another user of the node may listen at the
 * same port on another address, and gets no connection.
 * @param sockets of this machine, now
 * @throws Error where no process of ours listens
 */
export async function connectTo(
  port: number,
  sockets: () => Promise<readonly TcpSocket[]> = tcpSockets,
): Promise<Socket> {
  const listeners = (await sockets()).filter(({ listens, localPort }) => listens && localPort === port);
  let failure: unknown;
  for (const { host, listener } of listeners.filter(isTrusted).flatMap(placesOf)) {
    const socket = connect({ host, port, allowHalfOpen: true });
    try {
      await once(socket, "connect");
      const now = await sockets();
      const end = otherEnd(socket, now);
      // A connection that nobody has accepted yet belongs to the owner of the port.
      const owner = end?.uid === undefined ? now.find((one) => isSameListener(one, listener)) : end;
      // The listener may have gone since, and another user may have taken its place.
      if (owner === undefined || !isTrusted(owner)) throw strangerError(port, owner);
      return socket;
    } catch (error) {
      socket.destroy();
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  const [stranger] = listeners;
  throw stranger === undefined ? new Error(`nothing listens on port ${port}`) : strangerError(port, stranger);
}

function placesOf(listener: TcpSocket) {
  const { localAddress } = listener;
  return (LOOPBACKS[localAddress] ?? [localAddress]).map((host) => ({ host, listener }));
}

function isSameListener(one: TcpSocket, { localAddress, localPort }: TcpSocket): boolean {
  return one.listens && one.localPort === localPort && one.localAddress === localAddress;
}

function strangerError(port: number, owner: TcpSocket | undefined): Error {
  if (owner?.uid === undefined) return new Error(`nothing listens on port ${port} any more`);
  return new Error(`port ${port} belongs to another user of this node (uid ${owner.uid})`);
}

async function take(socket: Socket, input: SessionInput): Promise<void> {
  if (input.type === "end") socket.end();
  if (input.type === "data") await new Promise<void>((resolve) => socket.write(input.data, () => resolve()));
}

/** Either side may end while the other goes on: the session is over when both have ended. */
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
