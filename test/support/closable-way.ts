import { connect, createServer, type Server, type Socket } from "node:net";

/** An address that leads to a server until it is closed. */
export class ClosableWay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(target.port), target.hostname);
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket
          .on("close", () => this.#sockets.delete(socket))
          .on("error", () => [client, server].map((s) => s.destroy()));
      }
      client.pipe(server).pipe(client);
    });
  }

  /** @param target `http://host:port` */
  static async open(target: string): Promise<ClosableWay> {
    const way = new ClosableWay(new URL(target));
    await new Promise<void>((resolve) => way.#server.listen(0, "127.0.0.1", resolve));
    return way;
  }

  /** `http://host:port` */
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the way is closed");
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
