import { createServer, type Server, type Socket } from "node:net";
import { listenLocally, localAddress } from "./local-port.ts";

/** What the server does with one request: it gets the socket and the request's bytes so far (headers and what came with them). */
export type Behaviour = (socket: Socket, request: string) => void;

/** A server that speaks raw bytes, so that it can break HTTP in every way. Requests take the behaviours in turn; the last one stays. */
export class HostileHttpServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #behaviours: Behaviour[] = [];
  /** First lines of the requests seen: `PUT /webhdfs/v1/x?op=…`. */
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
      // Bytes of a body that follow the headers later are nobody's request.
      if (!/^(GET|PUT|POST|DELETE) /.test(line)) return;
      this.requests.push(line);
      const behaviour = this.#behaviours.length > 1 ? this.#behaviours.shift() : this.#behaviours[0];
      behaviour?.(socket, request);
    });
  }
}

/** A whole, correct answer. */
export function answer(status: number, body: unknown, headers: readonly string[] = []): Behaviour {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (socket) => {
    socket.write(
      [`HTTP/1.1 ${status} X`, `Content-Length: ${Buffer.byteLength(text)}`, ...headers, "", text].join("\r\n"),
    );
  };
}

/** A refusal as WebHDFS words it. */
export function refusal(status: number, exception: string, message: string): Behaviour {
  return answer(status, { RemoteException: { exception, javaClassName: `org.apache.hadoop.${exception}`, message } });
}

/** The bytes as they are, then the end of the connection. */
export function bytesThenEnd(bytes: string): Behaviour {
  return (socket) => socket.end(bytes);
}

/** The bytes as they are, then a reset. */
export function bytesThenReset(bytes: string): Behaviour {
  return (socket) => {
    if (bytes === "") socket.resetAndDestroy();
    else socket.write(bytes, () => socket.resetAndDestroy());
  };
}

/** Nothing at all, the connection left open. */
export const silence: Behaviour = () => undefined;
