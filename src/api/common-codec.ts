import type { Hello, LogChunk, LogStream } from "./messages.ts";
import { toBytes, toNumber, type tony } from "./wire.ts";

export function decodeHello(wire: tony.v1.Hello.$Properties | null | undefined): Hello {
  return { protocol: wire?.protocol ?? 0, build: wire?.build ?? "" };
}

/** Any other name means stdout. */
export function decodeLogStream(name: string | null | undefined): LogStream {
  return name === "stderr" || name === "index" || name === "executor" ? name : "stdout";
}

export function encodeLogChunk(chunk: LogChunk): tony.v1.LogChunk.$Properties {
  return { ...chunk };
}

export function decodeLogChunk(wire: tony.v1.LogChunk.$Properties): LogChunk {
  return {
    tailId: toNumber(wire.tailId),
    stream: decodeLogStream(wire.stream),
    offset: toNumber(wire.offset),
    data: toBytes(wire.data),
    end: wire.end ?? false,
    generation: toNumber(wire.generation),
    skippedBytes: toNumber(wire.skippedBytes),
  };
}
