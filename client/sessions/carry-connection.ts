import type { Socket } from "node:net";
import type { SessionOutput } from "../../src/api/session-messages.ts";
import type { CallingSession } from "../../src/api/session-stream.ts";

/**
 * Serves local connections by sessions.
 * @param open undefined while there is no AM to open a session with: the connection is reset
 */
export function carriedBy(open: () => CallingSession | undefined): (socket: Socket) => Promise<string | undefined> {
  return async (socket) => {
    const session = open();
    if (session !== undefined) return await carryConnection(socket, session);
    socket.resetAndDestroy();
    return undefined;
  };
}

/**
 * Connects a local socket with a session that carries a connection, until both sides have ended. Each side is read as fast as the
 * other accepts data, and may end while the other continues.
 * @param socket with `allowHalfOpen`. It is reset when the session fails: an end would look as if everything had been sent
 * @throws UserError, ApiError: the AM refuses the session, or was lost
 * @returns why the session failed; undefined: it did not, or this side is gone
 */
export async function carryConnection(socket: Socket, session: CallingSession): Promise<string | undefined> {
  let failure: string | undefined;
  let isGone = false;
  socket.on("error", () => undefined);
  socket.once("close", () => {
    isGone = !(socket.readableEnded && socket.writableFinished);
    if (isGone) session.cancel();
  });
  void sendAll(socket, session);
  const take = async (message: SessionOutput) => {
    if (message.type === "data") await write(socket, message.data);
    else if (message.type === "end") socket.end();
    else if (message.type === "failed") failure = message.reason;
  };
  const [error] = await Promise.all([session.over, session.receive(take)]);
  if (isGone) return undefined;
  if (failure === undefined && error === undefined) {
    socket.destroySoon();
    return undefined;
  }
  socket.resetAndDestroy();
  if (failure === undefined && error !== undefined) throw error;
  return failure;
}

/** When the socket breaks, its close event ends the session. */
async function sendAll(socket: Socket, session: CallingSession): Promise<void> {
  try {
    for await (const data of socket.iterator({ destroyOnReturn: false })) await session.send({ type: "data", data });
    await session.send({ type: "end" });
  } catch {
    socket.destroy();
  }
}

function write(socket: Socket, data: Uint8Array): Promise<void> {
  return new Promise((resolve) => socket.write(data, () => resolve()));
}
