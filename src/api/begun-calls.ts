import { EventEmitter } from "node:events";
import { constants, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { type Server, status } from "@grpc/grpc-js";
import type { Proofs } from "./connection-guard.ts";

/** HTTP/2's overhead per header, beyond its name and value (RFC 9113 §6.5.2). */
const HEADER_BYTES = 32;
/** A caller that is done has ended its call by then. */
const END_MS = 100;

/**
 * Reports every call to the guard of a server's connections, as soon as its headers arrive. grpc-js itself answers calls of an unknown
 * method, and calls that are not gRPC, so no interceptor sees them; and it keeps an answered call open for as long as its caller likes.
 * Here the call ends with the answer. The guard decides how many calls a connection may have open.
 */
export function tellOfCalls(server: Server, proofs: Proofs): void {
  const http2 = http2ServerOf(server);
  http2.on("session", (session: ServerHttp2Session) => {
    proofs.opened(peerOf(session), (most) => {
      if (!session.destroyed) session.settings({ maxConcurrentStreams: most });
    });
  });
  http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const peer = peerOf(stream.session);
    proofs.called(peer, bytesOf(headers));
    if (answerOf(stream) === status.UNIMPLEMENTED) proofs.refused(peer);
    endWithAnswer(stream);
  });
}

/** The caller's name, as grpc-js writes it. */
function peerOf(session: ServerHttp2Stream["session"]): string {
  const { remoteAddress, remotePort } = session?.socket ?? {};
  return `${remoteAddress}:${remotePort}`;
}

function http2ServerOf(server: Server): EventEmitter {
  const servers: unknown = Reflect.get(server, "http2Servers");
  const [http2] = servers instanceof Map ? servers.keys() : [];
  if (!(http2 instanceof EventEmitter)) throw new Error("grpc-js has its HTTP/2 server in another place");
  return http2;
}

function bytesOf(headers: IncomingHttpHeaders): number {
  return Object.entries(headers).reduce(
    (sum, [name, value = ""]) => sum + name.length + value.length + HEADER_BYTES,
    0,
  );
}

function endWithAnswer(stream: ServerHttp2Stream): void {
  const end = () => {
    if (stream.closed || stream.destroyed) return;
    // Only once the last of the answer has been sent: an answer that its caller does not read is not cut off.
    if (stream.state.localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
    else endLater();
  };
  const endLater = () => setTimeout(end, END_MS).unref();
  // The answer consists of headers only, or ends with trailers.
  if (answerOf(stream) !== undefined) endLater();
  else stream.once("wantTrailers", endLater);
}

/** The gRPC status of an answer that consists of headers only. */
function answerOf({ sentHeaders }: ServerHttp2Stream): unknown {
  if (sentHeaders === undefined) return undefined;
  return sentHeaders[":status"] === constants.HTTP_STATUS_OK ? sentHeaders["grpc-status"] : status.UNIMPLEMENTED;
}
