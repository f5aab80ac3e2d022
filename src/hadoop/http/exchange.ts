import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { eachAddress } from "../connecting.ts";
import { errorCode, errorMessage, HadoopError } from "../errors.ts";

/** How an exchange failed, distinguished by whether the server may have acted on the request. */
export type HttpErrorCode =
  /** No connection was made, so nothing was sent. */
  | "HTTP_UNREACHABLE"
  /** The server's certificate has no trusted signer, belongs to another host or has expired: nothing was sent. */
  | "HTTP_UNTRUSTED"
  /** The connection ended before the answer did. */
  | "HTTP_CONNECTION_LOST"
  /** Nothing moved for the idle timeout. */
  | "HTTP_TIMEOUT"
  /** The body to be sent could not be read. */
  | "HTTP_BODY_FAILED"
  /** The body to be sent was longer or shorter than announced. */
  | "HTTP_BODY_CHANGED"
  /** The answer is not HTTP, or larger than allowed. */
  | "HTTP_PROTOCOL";

/** A failed HTTP exchange; an answer of any status counts as success here. */
export class HttpError extends HadoopError {
  override readonly name = "HttpError";
  declare readonly code: HttpErrorCode;
}

export interface ExchangeBody {
  readonly stream: Readable;
  readonly lengthBytes?: number | undefined;
  readonly onProgress?: ((sentBytes: number) => void) | undefined;
  /** Sends the headers first, and the body only when the server asks for it or stays silent; an earlier answer is the final one. */
  readonly waitForContinue?: boolean;
}

export interface ExchangeOptions {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ExchangeBody;
  /** A pool of kept connections; without it the connection is used once. */
  readonly agent?: http.Agent;
  readonly connectTimeoutMs: number;
  /** How long nothing may move in either direction while we wait for the server. */
  readonly idleTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The minimum rate once an answer has begun, while we wait for more of it: a slower server would hold us up for ever without ever being
 * silent.
 */
export const LEAST_BYTES_PER_SECOND = 100;

/** Servers that do not know `Expect: 100-continue` stay silent; after this time the body is sent all the same. */
const continueWaitMs = 1000;

/**
 * Makes one HTTP request over node:http(s), never through a proxy and never following a redirect.
 *
 * @returns the answer as soon as its headers have arrived, whatever its status. Read its body to the end or destroy it. A body that breaks
 * off or stalls fails the stream with an HttpError.
 */
export function exchange(url: URL, options: ExchangeOptions): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const where = url.host;
    let connected = false;
    let answer: http.IncomingMessage | undefined;
    let bodyError: HttpError | undefined;
    const { body } = options;

    const request = (url.protocol === "https:" ? https : http).request(url, {
      ...eachAddress,
      method: options.method,
      headers: {
        ...options.headers,
        ...(body?.lengthBytes === undefined ? {} : { "content-length": String(body.lengthBytes) }),
        ...(body?.waitForContinue ? { expect: "100-continue" } : {}),
      },
      agent: options.agent ?? false,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });

    const connectTimer = setTimeout(() => {
      request.destroy(unreachable(where, `no connection within ${options.connectTimeoutMs / 1000} s`));
    }, options.connectTimeoutMs);
    request.on("socket", (socket) => {
      const established = () => {
        connected = true;
        clearTimeout(connectTimer);
        socket.removeListener("data", distrust);
        // Set now, because a kept connection still has the agent's shorter timeout.
        request.setTimeout(options.idleTimeoutMs);
      };
      if (socket.connecting) socket.once(url.protocol === "https:" ? "secureConnect" : "connect", established);
      else established();
    });

    const late = (did: string) => {
      const words = `${where} ${did} ${options.idleTimeoutMs / 1000} s`;
      (answer ?? request).destroy(new HttpError(words, { code: "HTTP_TIMEOUT", retryable: true }));
    };
    // Data that waits for our own reader does not count as the server's silence.
    const isOurs = () => answer !== undefined && answer.readableLength > 0;
    request.on("timeout", () => {
      if (isOurs()) request.socket?.setTimeout(options.idleTimeoutMs);
      else late("was silent for");
    });
    request.once("finish", () => {
      const before = request.socket?.bytesRead ?? 0;
      let seen: number | undefined;
      const timer = setInterval(() => {
        const now = request.socket?.bytesRead ?? 0;
        const isSlow = seen !== undefined && now - seen < (LEAST_BYTES_PER_SECOND * options.idleTimeoutMs) / 1000;
        if (isSlow && !isOurs() && answer?.complete !== true) late(`sent ${now - (seen ?? 0)} bytes in`);
        seen = isOurs() || now === before ? undefined : now;
      }, options.idleTimeoutMs).unref();
      request.once("close", () => clearInterval(timer));
    });

    request.on("error", (error) => {
      clearTimeout(connectTimer);
      body?.stream.destroy();
      reject(bodyError ?? toHttpError(error, where, connected));
    });
    request.on("response", (response) => {
      answer = response;
      // Without a listener, an answer that breaks off before anybody reads it would crash the process.
      response.on("error", () => undefined);
      // An answer before the body's end is a refusal; the rest of the body is useless.
      if (body !== undefined && !request.writableFinished) {
        body.stream.unpipe(request).destroy();
        response.once("close", () => request.destroy());
      }
      resolve(response);
    });

    if (body === undefined) {
      request.end();
    } else {
      sendBody(request, body, (error) => {
        if (answer !== undefined || bodyError !== undefined) return;
        bodyError = error;
        request.destroy(error);
      });
    }
  });
}

/** Sends the body, now or when the server is ready, and checks that it has the announced length. */
function sendBody(request: http.ClientRequest, body: ExchangeBody, fail: (error: HttpError) => void): void {
  const { stream, lengthBytes } = body;
  let sentBytes = 0;
  let started = false;

  const start = () => {
    if (started || stream.destroyed || request.destroyed) return;
    started = true;
    stream.on("data", (chunk: Uint8Array) => {
      sentBytes += chunk.byteLength;
      body.onProgress?.(sentBytes);
      if (lengthBytes !== undefined && sentBytes > lengthBytes) fail(lengthError(sentBytes, lengthBytes));
    });
    stream.once("end", () => {
      if (lengthBytes !== undefined && sentBytes < lengthBytes) fail(lengthError(sentBytes, lengthBytes));
    });
    stream.once("close", () => {
      if (!stream.readableEnded)
        fail(new HttpError("the data to send was closed before its end", { code: "HTTP_BODY_FAILED" }));
    });
    // Not `pipeline`: when an answer ends the body early, that would end the request, and with it the answer, before it is read.
    stream.pipe(request);
  };
  stream.once("error", (error) => {
    fail(
      new HttpError(`the data to send cannot be read: ${errorMessage(error)}`, {
        code: "HTTP_BODY_FAILED",
        cause: error,
      }),
    );
  });

  if (!body.waitForContinue) {
    start();
    return;
  }
  request.flushHeaders();
  const timer = setTimeout(start, continueWaitMs);
  request.once("continue", start);
  request.once("close", () => clearTimeout(timer));
}

function lengthError(sentBytes: number, announcedBytes: number): HttpError {
  return new HttpError(
    `the data to send has ${sentBytes} bytes or more, but ${announcedBytes} were announced: it changed while it was read`,
    { code: "HTTP_BODY_CHANGED" },
  );
}

function unreachable(where: string, why: string, cause?: unknown): HttpError {
  return new HttpError(`${where} cannot be reached: ${why}`, { code: "HTTP_UNREACHABLE", retryable: true, cause });
}

/** OpenSSL's X509_V_ERR_… codes, without that prefix, and Node's own for a host name (node:tls, `authorizationError`). */
const certificateCodes = /CERT|VERIFY_LEAF|ISSUER/;

/** Classifies a failure of node:http by what the server may have seen. An abort by the caller's signal stays as it is. */
export function toHttpError(error: unknown, where: string, connected: boolean): unknown {
  if (error instanceof HttpError || errorCode(error) === "ABORT_ERR") return error;
  const code = errorCode(error);
  if (typeof code === "string" && certificateCodes.test(code)) {
    return new HttpError(`${where} shows a certificate that is not trusted: ${errorMessage(error)} (${code})`, {
      code: "HTTP_UNTRUSTED",
      cause: error,
    });
  }
  if (!connected) return unreachable(where, errorMessage(error), error);
  if (typeof code === "string" && code.startsWith("HPE_")) {
    return new HttpError(`${where} does not speak HTTP: ${errorMessage(error)}`, {
      code: "HTTP_PROTOCOL",
      cause: error,
    });
  }
  return new HttpError(`the connection to ${where} was lost: ${errorMessage(error)}`, {
    code: "HTTP_CONNECTION_LOST",
    cause: error,
    retryable: true,
  });
}

/** The whole body. @throws HttpError when it breaks off, stalls or is larger than `maximumBytes` */
export async function readBytes(answer: http.IncomingMessage, where: string, maximumBytes: number): Promise<Buffer> {
  const bytes = await readStart(answer, where, maximumBytes + 1);
  if (bytes.length > maximumBytes) {
    throw new HttpError(`${where} answered with more than ${maximumBytes} bytes`, { code: "HTTP_PROTOCOL" });
  }
  return bytes;
}

/** The first bytes of a body, and reads no more. @throws HttpError when it breaks off or stalls before */
export async function readStart(answer: http.IncomingMessage, where: string, maximumBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let lengthBytes = 0;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk);
      lengthBytes += chunk.length;
      if (lengthBytes >= maximumBytes) break;
    }
  } catch (error) {
    throw toHttpError(error, where, true);
  }
  return Buffer.concat(chunks).subarray(0, maximumBytes);
}

/** The whole body as text. Throws as readBytes. */
export async function readText(answer: http.IncomingMessage, where: string, maximumBytes: number): Promise<string> {
  return (await readBytes(answer, where, maximumBytes)).toString("utf8");
}

/** How many characters of a server's text a message quotes. */
const quotedCharacters = 200;

/** The start of a server's text, for a message: without delegation tokens, which WebHDFS writes in addresses and in its answers. */
export function quoted(text: string): string {
  return text
    .replace(/\?[^\s"'<>]*/g, "?…")
    .replace(/("urlString"\s*:\s*")[^"]*/g, "$1…")
    .slice(0, quotedCharacters);
}

/**
 * A pool of kept connections. It closes idle ones before the usual server does, because a server that closes one first looks like a lost
 * request.
 * @param trusted PEM certificates that may sign the servers'; absent: those that Node trusts
 */
export function keepAliveAgent(protocol: "http:" | "https:", trusted?: string): http.Agent {
  const options = { keepAlive: true, timeout: 4000, scheduling: "lifo" } as const;
  const agent =
    protocol === "https:"
      ? new https.Agent({ ...options, ...(trusted === undefined ? {} : { ca: trusted }) })
      : new http.Agent(options);
  return agent.on("free", (socket) => socket.on("data", distrust));
}

/** Bytes that arrive while no request is open must not be taken for the answer to the next one (RFC 9112 §9.2). */
function distrust(this: Socket): void {
  this.destroy();
}
