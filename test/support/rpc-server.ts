import { createServer, type Server, type Socket } from "node:net";
import { afterEach } from "@jest/globals";
import type { HostPort } from "../../src/hadoop/conf/values.ts";
import { encodeFrame, FrameReader, readDelimited } from "../../src/hadoop/rpc/frame.ts";
import { encodeDelimited } from "../../src/hadoop/wire/codec.ts";
import { common, type hadoop } from "../../src/hadoop/wire/common.ts";

const helloBytes = 7;

/** A call as the server in a test sees it. */
export interface ReceivedCall {
  readonly callId: number;
  readonly method: string;
  readonly protocol: string;
  readonly request: Uint8Array;
}

/** What arrived on one connection, in order. `chunks` counts the pieces in which the network delivered it. */
export class ServedConnection {
  readonly socket: Socket;
  readonly frames: Buffer[] = [];
  readonly calls: ReceivedCall[] = [];
  hello = Buffer.alloc(0);
  chunks = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  reply(callId: number, body: Uint8Array): void {
    this.socket.write(replyFrame(callId, body));
  }
}

/** The server's behaviour: what it does when a connection is made, and for each frame after the first seven bytes. */
export interface Behaviour {
  onConnection?(connection: ServedConnection): void;
  onFrame?(connection: ServedConnection, frame: Buffer): void;
  onCall?(connection: ServedConnection, call: ReceivedCall): void;
}

/** A server on a free port of the loopback that behaves as it is told, well or badly. */
export class RpcTestServer {
  readonly connections: ServedConnection[] = [];
  readonly #server: Server;

  private constructor(behaviour: Behaviour) {
    this.#server = createServer((socket) => this.#serve(socket, behaviour));
  }

  static async start(behaviour: Behaviour): Promise<RpcTestServer> {
    const server = new RpcTestServer(behaviour);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get endpoint(): HostPort {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
    return { host: "127.0.0.1", port: address.port };
  }

  async stop(): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket, behaviour: Behaviour): void {
    const connection = new ServedConnection(socket);
    const reader = new FrameReader();
    this.connections.push(connection);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      connection.chunks += 1;
      let rest = chunk;
      if (connection.hello.length < helloBytes) {
        const missing = helloBytes - connection.hello.length;
        connection.hello = Buffer.concat([connection.hello, chunk.subarray(0, missing)]);
        rest = chunk.subarray(missing);
      }
      for (const frame of reader.push(rest)) {
        connection.frames.push(frame);
        behaviour.onFrame?.(connection, frame);
        const call = callOf(frame);
        if (call === undefined) continue;
        connection.calls.push(call);
        behaviour.onCall?.(connection, call);
      }
    });
    behaviour.onConnection?.(connection);
  }
}

/** Answers every call with the bytes of its own request. */
export const echo: Behaviour = { onCall: (connection, call) => connection.reply(call.callId, call.request) };

export function headerOf(frame: Uint8Array): { header: hadoop.common.RpcRequestHeaderProto; next: number } {
  const { bytes, next } = readDelimited(frame, 0);
  return { header: common.RpcRequestHeaderProto.decode(bytes), next };
}

export function callOf(frame: Uint8Array): ReceivedCall | undefined {
  const { header, next } = headerOf(frame);
  if (header.callId < 0) return undefined;
  const requestHeader = readDelimited(frame, next);
  const { methodName, declaringClassProtocolName } = common.RequestHeaderProto.decode(requestHeader.bytes);
  const request = readDelimited(frame, requestHeader.next).bytes;
  return { callId: header.callId, method: methodName, protocol: declaringClassProtocolName, request };
}

/** A successful reply; the body is preceded by its length. */
export function replyFrame(callId: number, body: Uint8Array): Buffer {
  const header = { callId: callId >>> 0, status: common.RpcResponseHeaderProto.RpcStatusProto.SUCCESS };
  return encodeFrame(encodeDelimited(common.RpcResponseHeaderProto, header), delimited(body));
}

export function failureFrame(
  callId: number,
  status: "ERROR" | "FATAL",
  exceptionClassName: string,
  errorMsg: string,
  errorDetail?: hadoop.common.RpcResponseHeaderProto.RpcErrorCodeProto,
): Buffer {
  const header = {
    callId: callId >>> 0,
    status: common.RpcResponseHeaderProto.RpcStatusProto[status],
    exceptionClassName,
    errorMsg,
    ...(errorDetail === undefined ? {} : { errorDetail }),
  };
  return encodeFrame(encodeDelimited(common.RpcResponseHeaderProto, header));
}

export function saslReply(message: hadoop.common.RpcSaslProto.$Properties): Buffer {
  return replyFrame(-33, common.RpcSaslProto.encode(message).finish());
}

/** The message in a client's SASL frame. */
export function saslOf(frame: Uint8Array): hadoop.common.RpcSaslProto {
  return common.RpcSaslProto.decode(readDelimited(frame, headerOf(frame).next).bytes);
}

export function delimited(body: Uint8Array): Buffer {
  const length: number[] = [];
  let rest = body.length;
  while (rest >= 0x80) {
    length.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.concat([Uint8Array.from([...length, rest]), body]);
}

/** Starts servers that are stopped after the test. */
export function stoppedAfterTest(): (behaviour: Behaviour) => Promise<RpcTestServer> {
  const servers: RpcTestServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  return async (behaviour) => {
    const server = await RpcTestServer.start(behaviour);
    servers.push(server);
    return server;
  };
}
