/**
 * Frames of Hadoop IPC version 9 (org.apache.hadoop.ipc.Server, RpcConstants):
 *
 *     int32 big-endian length | varint-delimited header | varint-delimited body …
 *
 * For both directions; the length does not include itself.
 */
import { RpcProtocolError } from "./errors.ts";

/** `ipc.maximum.data.length`: Hadoop's own limit for a message. */
export const defaultMaxFrameBytes = 128 * 1024 * 1024;

const lengthBytes = 4;

/** Prefixes the parts, which are already varint-delimited, with their length. */
export function encodeFrame(...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const frame = Buffer.allocUnsafe(lengthBytes + length);
  frame.writeUInt32BE(length, 0);
  let offset = lengthBytes;
  for (const part of parts) {
    frame.set(part, offset);
    offset += part.length;
  }
  return frame;
}

/** Cuts a byte stream, whose chunks may end anywhere, into frames. Nothing is copied unless a frame spans chunks. */
export class FrameReader {
  #maxFrameBytes: number;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #wantedBytes = lengthBytes;

  constructor(maxFrameBytes: number = defaultMaxFrameBytes) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** The longest frame that is accepted from now on. */
  limit(maxFrameBytes: number): void {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /**
   * Takes the next bytes and yields each frame that they complete, without its length. Throws RpcProtocolError for a length beyond the
   * limit: what follows can't be trusted then.
   */
  *push(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    while (this.#bufferedBytes >= this.#wantedBytes) {
      const buffered = this.#joined();
      const length = buffered.readUInt32BE(0);
      if (length > this.#maxFrameBytes) throw oversized(buffered, length, this.#maxFrameBytes);
      const end = lengthBytes + length;
      if (buffered.length < end) {
        this.#wantedBytes = end;
        return;
      }
      this.#keep(buffered.subarray(end));
      yield buffered.subarray(lengthBytes, end);
    }
  }

  #joined(): Buffer {
    const [first] = this.#chunks;
    if (this.#chunks.length === 1 && first !== undefined) return first;
    const joined = Buffer.concat(this.#chunks, this.#bufferedBytes);
    this.#chunks = [joined];
    return joined;
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bufferedBytes = rest.length;
    this.#wantedBytes = lengthBytes;
  }
}

/** Reads the varint-delimited part at `offset`: its bytes and where the next part starts. Throws RpcProtocolError when it is truncated. */
export function readDelimited(
  frame: Uint8Array,
  offset: number,
): { readonly bytes: Uint8Array; readonly next: number } {
  const { value: length, next: start } = readVarint32(frame, offset);
  const next = start + length;
  if (next > frame.length) {
    throw new RpcProtocolError(`A frame of ${frame.length} bytes ends inside a part of ${length} bytes`);
  }
  return { bytes: frame.subarray(start, next), next };
}

/** A protobuf varint of at most 32 bits. */
export function readVarint32(bytes: Uint8Array, offset: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[offset + index];
    if (byte === undefined) throw new RpcProtocolError("A frame ends inside the length of a part");
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80 && value < 2 ** 32) return { value, next: offset + index + 1 };
  }
  throw new RpcProtocolError("The length of a frame's part is longer than 32 bits");
}

function oversized(buffered: Buffer, length: number, limit: number): RpcProtocolError {
  const start = buffered.toString("latin1", 0, lengthBytes);
  if (start === "HTTP") return otherServer("An HTTP server");
  if (start.startsWith(tlsAlert)) return otherServer("A TLS server");
  return new RpcProtocolError(`A frame of ${length} bytes is announced; the limit is ${limit}`);
}

/** The content type of a TLS alert and TLS's major version (RFC 8446 §5.1). */
const tlsAlert = "\x15\x03";

function otherServer(what: string): RpcProtocolError {
  return new RpcProtocolError(`${what} answered at this port; the address of Hadoop's RPC service is wanted`);
}
