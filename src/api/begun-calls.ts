import { EventEmitter } from "node:events";
import { constants, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { type Server, status } from "@grpc/grpc-js";
import type { Proofs } from "./connection-guard.ts";

/** As HTTP/2 counts each header beyond its name and value (RFC 9113 §6.5.2). */
const HEADER_BYTES = 32;
/** A caller that is done has ended a call by then. */
const END_MS = 100;

/**
 * Has the guard of a server's connections told of every call from its headers on. grpc-js answers a call of a method that it does not know, or
 * of no gRPC at all, by itself, so that no interceptor sees it; and it leaves a call open that has been answered for as long as its caller
 * likes: here it ends with the answer. How many calls a connection may have open is the guard's to say.
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

/** As grpc-js names a caller. */
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
    // Whether the last of the answer has been sent: an answer that its caller does not read is not cut off.
    if (stream.state.localClose === 1) stream.close(constants.NGHTTP2_NO_ERROR);
    else endLater();
  };
  const endLater = () => setTimeout(end, END_MS).unref();
  // The whole answer is headers, or ends with trailers.
  if (answerOf(stream) !== undefined) endLater();
  else stream.once("wantTrailers", endLater);
}

/** The gRPC status of what is answered by headers alone. */
function answerOf({ sentHeaders }: ServerHttp2Stream): unknown {
  if (sentHeaders === undefined) return undefined;
  return sentHeaders[":status"] === constants.HTTP_STATUS_OK ? sentHeaders["grpc-status"] : status.UNIMPLEMENTED;
}
