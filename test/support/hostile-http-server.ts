import { createServer, type Server, type Socket } from "node:net";
import { listenLocally, localAddress } from "./local-port.ts";

/**
 * What the server does with one request: it gets the socket and the request's bytes so far, which are the headers and whatever came
 * with them.
 */
export type Behaviour = (socket: Socket, request: string) => void;

/**
 * A server that writes raw bytes, so that it can break HTTP in every way. Requests take the behaviours in turn; the last one is kept
 * for all further requests.
 */
export class HostileHttpServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #behaviours: Behaviour[] = [];
  /** The first lines of the requests seen: `PUT /webhdfs/v1/x?op=…`. */
  readonly requests: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#serve(socket));
  }

  static async start(): Promise<HostileHttpServer> {
    const server = createServer();
    await listenLocally(server);
    return new HostileHttpServer(server);
  }

  get address(): string {
    return `http://${localAddress(this.#server)}`;
  }

  behave(...behaviours: Behaviour[]): void {
    this.#behaviours = behaviours;
    this.requests.length = 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined);
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const request = received;
      received = "";
      const line = request.slice(0, request.indexOf("\r\n")).replace(/ HTTP\/1\.1$/, "");
      // Bytes of a body that come after the headers are not a request.
      if (!/^(GET|PUT|POST|DELETE) /.test(line)) return;
      this.requests.push(line);
      const behaviour = this.#behaviours.length > 1 ? this.#behaviours.shift() : this.#behaviours[0];
      behaviour?.(socket, request);
    });
  }
}

/** A complete, correct answer. */
export function answer(status: number, body: unknown, headers: readonly string[] = []): Behaviour {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (socket) => {
    socket.write(
      [`HTTP/1.1 ${status} X`, `Content-Length: ${Buffer.byteLength(text)}`, ...headers, "", text].join("\r\n"),
    );
  };
}

/** A refusal in WebHDFS's words. */
export function refusal(status: number, exception: string, message: string): Behaviour {
  return answer(status, { RemoteException: { exception, javaClassName: `org.apache.hadoop.${exception}`, message } });
}

/** Sends the bytes as they are, and then ends the connection. */
export function bytesThenEnd(bytes: string): Behaviour {
  return (socket) => socket.end(bytes);
}

/** Sends the bytes as they are, and then resets the connection. */
export function bytesThenReset(bytes: string): Behaviour {
  return (socket) => {
    if (bytes === "") socket.resetAndDestroy();
    else socket.write(bytes, () => socket.resetAndDestroy());
  };
}

/** Sends nothing and leaves the connection open. */
export const silence: Behaviour = () => undefined;
