import { readFileSync } from "node:fs";
import {
  type ClientRequest,
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestOptions,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer, request as requestHttps } from "node:https";
import { connect, createServer, type Socket, type Server as TcpServer } from "node:net";
import type { ClusterStatus } from "./cluster.ts";
import { deferred } from "./deferred.ts";

/** How many bytes pass before an upload is held. */
const passedBytes = 1 << 20;

/**
 * A way to HDFS that lets everything through except for long uploads: a client that sends more than a MiB over one connection has sent some
 * of it, and waits because nobody reads the rest. WebHDFS sends the bytes to the DataNode to which the NameNode redirects. On a secure
 * cluster this way has the name and the certificate of both, which are on one host.
 */
export class HeldUpload {
  /** Resolves when an upload is held. */
  readonly held: Promise<void>;
  readonly #cluster: ClusterStatus;
  readonly #nameNode: Server;
  readonly #dataNode: TcpServer;
  readonly #sockets = new Set<Socket>();
  readonly #paused = new Set<Socket>();
  #isReleased = false;
  #dataNodeAddress: URL | undefined;

  constructor(cluster: ClusterStatus) {
    this.#cluster = cluster;
    const nameNode = new URL(cluster.endpoints.webHdfs);
    const { promise, resolve: held } = deferred();
    this.held = promise;
    const ask = (call: IncomingMessage, answer: ServerResponse) => this.#ask(nameNode, call, answer);
    this.#nameNode =
      cluster.security === undefined ? createHttpServer(ask) : createHttpsServer(certificate(cluster.security), ask);
    this.#dataNode = createServer((client) => this.#pass(client, held));
  }

  /** @returns the job's setting, `key=value`, that makes its uploads go this way */
  async open(): Promise<string> {
    await Promise.all([this.#listen(this.#dataNode), this.#listen(this.#nameNode)]);
    const scheme = this.#cluster.security === undefined ? "http" : "https";
    return `dfs.namenode.${scheme}-address=${this.#addressOf(this.#nameNode)}`;
  }

  /** Lets held uploads go on, and holds nothing any more. */
  release(): void {
    this.#isReleased = true;
    for (const socket of this.#paused) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#nameNode.closeAllConnections();
    await Promise.all([this.#nameNode, this.#dataNode].map((server) => new Promise((done) => server.close(done))));
  }

  #ask({ hostname, port }: URL, { method, url, headers }: IncomingMessage, answer: ServerResponse): void {
    // Asks for a redirect, whose address is in a header.
    const path = url?.replace("noredirect=true", "noredirect=false");
    const options = { hostname, port, method, path, headers, agent: false };
    const call = this.#request(options, (response) => {
      answer.writeHead(response.statusCode ?? 500, this.#redirected(response));
      response.pipe(answer);
    });
    call.on("error", () => answer.destroy());
    call.end();
  }

  #request(options: RequestOptions, answered: (response: IncomingMessage) => void): ClientRequest {
    const { security } = this.#cluster;
    if (security === undefined) return request(options, answered);
    return requestHttps({ ...options, ca: readFileSync(security.certificateAuthority) }, answered);
  }

  /** The headers of an answer, with this server in the DataNode's place. */
  #redirected({ headers }: IncomingMessage): IncomingMessage["headers"] {
    if (headers.location === undefined) return headers;
    const location = new URL(headers.location);
    this.#dataNodeAddress = new URL(location.origin);
    location.host = this.#addressOf(this.#dataNode);
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
      if (bytes < passedBytes || this.#isReleased) return;
      client.pause();
      this.#paused.add(client);
      held();
    });
    client.on("close", () => server.destroy());
  }

  /** A test that fails before it closes this must not keep its process alive. */
  async #listen(server: TcpServer): Promise<void> {
    await new Promise<void>((resolve) => server.unref().listen(0, this.#cluster.addresses.master, resolve));
  }

  #addressOf(server: TcpServer): string {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return `${this.#cluster.addresses.master}:${address.port}`;
  }
}

const certificate = ({ keyStore }: NonNullable<ClusterStatus["security"]>) => ({
  pfx: readFileSync(keyStore.file),
  passphrase: keyStore.password,
});
