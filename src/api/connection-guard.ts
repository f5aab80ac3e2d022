import type { Socket } from "node:net";

/** What connections may do. */
export interface GuardLimits {
  /** How long one may last until a call of it is let in. */
  readonly proofMs: number;
  /** How long it may last after a call that is refused before that, so that the refusal arrives. */
  readonly refusedMs: number;
  /** How many such calls it may make. */
  readonly mostRefusals: number;
  /** How many such connections there may be: for a further one the oldest goes. */
  readonly mostUnproven: number;
  /** How many calls of one that has been let in may be refused. */
  readonly mostProvenRefusals: number;
  /** How many there may be of one caller that are let in. */
  readonly mostOfCaller: number;
}

/** Thousands of executors that connect at once are served in time: each proves itself within its first round trips. */
export const usualGuardLimits: GuardLimits = {
  proofMs: 10_000,
  refusedMs: 1_000,
  mostRefusals: 8,
  mostUnproven: 1_024,
  mostProvenRefusals: 64,
  mostOfCaller: 64,
};

interface Unproven {
  readonly socket: Socket;
  refusals: number;
  timer: NodeJS.Timeout;
}

interface Proven {
  readonly socket: Socket;
  readonly caller: string;
  refusals: number;
}

/** Is told by a server of each call; `peer` is `<address>:<port>` of the caller. */
export interface Proofs {
  /** @returns false: the caller has too many connections already */
  proven(peer: string, caller: string): boolean;
  refused(peer: string): void;
}

/**
 * Stands between a port that anybody can reach and the server behind it. A connection costs next to nothing until its first byte, and is
 * reset when no call of it has been let in in time; one that has such a call is left alone, unless many others of it are refused.
 */
export class ConnectionGuard implements Proofs {
  readonly #limits: GuardLimits;
  /** By peer, the oldest first. */
  readonly #unproven = new Map<string, Unproven>();
  readonly #proven = new Map<string, Proven>();
  /** How many of those each caller has. */
  readonly #ofCaller = new Map<string, number>();

  constructor(limits: GuardLimits = usualGuardLimits) {
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
    socket.once("close", () => this.#closed(peer, socket));
    socket.once("readable", () => {
      // Readable is also what has ended.
      if (socket.readableLength > 0) serve(socket);
      else socket.destroy();
    });
  }

  proven(peer: string, caller: string): boolean {
    const socket = this.#unproven.get(peer)?.socket;
    if (socket === undefined) return this.#proven.has(peer);
    const before = this.#ofCaller.get(caller) ?? 0;
    if (before >= this.#limits.mostOfCaller) return false;
    this.#forget(peer);
    this.#proven.set(peer, { socket, caller, refusals: 0 });
    this.#ofCaller.set(caller, before + 1);
    return true;
  }

  refused(peer: string): void {
    const proven = this.#proven.get(peer);
    if (proven !== undefined) {
      proven.refusals += 1;
      if (proven.refusals > this.#limits.mostProvenRefusals) proven.socket.resetAndDestroy();
      return;
    }
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

  /** Ends the connections that have been let in. */
  cutOff(): void {
    for (const { socket } of this.#proven.values()) socket.destroy();
  }

  #closed(peer: string, socket: Socket): void {
    if (this.#unproven.get(peer)?.socket === socket) this.#forget(peer);
    const proven = this.#proven.get(peer);
    if (proven?.socket !== socket) return;
    this.#proven.delete(peer);
    const left = (this.#ofCaller.get(proven.caller) ?? 1) - 1;
    if (left > 0) this.#ofCaller.set(proven.caller, left);
    else this.#ofCaller.delete(proven.caller);
  }

  #resetIn(peer: string, delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#reset(peer), delayMs).unref();
  }

  #forget(peer: string): void {
    clearTimeout(this.#unproven.get(peer)?.timer);
    this.#unproven.delete(peer);
  }

  #reset(peer: string): void {
    const socket = this.#unproven.get(peer)?.socket;
    this.#forget(peer);
    socket?.resetAndDestroy();
  }
}
