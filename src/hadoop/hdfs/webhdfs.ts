import { Readable } from "node:stream";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import { contentLengthBytes } from "./content.ts";
import { FileSystemError, hasCode } from "./errors.ts";
import { Failover, type FailoverOptions, isLostAnswer, lookFirst, outcomeUnknown } from "./failover.ts";
import type { BlockFacts, Content, CreateOptions, FileStatus, FileSystem, OpenOptions } from "./file-system.ts";
import type { FileUrl } from "./file-url.ts";
import { ifThere } from "./if-there.ts";
import { octal } from "./paths.ts";
import {
  parseBlocksAnswer,
  parseBooleanAnswer,
  parseListAnswer,
  parsePathAnswer,
  parseRenameAnswer,
  parseStatusAnswer,
} from "./webhdfs-answers.ts";
import { WebHdfsConnection, type WebHdfsRequest } from "./webhdfs-connection.ts";
import { WebHdfsTransfer } from "./webhdfs-transfer.ts";

/** Which HDFS, as whom, and with which timeouts. */
export interface WebHdfsOptions {
  /** The file system's URI: `hdfs://nameservice` or `hdfs://namenode:8020`. */
  readonly uri: string;
  /** The web addresses of the NameNodes (`http://nn1:9870`), or of the gateway; at least one. */
  readonly endpoints: readonly string[];
  /** See HttpService. */
  readonly tokenService?: string | undefined;
  /** HttpFS or Knox: one address for everything, including data. */
  readonly gateway?: boolean;
  /** The caller's identity; see simpleCredentials. */
  readonly credentials: CredentialsProvider;
  /** Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** How long a NameNode may take to answer; default 20 s. */
  readonly answerTimeoutMs?: number;
  /** For data: default 60 s without a byte in either direction. */
  readonly idleTimeoutMs?: number;
  readonly failover?: FailoverOptions;
}

/**
 * HDFS over WebHDFS (https://hadoop.apache.org/docs/r3.4.2/hadoop-project-dist/hadoop-hdfs/WebHDFS.html). Data travels directly to and from
 * the DataNodes, in two explicit steps: a client that followed the redirect automatically would send the data twice.
 *
 * An operation that may have been carried out although its answer was lost is not repeated blindly: RENAME, APPEND and an exclusive CREATE
 * first look at the files. A CREATE that overwrites is repeated from the start, because it produces the same file however often it runs.
 */
export class WebHdfs implements FileSystem {
  readonly uri: string;
  readonly #gateway: boolean;
  readonly #connection: WebHdfsConnection;
  readonly #failover: Failover;
  readonly #transfer: WebHdfsTransfer;

  constructor(options: WebHdfsOptions) {
    this.uri = options.uri.replace(/\/+$/, "");
    this.#gateway = options.gateway ?? false;
    this.#connection = new WebHdfsConnection({
      tokenService: options.tokenService,
      credentials: options.credentials,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      answerTimeoutMs: options.answerTimeoutMs ?? 20_000,
      idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
    });
    this.#failover = new Failover(options.endpoints, options.failover);
    this.#transfer = new WebHdfsTransfer(this.#connection, this.#failover, this.#gateway);
  }

  resourceUrl(path: string): FileUrl {
    const match = /^([a-z]+):\/\/([^:/]*)(?::(\d+))?$/.exec(this.uri);
    // A nameservice has no port; YARN writes -1 then (org.apache.hadoop.yarn.api.records.URL.fromPath).
    return {
      scheme: match?.[1] ?? "hdfs",
      host: match?.[2] ?? "",
      port: match?.[3] === undefined ? -1 : Number(match[3]),
      path,
    };
  }

  async homeDirectory(): Promise<string> {
    const request = { method: "GET", operation: "GETHOMEDIRECTORY", path: "/" } as const;
    return parsePathAnswer(await this.#json(request), request);
  }

  async stat(path: string): Promise<FileStatus> {
    return parseStatusAnswer(await this.#json({ method: "GET", operation: "GETFILESTATUS", path }), path);
  }

  /**
   * While a file is written, a NameNode's listing counts only complete blocks. The blocks tell whether it is being written; an HttpFS does
   * not report them.
   */
  async blockAt(path: string, offset = 0): Promise<BlockFacts> {
    if (this.#gateway) return { isBeingWritten: false, hosts: [] };
    const parameters = { offset: String(offset), length: "1" };
    const request = { method: "GET", operation: "GET_BLOCK_LOCATIONS", path, parameters } as const;
    return parseBlocksAnswer(await this.#json(request), request);
  }

  async list(path: string): Promise<FileStatus[]> {
    return parseListAnswer(await this.#json({ method: "GET", operation: "LISTSTATUS", path }), path);
  }

  async checkWritable(path: string): Promise<void> {
    await this.#json({ method: "GET", operation: "CHECKACCESS", path, parameters: { fsaction: "-wx" } });
  }

  async mkdirs(path: string, permission: number): Promise<void> {
    await this.#boolean({ method: "PUT", operation: "MKDIRS", path, parameters: { permission: octal(permission) } });
  }

  async delete(path: string, options: { readonly recursive?: boolean } = {}): Promise<boolean> {
    let lost = false;
    const request = {
      method: "DELETE",
      operation: "DELETE",
      path,
      parameters: { recursive: String(options.recursive ?? false) },
    } as const;
    const answer = await this.#failover.run("idempotent", async (endpoint) => {
      try {
        return await this.#connection.json(endpoint, request);
      } catch (error) {
        lost ||= isLostAnswer(error);
        throw error;
      }
    });
    return parseBooleanAnswer(answer, request) || lost;
  }

  async setPermission(path: string, permission: number): Promise<void> {
    await this.#json({
      method: "PUT",
      operation: "SETPERMISSION",
      path,
      parameters: { permission: octal(permission) },
    });
  }

  async setReplication(path: string, replicas: number): Promise<void> {
    const operation = "SETREPLICATION";
    const request = { method: "PUT", operation, path, parameters: { replication: String(replicas) } } as const;
    // The NameNode answers false instead of throwing.
    if (parseBooleanAnswer(await this.#json(request), request)) return;
    throw new FileSystemError(`${operation} ${path}: there is no such file`, {
      code: "FILE_NOT_FOUND",
      operation,
      path,
    });
  }

  async setTimes(
    path: string,
    times: { readonly modificationTimeMs?: number; readonly accessTimeMs?: number },
  ): Promise<void> {
    const parameters = {
      modificationtime: String(times.modificationTimeMs ?? -1),
      accesstime: String(times.accessTimeMs ?? -1),
    };
    await this.#json({ method: "PUT", operation: "SETTIMES", path, parameters });
  }

  async rename(from: string, to: string, options: { readonly overwrite?: boolean } = {}): Promise<boolean> {
    const overwrite = options.overwrite ?? false;
    if (this.#gateway && !overwrite && (await this.#find(to)) !== undefined) return false;
    // With an option set, the NameNode refuses what a plain RENAME would do: move into `to` if that is a directory.
    const request = {
      method: "PUT",
      operation: "RENAME",
      path: from,
      parameters: { destination: to, renameoptions: overwrite ? "OVERWRITE" : "NONE" },
    } as const;
    try {
      return await lookFirst(
        () =>
          this.#failover
            .run("look-first", (endpoint) => this.#connection.json(endpoint, request))
            .then(parseRenameAnswer),
        async () => ((await this.#find(from)) === undefined && (await this.#find(to)) !== undefined ? true : undefined),
      );
    } catch (error) {
      if (!overwrite && hasCode(error, "FILE_EXISTS")) return false;
      throw error;
    }
  }

  async create(path: string, content: Content, options: CreateOptions): Promise<void> {
    const overwrite = options.overwrite ?? false;
    // Checked before the data is sent: a DataNode would report it only after receiving the start of the data.
    if (!overwrite && (await this.#find(path)) !== undefined) {
      throw new FileSystemError(`CREATE ${path}: it exists already`, {
        code: "FILE_EXISTS",
        operation: "CREATE",
        path,
      });
    }
    const request: WebHdfsRequest = {
      method: "PUT",
      operation: "CREATE",
      path,
      parameters: { overwrite: String(overwrite), permission: octal(options.permission) },
      signal: options.signal,
    };
    if (overwrite) return this.#transfer.write("idempotent", request, content, options.onProgress);
    await lookFirst(
      async () => {
        await this.#transfer.write("look-first", request, content, options.onProgress);
        return true;
      },
      async () => {
        const found = await this.#find(path);
        if (found === undefined) return undefined;
        if (found.lengthBytes === contentLengthBytes(content)) return true;
        throw outcomeUnknown(request, `${found.lengthBytes} bytes of it are there`);
      },
    );
  }

  async append(path: string, content: Content, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const request: WebHdfsRequest = { method: "POST", operation: "APPEND", path, signal: options.signal };
    const before = (await this.stat(path)).lengthBytes;
    const added = contentLengthBytes(content);
    await lookFirst(
      async () => {
        await this.#transfer.write("look-first", request, content);
        return true;
      },
      async () => {
        const { lengthBytes } = await this.stat(path);
        if (lengthBytes === before) return undefined;
        if (added !== undefined && lengthBytes === before + added) return true;
        throw outcomeUnknown(request, `the file had ${before} bytes and has ${lengthBytes}`);
      },
    );
  }

  async open(path: string, options: OpenOptions = {}): Promise<Readable> {
    const { offset = 0, lengthBytes, signal } = options;
    if (lengthBytes === 0) return Readable.from([]);
    const request: WebHdfsRequest = {
      method: "GET",
      operation: "OPEN",
      path,
      parameters: {
        ...(offset > 0 ? { offset: String(offset) } : {}),
        ...(lengthBytes === undefined ? {} : { length: String(lengthBytes) }),
      },
      signal,
    };
    try {
      return await this.#transfer.read(request);
    } catch (error) {
      // The NameNode refuses an offset at or beyond the end with a plain IOException.
      if (offset > 0 && hasCode(error, "REMOTE") && (await this.stat(path)).lengthBytes <= offset)
        return Readable.from([]);
      throw error;
    }
  }

  close(): void {
    this.#connection.close();
  }

  #json(request: WebHdfsRequest): Promise<unknown> {
    return this.#failover.run("idempotent", (endpoint) => this.#connection.json(endpoint, request));
  }

  async #boolean(request: WebHdfsRequest): Promise<void> {
    if (!parseBooleanAnswer(await this.#json(request), request)) {
      throw new FileSystemError(`${request.operation} ${request.path}: the server answered that it did not`, {
        code: "REMOTE",
        operation: request.operation,
        path: request.path,
      });
    }
  }

  /** The status, or undefined when there is no such path. */
  #find(path: string): Promise<FileStatus | undefined> {
    return ifThere(this.stat(path));
  }
}
