import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { errorMessage } from "../errors.ts";
import { type ExchangeBody, toHttpError } from "../http/exchange.ts";
import { contentLengthBytes, openContent } from "./content.ts";
import { FileSystemError } from "./errors.ts";
import type { Failover, Repeatable } from "./failover.ts";
import type { Content } from "./file-system.ts";
import type { WebHdfsConnection, WebHdfsRequest } from "./webhdfs-connection.ts";

/**
 * Transfers the data of CREATE, APPEND and OPEN: a NameNode is asked for the address, then the DataNode it names sends or receives the
 * bytes. Behind a gateway one address serves both.
 */
export class WebHdfsTransfer {
  readonly #connection: WebHdfsConnection;
  readonly #failover: Failover;
  readonly #gateway: boolean;

  constructor(connection: WebHdfsConnection, failover: Failover, gateway: boolean) {
    this.#connection = connection;
    this.#failover = failover;
    this.#gateway = gateway;
  }

  /** Sends content, opening it again for each try. */
  async write(
    repeatable: Repeatable,
    request: WebHdfsRequest,
    content: Content,
    onProgress?: (sentBytes: number) => void,
  ): Promise<void> {
    const excluded = new Set<string>();
    const body = (): ExchangeBody => ({
      stream: openContent(content),
      lengthBytes: contentLengthBytes(content),
      onProgress,
    });
    await this.#failover.run(repeatable, async (endpoint) => {
      if (this.#gateway) return this.#writeThroughGateway(endpoint, request, body);
      const url = await this.#connection.dataUrl(endpoint, withExcluded(request, excluded));
      await atDataNode(url, excluded, () => this.#connection.upload(url, request, body));
    });
  }

  /** The bytes that a request asks for. A transfer that breaks off or stalls and cannot be resumed fails the stream. */
  async read(request: WebHdfsRequest): Promise<Readable> {
    const answer = await this.#opened(request);
    const stream = Readable.from(this.#chunks(request, answer), { objectMode: false });
    // Also for a stream that nobody begins to read.
    return stream.on("close", () => answer.destroy());
  }

  async *#chunks(request: WebHdfsRequest, first: IncomingMessage): AsyncGenerator<Uint8Array> {
    for (let answer = first, receivedBytes = 0; ; ) {
      const beforeBytes = receivedBytes;
      const leftBytes = announcedBytes(answer);
      try {
        for await (const chunk of answer) {
          receivedBytes += chunk.byteLength;
          yield chunk;
        }
        return;
      } catch (error) {
        const failure = this.#brokenOff(error, request);
        const gotBytes = receivedBytes - beforeBytes;
        if (gotBytes === 0 || leftBytes === undefined) throw failure;
        answer = await this.#continued(request, receivedBytes, leftBytes - gotBytes, failure);
      }
    }
  }

  /** The rest of a file whose length has not changed. Each answer must bring some bytes, or no further one is requested. */
  async #continued(request: WebHdfsRequest, receivedBytes: number, leftBytes: number, failure: FileSystemError) {
    const offset = String(Number(request.parameters?.offset ?? 0) + receivedBytes);
    const rest = { ...request, parameters: { ...request.parameters, offset, length: String(leftBytes) } };
    const answer = await this.#opened(rest).catch(() => {
      throw failure;
    });
    if (announcedBytes(answer) === leftBytes) return answer;
    answer.destroy();
    throw failure;
  }

  #opened(request: WebHdfsRequest): Promise<IncomingMessage> {
    const excluded = new Set<string>();
    return this.#failover.run("idempotent", async (endpoint) => {
      if (this.#gateway) return this.#readThroughGateway(endpoint, request);
      const url = await this.#connection.dataUrl(endpoint, withExcluded(request, excluded));
      return atDataNode(url, excluded, () => this.#connection.send(url, request, { data: true, redirected: true }));
    });
  }

  /** HttpFS accepts the data at once (`data=true`); Knox first redirects to itself. */
  async #writeThroughGateway(endpoint: string, request: WebHdfsRequest, body: () => ExchangeBody): Promise<void> {
    const url = this.#connection.url(endpoint, { ...request, parameters: { ...request.parameters, data: "true" } });
    const asked = (): ExchangeBody => ({ ...body(), waitForContinue: true });
    const redirected = await this.#connection.upload(url, request, asked, { redirected: false });
    if (redirected !== undefined) await this.#connection.upload(redirected, request, body);
  }

  async #readThroughGateway(endpoint: string, request: WebHdfsRequest): Promise<IncomingMessage> {
    const url = this.#connection.url(endpoint, request);
    const answer = await this.#connection.send(url, request, { redirect: "give", data: true });
    const { location } = answer.headers;
    if (location === undefined) return answer;
    answer.resume();
    const target = this.#connection.redirectUrl(location, url, request);
    return this.#connection.send(target, request, { data: true, redirected: true });
  }

  #brokenOff(error: unknown, request: WebHdfsRequest): FileSystemError {
    const named = this.#connection.fileSystemError(toHttpError(error, "the DataNode", true), request);
    if (named instanceof FileSystemError) return named;
    const { operation, path } = request;
    return new FileSystemError(`${operation} ${path}: ${errorMessage(error)}`, {
      code: "CONNECTION_LOST",
      operation,
      path,
    });
  }
}

function announcedBytes({ headers }: IncomingMessage): number | undefined {
  const announced = headers["content-length"];
  return announced === undefined ? undefined : Number(announced);
}

/** Reports an unreachable DataNode to the NameNode, so that it is not chosen again. */
async function atDataNode<T>(url: URL, excluded: Set<string>, transfer: () => Promise<T>): Promise<T> {
  try {
    return await transfer();
  } catch (error) {
    if (!(error instanceof FileSystemError) || error.code !== "UNREACHABLE") throw error;
    excluded.add(url.hostname);
    const { operation, path, cause } = error;
    throw new FileSystemError(
      `${operation} ${path}: DataNode ${errorMessage(cause)}; this machine must reach the web address of every DataNode`,
      { code: "DATANODE_UNREACHABLE", operation, path, cause, retryable: true },
    );
  }
}

/** Adds the excluded hosts, named as by Hadoop's own client (WebHdfsFileSystem). */
function withExcluded(request: WebHdfsRequest, excluded: ReadonlySet<string>): WebHdfsRequest {
  if (excluded.size === 0) return request;
  return { ...request, parameters: { ...request.parameters, excludedatanodes: [...excluded].join(",") } };
}
