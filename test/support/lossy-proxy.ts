import { connect, createServer, type Server, type Socket } from "node:net";
import type { HostPort } from "../../src/hadoop/conf/values.ts";
import { encodeFrame, FrameReader } from "../../src/hadoop/rpc/frame.ts";
import { decodeReply } from "../../src/hadoop/rpc/messages.ts";
import { callOf } from "./rpc-server.ts";

/** What becomes of an answer: it passes, is dropped while the connection stays, or takes the connection with it; or comes so much later. */
export type Fate = "pass" | "drop" | "cut" | { readonly delayMs: number };

/** @param nth of the answers to that method, from 1 */
export type Choose = (method: string, nth: number) => Fate;

const helloBytes = 7;

/**
 * A proxy between a client of Hadoop's RPC and its server that loses answers: the server has carried the call out, the client never
 * hears of it. Everything else passes, the negotiation too; protection beyond authentication hides the calls from it.
 */
export class LossyProxy {
  /** Answers seen, by method. */
  readonly answers = new Map<string, number>();
  /** Answers that did not pass as they were. */
  lost = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #choose: Choose;

  private constructor(target: HostPort, choose: Choose) {
    this.#choose = choose;
    this.#server = createServer((client) => this.#join(client, connect(target.port, target.host)));
  }

  static async start(target: HostPort, choose: Choose): Promise<LossyProxy> {
    const proxy = new LossyProxy(target, choose);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** `host:port` */
  get address(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the proxy does not listen");
    return `127.0.0.1:${address.port}`;
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
        const fate = this.#fateOf(calls.get(decodeReply(frame).callId));
        const pass = () => client.write(encodeFrame(frame));
        if (fate === "pass") pass();
        else if (fate === "cut") cut();
        else if (fate !== "drop") setTimeout(pass, fate.delayMs).unref();
      }
    });
  }

  #fateOf(method: string | undefined): Fate {
    if (method === undefined) return "pass";
    const nth = (this.answers.get(method) ?? 0) + 1;
    this.answers.set(method, nth);
    const fate = this.#choose(method, nth);
    if (fate !== "pass") this.lost += 1;
    return fate;
  }
}
