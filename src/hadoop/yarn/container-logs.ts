import { errorMessage, HadoopError } from "../errors.ts";
import { HttpClient } from "../http/client.ts";
import { HttpError, readBytes } from "../http/exchange.ts";
import { isObject } from "../json.ts";
import type { CredentialsProvider } from "../security/credentials-provider.ts";
import type { ContainerId } from "./records.ts";

export type ContainerLogErrorCode =
  /** The node has no such file, or no longer has it: its logs may be aggregated by now. */
  "CONTAINER_LOG_NOT_FOUND" | "CONTAINER_LOG_REFUSED" | "NODE_UNREACHABLE" | "NODE_ANSWER_MALFORMED";

/** A log that a node's web server did not return. */
export class ContainerLogError extends HadoopError {
  override readonly name = "ContainerLogError";
  declare readonly code: ContainerLogErrorCode;
}

export interface ContainerLogFile {
  readonly name: string;
  readonly lengthBytes: number;
}

/** A piece of a log, and the log's length when it was read. */
export interface ContainerLogPiece {
  /** Where the piece begins in the log. */
  readonly offset: number;
  readonly bytes: Buffer;
  readonly logLengthBytes: number;
}

/** The caller's identity, and timeouts. */
export interface ContainerLogsOptions {
  /** The caller's identity; see simpleCredentials. */
  readonly credentials: CredentialsProvider;
  /** Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** Default 30 s. */
  readonly idleTimeoutMs?: number;
}

/** A log can grow between two requests, so each asks for this much more. */
const slackBytes = 64 * 1024;
/** The limit of a listing, which is small. */
const maximumListingBytes = 4 * 1024 * 1024;
/** What surrounds the content: a header of five lines before it, a line of asterisks after it. */
const surroundBytes = 64 * 1024;
/** The last line of LogToolUtils.formatContainerLogHeader. */
const contentsMark = "LogContents:\n";

/**
 * Logs of containers on the nodes that run or ran them, until they are aggregated. Uses the NodeManager's web services
 * (org.apache.hadoop.yarn.server.nodemanager.webapp.NMWebServices), so the node's web address has to be reachable.
 */
export class ContainerLogs {
  readonly #options: ContainerLogsOptions;
  readonly #http: HttpClient;

  constructor(options: ContainerLogsOptions) {
    this.#options = options;
    const { credentials, connectTimeoutMs = 5000 } = options;
    this.#http = new HttpClient({ credentials, connectTimeoutMs });
  }

  /**
   * The files of a container's log folder.
   * @param nodeHttpAddress `host:port`, as YARN's records have it
   */
  async list(nodeHttpAddress: string, containerId: ContainerId): Promise<ContainerLogFile[]> {
    const text = await this.#get(nodeHttpAddress, containerId, "", {}, maximumListingBytes);
    let document: unknown;
    try {
      document = JSON.parse(text.toString("utf8"));
    } catch (error) {
      throw malformed(nodeHttpAddress, errorMessage(error));
    }
    return localFiles(document, nodeHttpAddress);
  }

  /**
   * A piece of one log, from an offset. Empty when there is nothing new.
   * @param maximumBytes of the answer; ask again for the rest
   */
  async read(
    nodeHttpAddress: string,
    containerId: ContainerId,
    name: string,
    offset: number,
    maximumBytes: number,
  ): Promise<ContainerLogPiece> {
    const get = (size: number) => this.#piece(nodeHttpAddress, containerId, name, size);
    // The service returns the first or the last n bytes: ask for whichever is less.
    if (offset <= maximumBytes) return cut(await get(offset + maximumBytes), offset, maximumBytes);
    let { logLengthBytes } = await get(0);
    for (;;) {
      const fromEnd = logLengthBytes - offset;
      if (fromEnd <= 0) return { offset, bytes: Buffer.alloc(0), logLengthBytes };
      const piece = await get(fromEnd < offset + maximumBytes ? -(fromEnd + slackBytes) : offset + maximumBytes);
      if (piece.offset <= offset) return cut(piece, offset, maximumBytes);
      // The log has meanwhile grown by more than the slack.
      logLengthBytes = piece.logLengthBytes;
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#http.close();
  }

  /** @param size the first n bytes; −n the last n */
  async #piece(node: string, containerId: ContainerId, name: string, size: number): Promise<ContainerLogPiece> {
    const text = await this.#get(
      node,
      containerId,
      `/${encodeURIComponent(name)}`,
      { size: String(size) },
      Math.abs(size) + surroundBytes,
    );
    const start = text.indexOf(contentsMark);
    const header = text.subarray(0, Math.max(0, start)).toString("utf8");
    const length = /^LogLength:(\d+)$/m.exec(header)?.[1];
    if (start < 0 || length === undefined) throw malformed(node, "a log without its header");
    const logLengthBytes = Number(length);
    const given = Math.min(Math.abs(size), logLengthBytes);
    const contents = start + contentsMark.length;
    const bytes = text.subarray(contents, contents + given);
    if (bytes.length < given) throw malformed(node, `${bytes.length} bytes of ${given}`);
    return { offset: size < 0 ? logLengthBytes - given : 0, bytes, logLengthBytes };
  }

  async #get(
    node: string,
    containerId: ContainerId,
    rest: string,
    parameters: Readonly<Record<string, string>>,
    maximumBytes: number,
  ): Promise<Buffer> {
    const query = new URLSearchParams(parameters);
    const url = new URL(`http://${node}/ws/v1/node/containers/${containerId}/logs${rest}?${query}`);
    try {
      const answer = await this.#http.send(url, {
        method: "GET",
        idleTimeoutMs: this.#options.idleTimeoutMs ?? 30_000,
        mayBeOpen: true,
        headers: { accept: rest === "" ? "application/json" : "text/plain" },
      });
      const text = await readBytes(answer, url.host, maximumBytes);
      if (answer.statusCode === 200) return text;
      throw refusal(answer.statusCode ?? 0, text.toString("utf8"), node, containerId);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new ContainerLogError(error.message, {
        code: "NODE_UNREACHABLE",
        cause: error,
        retryable: error.retryable,
      });
    }
  }
}

/** The requested part of the piece that was received. */
function cut(piece: ContainerLogPiece, offset: number, maximumBytes: number): ContainerLogPiece {
  const from = offset - piece.offset;
  return { offset, bytes: piece.bytes.subarray(from, from + maximumBytes), logLengthBytes: piece.logLengthBytes };
}

/** One object, or a list of them when part of the logs is already aggregated; that part is read elsewhere. */
function localFiles(document: unknown, node: string): ContainerLogFile[] {
  const infos = isObject(document) ? [document.containerLogsInfo].flat() : [];
  const local = infos.find((info) => isObject(info) && info.logAggregationType === "LOCAL");
  if (!isObject(local)) throw malformed(node, "no list of local logs");
  return [local.containerLogInfo ?? []].flat().map((file) => {
    const lengthBytes = isObject(file) ? Number(file.fileSize) : Number.NaN;
    if (!isObject(file) || typeof file.fileName !== "string" || !Number.isSafeInteger(lengthBytes)) {
      throw malformed(node, "a list of logs without names or sizes");
    }
    return { name: file.fileName, lengthBytes };
  });
}

/** A node that has forgotten the container refuses, or redirects to a log server. */
function refusal(status: number, text: string, node: string, containerId: ContainerId): ContainerLogError {
  const gone =
    status === 404 || (status >= 300 && status < 400) || /Cannot find this log|Unknown container|no such/i.test(text);
  const [firstLine = ""] = text.split("\n");
  return new ContainerLogError(`${node} has no log of ${containerId} (HTTP ${status}): ${firstLine.slice(0, 300)}`, {
    code: gone ? "CONTAINER_LOG_NOT_FOUND" : "CONTAINER_LOG_REFUSED",
  });
}

function malformed(node: string, problem: string): ContainerLogError {
  return new ContainerLogError(`${node} gave ${problem}`, { code: "NODE_ANSWER_MALFORMED" });
}
