import {
  createServer as createHttpServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, createServer, type Socket, type Server as TcpServer } from "node:net";
import type { ClusterStatus } from "./cluster.ts";

/** What passes before an upload is held. */
const passedBytes = 1 << 20;

/**
 * A way to HDFS that lets everything through but long uploads: whoever sends more than a MiB over one connection has sent some of it, and
 * waits for room that does not come. WebHDFS sends the bytes to the DataNode that the NameNode redirects to.
 */
export class HeldUpload {
  /** Resolves when an upload is held. */
  readonly held: Promise<void>;
  readonly #nameNode: Server;
  readonly #dataNode: TcpServer;
  readonly #sockets = new Set<Socket>();
  #dataNodeAddress: URL | undefined;

  constructor({ endpoints }: ClusterStatus) {
    const nameNode = new URL(endpoints.webHdfs);
    let held: () => void = () => undefined;
    this.held = new Promise((resolve) => {
      held = resolve;
    });
    this.#nameNode = createHttpServer((call, answer) => this.#ask(nameNode, call, answer));
    this.#dataNode = createServer((client) => this.#pass(client, held));
  }

  /** @returns the address for `dfs.namenode.http-address` */
  async open(): Promise<string> {
    await listening(this.#dataNode);
    return await listening(this.#nameNode);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#nameNode.closeAllConnections();
    await Promise.all([this.#nameNode, this.#dataNode].map((server) => new Promise((done) => server.close(done))));
  }

  #ask({ hostname, port }: URL, { method, url, headers }: IncomingMessage, answer: ServerResponse): void {
    // As a redirect, whose address is in a header.
    const path = url?.replace("noredirect=true", "noredirect=false");
    const call = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      answer.writeHead(response.statusCode ?? 500, this.#redirected(response));
      response.pipe(answer);
    });
    call.on("error", () => answer.destroy());
    call.end();
  }

  /** The headers of an answer, with ourselves in the DataNode's place. */
  #redirected({ headers }: IncomingMessage): IncomingMessage["headers"] {
    if (headers.location === undefined) return headers;
    const location = new URL(headers.location);
    this.#dataNodeAddress = new URL(location.origin);
    location.host = addressOf(this.#dataNode);
    return { ...headers, location: location.href };
  }

  #pass(client: Socket, held: () => void): void {
    const { hostname = "", port = "" } = this.#dataNodeAddress ?? {};
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
    }
    server.pipe(client);
    let bytes = 0;
    client.on("data", (piece) => {
      bytes += piece.length;
      server.write(piece);
      if (bytes < passedBytes) return;
      client.pause();
      held();
    });
    client.on("close", () => server.destroy());
  }
}

async function listening(server: TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return addressOf(server);
}

function addressOf(server: TcpServer): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `127.0.0.1:${address.port}`;
}
