import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { AnswerFates, type Choose } from "./answer-fates.ts";
import { listenLocally, localAddress } from "./local-port.ts";

/** The parameter that holds the DataNode's real address in the addresses that the proxy rewrites. */
const dataNodeKey = "behind";

/**
 * A proxy in front of a NameNode's WebHDFS and of its DataNodes, because it puts itself into the addresses that the NameNode gives. It
 * loses answers of either, after the server has carried out the request. A method is the operation's name; at a DataNode ` data` follows
 * it.
 */
export class LossyWebProxy {
  readonly fates: AnswerFates;
  readonly #nameNode: string;
  readonly #server: Server;

  private constructor(nameNode: string, choose: Choose) {
    this.#nameNode = nameNode;
    this.fates = new AnswerFates(choose);
    this.#server = createServer((asked, answer) => this.#pass(asked, answer).catch(() => answer.destroy()));
    this.#server.keepAliveTimeout = 0;
  }

  /** @param nameNode `host:port` of its web address */
  static async start(nameNode: string, choose: Choose): Promise<LossyWebProxy> {
    const proxy = new LossyWebProxy(nameNode, choose);
    await listenLocally(proxy.#server);
    return proxy;
  }

  /** `host:port` */
  get address(): string {
    return localAddress(this.#server);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = new URL(asked.url ?? "/", `http://${this.#nameNode}`);
    const dataNode = url.searchParams.get(dataNodeKey);
    const operation = url.searchParams.get("op")?.toUpperCase() ?? "";
    url.host = dataNode ?? this.#nameNode;
    url.searchParams.delete(dataNodeKey);
    const { statusCode = 500, headers, body } = await exchange(url, asked);
    const text = dataNode === null ? this.#throughHere(body) : body;
    const length = { "content-length": String(text.length) };
    const pass = () => {
      if (!answer.headersSent) answer.writeHead(statusCode, { ...withoutFraming(headers), ...length }).end(text);
      else answer.socket?.write(Buffer.concat([Buffer.from(headOf(statusCode, text.length)), text]));
    };
    const cut = () => {
      // Half of what was asked for may have arrived.
      if (text.length > 1) answer.writeHead(statusCode, length).write(text.subarray(0, text.length >> 1));
      asked.socket.end(() => asked.socket.destroy());
    };
    this.fates.meet(dataNode === null ? operation : `${operation} data`, { pass, cut });
  }

  /** Where a NameNode's answer names a DataNode, this proxy is named instead. */
  #throughHere(body: Buffer): Buffer {
    const named: unknown = body.toString().startsWith('{"Location":') ? JSON.parse(body.toString()) : undefined;
    if (typeof named !== "object" || named === null || !("Location" in named)) return body;
    const location = new URL(String(named.Location));
    location.searchParams.set(dataNodeKey, location.host);
    location.host = this.address;
    return Buffer.from(JSON.stringify({ Location: location }));
  }
}

async function exchange(url: URL, asked: IncomingMessage) {
  const given = await new Promise<IncomingMessage>((resolve, reject) => {
    const { method, headers } = asked;
    asked.pipe(
      request(url, { method, headers: { ...headers, host: url.host }, agent: false }, resolve).on("error", reject),
    );
  });
  return { statusCode: given.statusCode, headers: given.headers, body: await buffer(given) };
}

function withoutFraming({
  "transfer-encoding": _encoding,
  connection: _connection,
  ...rest
}: IncomingMessage["headers"]) {
  return rest;
}

function headOf(statusCode: number, lengthBytes: number): string {
  return `HTTP/1.1 ${statusCode} OK\r\ncontent-length: ${lengthBytes}\r\n\r\n`;
}
