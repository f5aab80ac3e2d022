import { connect, createServer, type Server, type Socket } from "node:net";
import type { HostPort } from "../../src/hadoop/conf/values.ts";
import { encodeFrame, FrameReader } from "../../src/hadoop/rpc/frame.ts";
import { decodeReply } from "../../src/hadoop/rpc/messages.ts";
import { AnswerFates, type Choose } from "./answer-fates.ts";
import { listenLocally, localAddress } from "./local-port.ts";
import { callOf } from "./rpc-server.ts";

const helloBytes = 7;

/**
 * A proxy between a client of Hadoop's RPC and its server that loses answers: the server has carried out the call, but the client
 * never hears of it. Everything else passes, including the negotiation. Any protection beyond authentication would hide the calls
 * from it.
 */
export class LossyProxy {
  readonly fates: AnswerFates;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: HostPort, choose: Choose) {
    this.fates = new AnswerFates(choose);
    this.#server = createServer((client) => this.#join(client, connect(target.port, target.host)));
  }

  static async start(target: HostPort, choose: Choose): Promise<LossyProxy> {
    const proxy = new LossyProxy(target, choose);
    await listenLocally(proxy.#server);
    return proxy;
  }

  /** `host:port` */
  get address(): string {
    return localAddress(this.#server);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, server: Socket): void {
    const calls = new Map<number, string>();
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", cut).on("close", () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    this.#noteCalls(client, server, calls);
    this.#chooseAnswers(client, server, calls, cut);
  }

  #noteCalls(client: Socket, server: Socket, calls: Map<number, string>): void {
    const reader = new FrameReader();
    let hello = 0;
    client.on("data", (chunk) => {
      server.write(chunk);
      const skipped = Math.min(chunk.length, helloBytes - hello);
      hello += skipped;
      for (const frame of reader.push(chunk.subarray(skipped))) {
        const call = callOf(frame);
        if (call !== undefined) calls.set(call.callId, call.method);
      }
    });
  }

  #chooseAnswers(client: Socket, server: Socket, calls: Map<number, string>, cut: () => void): void {
    const reader = new FrameReader();
    server.on("data", (chunk) => {
      for (const frame of reader.push(chunk)) {
        const pass = () => client.write(encodeFrame(frame));
        this.fates.meet(calls.get(decodeReply(frame).callId), { pass, cut });
      }
    });
  }
}
