import { connect as connectSocket, type Socket } from "node:net";
import type { HostPort } from "../conf/values.ts";
import { eachAddress } from "../connecting.ts";
import type { SecurityLayer } from "../security/sasl/mechanism.ts";
import { RpcProtocolError } from "./errors.ts";
import { FrameReader } from "./frame.ts";
import { SaslState, saslFrame } from "./messages.ts";

export interface TransportOptions {
  readonly endpoint: HostPort;
  readonly maxFrameBytes: number;
  readonly onConnect: () => void;
  /** `unwrapped`: the frame came through the security layer. */
  readonly onFrame: (frame: Buffer, unwrapped: boolean) => void;
  /** Called once. Without a cause the peer closed the connection cleanly. */
  readonly onEnd: (cause?: unknown) => void;
}

const keepAliveAfterMs = 30_000;

/** Frames over a TCP connection, protected by a security layer once one is negotiated. Starts to connect at once. */
export class RpcTransport {
  readonly #options: TransportOptions;
  readonly #socket: Socket;
  readonly #frames: FrameReader;
  readonly #unwrappedFrames: FrameReader;
  #layer: SecurityLayer | undefined;
  #outbox: Buffer[] = [];
  #ended = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#frames = new FrameReader(options.maxFrameBytes);
    this.#unwrappedFrames = new FrameReader(options.maxFrameBytes);
    this.#socket = connectSocket({
      ...options.endpoint,
      ...eachAddress,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveAfterMs,
    });
    // An idle connection does not keep the process alive: whoever waits for it to open or to answer has a timer of its own.
    this.#socket.unref();
    this.#socket.on("connect", options.onConnect);
    this.#socket.on("data", (chunk) => this.#guarded(() => this.#deliver(this.#frames, chunk)));
    this.#socket.on("error", (cause) => this.end(cause));
    this.#socket.on("close", () => this.end());
  }

  /** The longest frame that is accepted from now on. */
  limitFrames(maxBytes: number): void {
    this.#frames.limit(maxBytes);
  }

  /** From now on everything, both ways, passes through the layer. */
  protect(layer: SecurityLayer): void {
    this.#layer = layer;
  }

  /** Sends bytes in order; everything sent in one turn of the event loop goes out in one write. */
  send(bytes: Buffer): void {
    if (this.#ended) return;
    if (this.#outbox.length === 0) queueMicrotask(() => this.#flush());
    this.#outbox.push(bytes);
  }

  /** Takes the token of a WRAP message: within it frames continue as on a bare connection, split anywhere. */
  receiveWrapped(token: Uint8Array): void {
    if (this.#layer === undefined)
      throw new RpcProtocolError("The server sent a protected message before it was agreed");
    this.#deliver(this.#unwrappedFrames, this.#layer.unwrap(token));
  }

  /** Closes the connection at once; `onEnd` receives the cause. */
  end(cause?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.destroy();
    this.#options.onEnd(cause);
  }

  #deliver(reader: FrameReader, chunk: Buffer): void {
    for (const frame of reader.push(chunk)) {
      if (this.#ended) return;
      this.#options.onFrame(frame, reader === this.#unwrappedFrames);
    }
  }

  #guarded(receive: () => void): void {
    try {
      receive();
    } catch (cause) {
      this.end(cause);
    }
  }

  #flush(): void {
    if (this.#ended) return;
    const bytes = Buffer.concat(this.#outbox);
    this.#outbox = [];
    this.#socket.write(this.#layer === undefined ? bytes : wrapped(bytes, this.#layer));
  }
}

function wrapped(bytes: Buffer, layer: SecurityLayer): Buffer {
  const frames: Buffer[] = [];
  for (let offset = 0; offset < bytes.length; offset += layer.maxMessageBytes) {
    const token = layer.wrap(bytes.subarray(offset, offset + layer.maxMessageBytes));
    frames.push(saslFrame({ state: SaslState.WRAP, token }));
  }
  return Buffer.concat(frames);
}
