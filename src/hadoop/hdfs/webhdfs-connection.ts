import type { Agent, IncomingMessage } from "node:http";
import { errorMessage } from "../errors.ts";
import {
  type ExchangeBody,
  exchange,
  HttpError,
  type HttpErrorCode,
  keepAliveAgent,
  readText,
} from "../http/exchange.ts";
import { FileSystemError, type FileSystemErrorCode } from "./errors.ts";
import { errorOfRemoteException, remoteExceptionIn } from "./remote-exception.ts";
import { operationUrl } from "./webhdfs-paths.ts";

/** Largest JSON answer read: the listing of a directory of about a million files. */
const maximumJsonBytes = 512 * 1024 * 1024;

export interface WebHdfsRequest {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly operation: string;
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface ConnectionOptions {
  /** Who we are; see `identityParameters`. */
  readonly user: string;
  readonly connectTimeoutMs: number;
  /** For answers about names. */
  readonly answerTimeoutMs: number;
  /** For data, where a DataNode's disks and pipelines take their time. */
  readonly idleTimeoutMs: number;
}

/** What a request carries to say who asks: on a cluster without Kerberos the user's name, which it believes. */
function identityParameters(options: ConnectionOptions): Record<string, string> {
  return { "user.name": options.user };
}

/** Single WebHDFS requests to one server, failures as FileSystemErrors; what to do about those is decided elsewhere. */
export class WebHdfsConnection {
  readonly #options: ConnectionOptions;
  readonly #agents = new Map<string, Agent>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** The address of a request on this server. */
  url(base: string, request: WebHdfsRequest): URL {
    return operationUrl(base, request.path, {
      op: request.operation,
      ...identityParameters(this.#options),
      ...request.parameters,
    });
  }

  /** A request with a JSON answer, or none (undefined). */
  async json(base: string, request: WebHdfsRequest): Promise<unknown> {
    const url = this.url(base, request);
    const answer = await this.send(url, request);
    return this.#parse(await this.#text(answer, url, request), url, request);
  }

  /**
   * Where the data of CREATE, APPEND and OPEN goes to or comes from. Servers of Hadoop 2.8 and before ignore `noredirect` and
   * answer 307.
   */
  async dataUrl(base: string, request: WebHdfsRequest): Promise<URL> {
    const url = this.url(base, { ...request, parameters: { ...request.parameters, noredirect: "true" } });
    const answer = await this.send(url, request, { redirect: "give" });
    const header = answer.headers.location;
    const text = await this.#text(answer, url, request);
    const document = header === undefined ? this.#parse(text, url, request) : { Location: header };
    const location =
      typeof document === "object" && document !== null && "Location" in document ? document.Location : undefined;
    if (typeof location !== "string" || !URL.canParse(location)) {
      throw this.#protocolError(url, request, `names no place for the data: ${text.slice(0, 200)}`);
    }
    return new URL(location);
  }

  /** Sends the data itself; the answer's body is of no interest. */
  async upload(url: URL, request: WebHdfsRequest, body: ExchangeBody): Promise<URL | undefined> {
    const answer = await this.send(url, request, { body, redirect: "give" });
    const location = answer.headers.location;
    await this.#text(answer, url, request);
    return isRedirect(answer) && location !== undefined ? new URL(location, url) : undefined;
  }

  /** One exchange; a status that is no success becomes a FileSystemError. */
  async send(
    url: URL,
    request: WebHdfsRequest,
    more: { readonly body?: ExchangeBody; readonly redirect?: "give"; readonly data?: boolean } = {},
  ): Promise<IncomingMessage> {
    const { answerTimeoutMs, idleTimeoutMs } = this.#options;
    let answer: IncomingMessage;
    try {
      answer = await exchange(url, {
        method: request.method,
        agent: this.#agent(url),
        connectTimeoutMs: this.#options.connectTimeoutMs,
        idleTimeoutMs: more.data === true || more.body !== undefined ? idleTimeoutMs : answerTimeoutMs,
        signal: request.signal,
        headers: more.body === undefined ? {} : { "content-type": "application/octet-stream" },
        ...(more.body === undefined ? {} : { body: more.body }),
      });
    } catch (error) {
      throw this.fileSystemError(error, request);
    }
    const status = answer.statusCode ?? 0;
    if ((status >= 200 && status < 300) || (more.redirect === "give" && isRedirect(answer))) return answer;
    throw this.#refusal(status, await this.#text(answer, url, request), url, request);
  }

  /** Any failure of an exchange in the terms of a file system. */
  fileSystemError(error: unknown, request: WebHdfsRequest): unknown {
    if (!(error instanceof HttpError)) return error;
    const fix = error.code === "HTTP_UNREACHABLE" ? unreachableFix : "";
    return new FileSystemError(`${request.operation} ${request.path}: ${error.message}${fix}`, {
      code: codesOfHttpErrors[error.code],
      operation: request.operation,
      path: request.path,
      cause: error,
      retryable: error.retryable,
    });
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #text(answer: IncomingMessage, url: URL, request: WebHdfsRequest): Promise<string> {
    try {
      return await readText(answer, url.host, maximumJsonBytes);
    } catch (error) {
      throw this.fileSystemError(error, request);
    }
  }

  #parse(text: string, url: URL, request: WebHdfsRequest): unknown {
    if (text.trim() === "") return undefined;
    try {
      return JSON.parse(text);
    } catch (error) {
      throw this.#protocolError(
        url,
        request,
        `answered something that is not JSON (${errorMessage(error)}): ${text.slice(0, 200)}`,
      );
    }
  }

  #refusal(status: number, text: string, url: URL, request: WebHdfsRequest): FileSystemError {
    let remote: ReturnType<typeof remoteExceptionIn>;
    try {
      remote = remoteExceptionIn(JSON.parse(text));
    } catch {
      remote = undefined;
    }
    if (remote !== undefined) return errorOfRemoteException(remote, request.operation, request.path);
    const options = { operation: request.operation, path: request.path };
    const said = `${request.operation} ${request.path}: ${url.host} answered HTTP ${status}`;
    if (status === 401) {
      return new FileSystemError(`${said}: it wants a sign-in that this client does not have`, {
        ...options,
        code: "AUTHENTICATION_FAILED",
      });
    }
    const passing = passingStatus[status];
    if (passing !== undefined) return new FileSystemError(said, { ...options, code: passing, retryable: true });
    return new FileSystemError(
      `${said} and no WebHDFS error; is ${url.origin} a NameNode's web address with WebHDFS on?`,
      {
        ...options,
        code: "PROTOCOL",
      },
    );
  }

  #protocolError(url: URL, request: WebHdfsRequest, problem: string): FileSystemError {
    return new FileSystemError(`${request.operation} ${request.path}: ${url.host} ${problem}`, {
      code: "PROTOCOL",
      operation: request.operation,
      path: request.path,
    });
  }

  #agent(url: URL): Agent {
    let agent = this.#agents.get(url.protocol);
    if (agent === undefined) {
      agent = keepAliveAgent(url.protocol === "https:" ? "https:" : "http:");
      this.#agents.set(url.protocol, agent);
    }
    return agent;
  }
}

const unreachableFix =
  "; is HDFS running, and is this the web address of its NameNode (dfs.namenode.http-address) or gateway?";

/** What proxies and starting servers say. A proxy that gave up waiting does not know whether the request was carried out. */
const passingStatus: Readonly<Record<number, FileSystemErrorCode>> = {
  502: "CONNECTION_LOST",
  503: "NOT_READY",
  504: "TIMEOUT",
};

const codesOfHttpErrors: Readonly<Record<HttpErrorCode, FileSystemErrorCode>> = {
  HTTP_UNREACHABLE: "UNREACHABLE",
  HTTP_CONNECTION_LOST: "CONNECTION_LOST",
  HTTP_TIMEOUT: "TIMEOUT",
  HTTP_BODY_FAILED: "INVALID_REQUEST",
  HTTP_PROTOCOL: "PROTOCOL",
};

function isRedirect(answer: IncomingMessage): boolean {
  const status = answer.statusCode ?? 0;
  return status === 307 || status === 308 || status === 302;
}
