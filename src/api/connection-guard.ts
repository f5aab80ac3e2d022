import type { Socket } from "node:net";

/** What callers may do before a call of theirs has shown a secret. */
export interface GuardLimits {
  /** How long a connection may last until then. */
  readonly proofMs: number;
  /** How long it may last after a call without the secret, so that the refusal arrives. */
  readonly refusedMs: number;
  /** How many such calls it may make. */
  readonly mostRefusals: number;
  /** How many such connections there may be: for a further one the oldest goes. */
  readonly mostUnproven: number;
}

/** Thousands of executors that connect at once are served in time: each proves itself within its first round trips. */
const usualLimits: GuardLimits = { proofMs: 10_000, refusedMs: 1_000, mostRefusals: 8, mostUnproven: 1_024 };

interface Unproven {
  readonly socket: Socket;
  refusals: number;
  timer: NodeJS.Timeout;
}

/** Is told by a server of each call's secret; `peer` is `<address>:<port>` of the caller. */
export interface Proofs {
  proven(peer: string): void;
  refused(peer: string): void;
}

/**
 * Stands between a port that anybody can reach and the server behind it. A connection costs next to nothing until its first byte, and is
 * reset when it has not proved itself in time; one that has is left alone.
 */
export class ConnectionGuard implements Proofs {
  readonly #limits: GuardLimits;
  /** By peer, the oldest first. */
  readonly #unproven = new Map<string, Unproven>();

  constructor(limits: GuardLimits = usualLimits) {
    this.#limits = limits;
  }

  /** Hands a new connection to the server as soon as it says something. */
  admit(socket: Socket, serve: (socket: Socket) => void): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) {
      socket.destroy();
      return;
    }
    const [oldest] = this.#unproven.keys();
    if (oldest !== undefined && this.#unproven.size >= this.#limits.mostUnproven) this.#reset(oldest);
    const peer = `${remoteAddress}:${remotePort}`;
    this.#unproven.set(peer, { socket, refusals: 0, timer: this.#resetIn(peer, this.#limits.proofMs) });
    // Whatever ends it, its end is told once.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      if (this.#unproven.get(peer)?.socket === socket) this.proven(peer);
    });
    socket.once("readable", () => {
      // Readable is also what has ended.
      if (socket.readableLength > 0) serve(socket);
      else socket.destroy();
    });
  }

  proven(peer: string): void {
    clearTimeout(this.#unproven.get(peer)?.timer);
    this.#unproven.delete(peer);
  }

  refused(peer: string): void {
    const caller = this.#unproven.get(peer);
    if (caller === undefined) return;
    caller.refusals += 1;
    if (caller.refusals > this.#limits.mostRefusals) this.#reset(peer);
    if (caller.refusals !== 1) return;
    clearTimeout(caller.timer);
    caller.timer = this.#resetIn(peer, this.#limits.refusedMs);
  }

  /** Resets all that have not proved themselves. */
  close(): void {
    for (const peer of [...this.#unproven.keys()]) this.#reset(peer);
  }

  #resetIn(peer: string, delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#reset(peer), delayMs).unref();
  }

  #reset(peer: string): void {
    const socket = this.#unproven.get(peer)?.socket;
    this.proven(peer);
    socket?.resetAndDestroy();
  }
}
