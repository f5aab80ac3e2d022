import type { Server } from "node:net";

/** Makes a server listen on the loopback, at a free port. */
export async function listenLocally(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}

/** `host:port` of a server that listens there. */
export function localAddress(server: Server): string {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
  return `127.0.0.1:${address.port}`;
}
