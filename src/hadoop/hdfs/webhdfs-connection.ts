import type { IncomingMessage } from "node:http";
import { HttpClient, type HttpRequest } from "../http/client.ts";
import { type ExchangeBody, HttpError, type HttpErrorCode, quoted, readStart, readText } from "../http/exchange.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import { AuthenticationError } from "../security/errors.ts";
import { FileSystemError, type FileSystemErrorCode, hasCode } from "./errors.ts";
import { operationUrl } from "./paths.ts";
import { errorOfRemoteException, remoteExceptionIn } from "./remote-exception.ts";

/** The largest JSON answer that is read: the listing of a directory with about a million files. */
export const maximumJsonBytes = 512 * 1024 * 1024;
/** How much is read of a refusal, of a redirect, and of the answer to an upload. */
export const maximumOtherBytes = 64 * 1024;

/** WebHDFS operations; each has a test with lost answers. */
export type WebHdfsOperation =
  | "GETHOMEDIRECTORY"
  | "GETDELEGATIONTOKEN"
  | "GETFILESTATUS"
  | "LISTSTATUS"
  | "GET_BLOCK_LOCATIONS"
  | "CHECKACCESS"
  | "OPEN"
  | "CREATE"
  | "APPEND"
  | "MKDIRS"
  | "RENAME"
  | "DELETE"
  | "SETPERMISSION"
  | "SETREPLICATION"
  | "SETTIMES";

export interface WebHdfsRequest {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly operation: WebHdfsOperation;
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface ConnectionOptions {
  /** See HttpService. */
  readonly tokenService: string | undefined;
  readonly credentials: CredentialsProvider;
  readonly connectTimeoutMs: number;
  /** For metadata operations. */
  readonly answerTimeoutMs: number;
  /** For file data: a DataNode's disks and pipelines are slow. */
  readonly idleTimeoutMs: number;
}

/** How one exchange differs from the default. */
interface SendOptions {
  readonly body?: () => ExchangeBody;
  /** Returns a redirect to the caller; otherwise a redirect is a refusal. */
  readonly redirect?: "give";
  /** The answer is file content. */
  readonly data?: boolean;
  /** The address comes from a redirect. */
  readonly redirected?: boolean;
}

/** Sends single WebHDFS requests to one server and turns failures into FileSystemErrors. Retries are decided elsewhere. */
export class WebHdfsConnection {
  readonly #options: ConnectionOptions;
  readonly #http: HttpClient;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#http = new HttpClient(options);
  }

  /** The address of a request on this server. */
  url(base: string, request: WebHdfsRequest): URL {
    return operationUrl(base, request.path, { op: request.operation, ...request.parameters });
  }

  /** A request with a JSON answer, or none (undefined). */
  async json(base: string, request: WebHdfsRequest): Promise<unknown> {
    const url = this.url(base, request);
    const answer = await this.send(url, request);
    return this.#parse(await this.#text(answer, url, request, maximumJsonBytes), url, request);
  }

  /**
   * The address to which CREATE and APPEND send data, or from which OPEN reads it. Servers of Hadoop 2.8 and before ignore `noredirect` and
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
      throw this.#protocolError(url, request, `names no place for the data: ${quoted(text)}`);
    }
    return this.redirectUrl(location, url, request);
  }

  /**
   * The target of a server's redirect: only http(s), and never from https to http, where others could read data and tokens.
   * @param location absolute, or relative to the requested address
   */
  redirectUrl(location: string, asked: URL, request: WebHdfsRequest): URL {
    const target = URL.canParse(location, asked.href) ? new URL(location, asked) : undefined;
    if (target?.protocol === "https:" || (target?.protocol === "http:" && asked.protocol === "http:")) return target;
    const fix = target?.protocol === "http:" ? "; data goes over https too with dfs.http.policy=HTTPS_ONLY" : "";
    throw this.#protocolError(asked, request, `sends the data from ${asked.protocol}// to ${quoted(location)}${fix}`);
  }

  /** Sends the data itself; the answer's body is ignored. */
  async upload(
    url: URL,
    request: WebHdfsRequest,
    body: () => ExchangeBody,
    { redirected = true }: { readonly redirected?: boolean } = {},
  ): Promise<URL | undefined> {
    const answer = await this.send(url, request, { body, redirect: "give", redirected });
    const location = answer.headers.location;
    await this.#text(answer, url, request);
    return isRedirect(answer) && location !== undefined ? this.redirectUrl(location, url, request) : undefined;
  }

  /**
   * One exchange; a status other than success becomes a FileSystemError. If the server rejects our credentials and newer ones are
   * available, it is shown those once.
   */
  async send(url: URL, request: WebHdfsRequest, more: SendOptions = {}): Promise<IncomingMessage> {
    const sent = this.#httpRequest(request, more);
    try {
      return await this.#sendOnce(url, request, sent, more);
    } catch (error) {
      const refused = hasCode(error, "AUTHENTICATION_FAILED") && !(await this.#http.renewed(url, sent, error));
      if (refused || !hasCode(error, "AUTHENTICATION_FAILED")) throw error;
      return await this.#sendOnce(url, request, sent, more);
    }
  }

  #httpRequest({ method, signal }: WebHdfsRequest, { body, data, redirected }: SendOptions): HttpRequest {
    const { answerTimeoutMs, idleTimeoutMs, tokenService } = this.#options;
    return {
      method,
      signal,
      body,
      tokenService,
      redirected,
      idleTimeoutMs: data === true || body !== undefined ? idleTimeoutMs : answerTimeoutMs,
      headers: body === undefined ? {} : { "content-type": "application/octet-stream" },
    };
  }

  async #sendOnce(url: URL, request: WebHdfsRequest, sent: HttpRequest, more: SendOptions): Promise<IncomingMessage> {
    let answer: IncomingMessage;
    try {
      answer = await this.#http.send(url, sent);
    } catch (error) {
      throw this.fileSystemError(error, request);
    }
    const status = answer.statusCode ?? 0;
    // Node itself handles statuses below 200.
    if (status < 300 || (more.redirect === "give" && isRedirect(answer))) return answer;
    throw this.#refusal(status, await this.#text(answer, url, request), url, request);
  }

  /** Turns any failure of an exchange into a file system error. */
  fileSystemError(error: unknown, request: WebHdfsRequest): unknown {
    const { operation, path } = request;
    if (error instanceof AuthenticationError) {
      const message = `${operation} ${path}: ${error.message}`;
      return new FileSystemError(message, { code: "AUTHENTICATION_FAILED", operation, path, cause: error });
    }
    if (!(error instanceof HttpError)) return error;
    const fix = error.code === "HTTP_UNREACHABLE" ? unreachableFix : "";
    return new FileSystemError(`${operation} ${path}: ${error.message}${fix}`, {
      code: codesOfHttpErrors[error.code],
      operation,
      path,
      cause: error,
      retryable: error.retryable,
    });
  }

  close(): void {
    this.#http.close();
  }

  /** @param wholeBytes reads the whole body, up to this size; otherwise its start is enough */
  async #text(answer: IncomingMessage, url: URL, request: WebHdfsRequest, wholeBytes?: number): Promise<string> {
    try {
      if (wholeBytes !== undefined) return await readText(answer, url.host, wholeBytes);
      return (await readStart(answer, url.host, maximumOtherBytes)).toString("utf8");
    } catch (error) {
      throw this.fileSystemError(error, request);
    }
  }

  #parse(text: string, url: URL, request: WebHdfsRequest): unknown {
    if (text.trim() === "") return undefined;
    try {
      return JSON.parse(text);
    } catch {
      // The parser's own complaint would quote the text.
      throw this.#protocolError(url, request, `answered something that is not JSON: ${quoted(text)}`);
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
      `${said} and no WebHDFS error; is ${url.origin} a NameNode's web address (dfs.namenode.http-address), and WebHDFS on there (dfs.webhdfs.enabled)?`,
      { ...options, code: "NO_WEBHDFS" },
    );
  }

  #protocolError(url: URL, request: WebHdfsRequest, problem: string): FileSystemError {
    return new FileSystemError(`${request.operation} ${request.path}: ${url.host} ${problem}`, {
      code: "PROTOCOL",
      operation: request.operation,
      path: request.path,
    });
  }
}

const unreachableFix =
  "; is HDFS running, and is this the web address of its NameNode (dfs.namenode.http-address) or gateway?";

/** Answers of proxies and of starting servers. A proxy that timed out does not know whether the request was carried out. */
const passingStatus: Readonly<Record<number, FileSystemErrorCode>> = {
  502: "CONNECTION_LOST",
  503: "NOT_READY",
  504: "TIMEOUT",
};

const codesOfHttpErrors: Readonly<Record<HttpErrorCode, FileSystemErrorCode>> = {
  HTTP_UNREACHABLE: "UNREACHABLE",
  HTTP_UNTRUSTED: "UNTRUSTED",
  HTTP_CONNECTION_LOST: "CONNECTION_LOST",
  HTTP_TIMEOUT: "TIMEOUT",
  HTTP_BODY_FAILED: "INVALID_REQUEST",
  HTTP_BODY_CHANGED: "FILE_CHANGED",
  HTTP_PROTOCOL: "PROTOCOL",
};

function isRedirect(answer: IncomingMessage): boolean {
  const status = answer.statusCode ?? 0;
  return status === 307 || status === 308 || status === 302;
}
