import type { Socket } from "node:net";
import { type CallLimits, usualCallLimits } from "./caller-calls.ts";
import { Leavings } from "./leavings.ts";

/**
 * For all headers of one call: a proof and a name take a few hundred bytes. They are stored outside V8's heap, so their size does not make
 * V8 collect them.
 */
export const MOST_HEADERS_BYTES = 8 * 1024;

/** How many calls a connection may open at first: calls that arrive in one piece are accepted before anybody can refuse them. */
export const FIRST_STREAMS = 16;
/** A client reads the logs of all tasks of a job at once over one connection. */
export const MOST_STREAMS = 10_000;

/** Limits of connections. */
export interface GuardLimits {
  /** How long a connection may last until one of its calls is admitted. */
  readonly proofMs: number;
  /** How long it may last after a call that is refused before that, so that the refusal still arrives. */
  readonly refusedMs: number;
  /** How many refused calls it may make. */
  readonly mostRefusals: number;
  /** How many calls it may have made when the first of them is admitted. */
  readonly mostUnprovenCalls: number;
  /** How many connections may be without an admitted call, including those that wait; a further one displaces the oldest. */
  readonly mostUnproven: number;
  /** The same for one address. */
  readonly mostUnprovenOfAddress: number;
  /** How many of them are served at a time: nothing is read from the others, which wait. */
  readonly mostServed: number;
  /** The same for one address. */
  readonly mostServedOfAddress: number;
  /** How long a connection is served at least before a waiting one may displace it. */
  readonly turnMs: number;
  /** How many calls may be refused on the admitted connections of one caller, during their lifetime. */
  readonly mostProvenRefusals: number;
  /** How many admitted connections one caller may have. */
  readonly mostOfCaller: number;
  /** How many calls these may have open in total, beyond FIRST_STREAMS for each. */
  readonly mostFurtherCalls: number;
}

/**
 * Thousands of executors that connect at once are served in time, since each proves itself within its first round trips. A connection takes
 * up to 100 KiB of memory while it is served, and 7 KiB while it waits: 3 MiB in all for those of one address.
 */
export const usualGuardLimits: GuardLimits = {
  proofMs: 10_000,
  refusedMs: 1_000,
  mostRefusals: 8,
  mostUnprovenCalls: 16,
  mostUnproven: 1_024,
  mostUnprovenOfAddress: 256,
  mostServed: 256,
  mostServedOfAddress: 16,
  turnMs: 2_000,
  mostProvenRefusals: 64,
  mostOfCaller: 64,
  mostFurtherCalls: 4 * usualCallLimits.mostCalls,
};

/**
 * The limits for a server that allows that many calls per caller. A connection keeps what it was once allowed, so the limit is higher than
 * that.
 */
export function guardLimitsOf({ mostCalls }: CallLimits = usualCallLimits): GuardLimits {
  return { ...usualGuardLimits, mostFurtherCalls: 4 * mostCalls };
}

/** Tells a caller how many calls its connection may have open. */
export type AllowCalls = (most: number) => void;

interface Unproven {
  readonly socket: Socket;
  readonly peer: string;
  readonly address: string;
  readonly serve: (socket: Socket) => void;
  allow: AllowCalls;
  /** `overdue`: served for longer than its turn, because no other connection waited. */
  state: "waiting" | "served" | "overdue";
  calls: number;
  refusals: number;
  timer: NodeJS.Timeout;
}

interface Proven {
  readonly socket: Socket;
  readonly caller: string;
  refusals: number;
  readonly allow: AllowCalls;
  /** Admitted calls that have not ended. */
  open: number;
  allowed: number;
  readonly all: OfCaller;
}

/** The admitted connections of one caller. */
interface OfCaller {
  connections: number;
  refusals: number;
  furtherCalls: number;
}

/** Counts by key. */
class Counts {
  readonly #counts = new Map<string, number>();

  count(of: string): number {
    return this.#counts.get(of) ?? 0;
  }

  add(of: string): void {
    this.#counts.set(of, this.count(of) + 1);
  }

  remove(of: string): void {
    const left = this.count(of) - 1;
    if (left > 0) this.#counts.set(of, left);
    else this.#counts.delete(of);
  }

  clear(): void {
    this.#counts.clear();
  }
}

/** A server reports each call here; `peer` is `<address>:<port>` of the caller. */
export interface Proofs {
  /** The TLS handshake is complete. */
  opened(peer: string, allow: AllowCalls): void;
  /** A call has begun, with headers of that size. */
  called(peer: string, headersBytes: number): void;
  /** A call is admitted. @returns false: the caller already has too many connections */
  proven(peer: string, caller: string): boolean;
  /** An admitted call has ended. */
  left(peer: string): void;
  refused(peer: string): void;
}

/**
 * Stands between a port that anybody can reach and the server behind it. A connection costs next to nothing until it is served and has sent
 * something, and is reset when none of its calls is admitted in time. A connection with an admitted call is left alone, unless many of its
 * other calls are refused. Of the waiting connections the newest is served first, so that an attacker who floods the port delays others
 * only while connecting faster than they do.
 */
export class ConnectionGuard implements Proofs {
  readonly #limits: GuardLimits;
  /** By peer, the oldest first. */
  readonly #unproven = new Map<string, Unproven>();
  readonly #unprovenOf = new Counts();
  readonly #servedOf = new Counts();
  #served = 0;
  readonly #proven = new Map<string, Proven>();
  readonly #ofCaller = new Map<string, OfCaller>();
  readonly #leavings: Leavings;

  constructor(limits: GuardLimits = usualGuardLimits, leavings = new Leavings()) {
    this.#limits = limits;
    this.#leavings = leavings;
  }

  /** Passes a new connection, of which nothing has been read, to the server as soon as it has its turn and sends something. */
  admit(socket: Socket, serve: (socket: Socket) => void): void {
    const { remoteAddress: address, remotePort } = socket;
    if (address === undefined || remotePort === undefined) {
      socket.destroy();
      return;
    }
    this.#makeRoomFor(address);
    const peer = `${address}:${remotePort}`;
    this.#forget(peer);
    const timer = this.#resetIn(peer, this.#limits.proofMs);
    const begins = { state: "waiting", calls: 0, refusals: 0, allow: () => undefined } as const;
    const unproven: Unproven = { ...begins, socket, peer, address, serve, timer };
    this.#unproven.set(peer, unproven);
    this.#unprovenOf.add(address);
    // However it ends, its end is reported once.
    socket.on("error", () => undefined);
    socket.once("close", () => this.#closed(peer, socket));
    if (this.#hasPlaceFor(unproven)) this.#serve(unproven);
    else this.#endOverdueFor(unproven);
  }

  opened(peer: string, allow: AllowCalls): void {
    const unproven = this.#unproven.get(peer);
    if (unproven !== undefined) unproven.allow = allow;
  }

  called(peer: string, headersBytes: number): void {
    this.#leavings.notice();
    const unproven = this.#unproven.get(peer);
    if (unproven !== undefined) {
      unproven.calls += 1;
      if (unproven.calls > this.#limits.mostUnprovenCalls) this.#reset(peer);
    }
    // Node enforces the limit on a caller only after the caller has acknowledged it.
    if (headersBytes <= MOST_HEADERS_BYTES) return;
    this.#reset(peer);
    this.#proven.get(peer)?.socket.resetAndDestroy();
  }

  proven(peer: string, caller: string): boolean {
    const proven = this.#proven.get(peer) ?? this.#letIn(peer, caller);
    if (proven === undefined) return false;
    proven.open += 1;
    if (2 * proven.open > proven.allowed) this.#allowMore(proven);
    return true;
  }

  left(peer: string): void {
    const proven = this.#proven.get(peer);
    if (proven !== undefined) proven.open -= 1;
  }

  refused(peer: string): void {
    const proven = this.#proven.get(peer);
    if (proven !== undefined) {
      proven.refusals += 1;
      proven.all.refusals += 1;
      if (proven.all.refusals > this.#limits.mostProvenRefusals) proven.socket.resetAndDestroy();
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

  /** Resets all connections that have not proved themselves. */
  close(): void {
    const all = [...this.#unproven.values()];
    // Nothing that waits may be served in the place of a connection that ends here.
    this.#unproven.clear();
    this.#unprovenOf.clear();
    this.#servedOf.clear();
    this.#served = 0;
    for (const { socket, timer } of all) {
      clearTimeout(timer);
      socket.resetAndDestroy();
    }
  }

  /** Ends the admitted connections. */
  cutOff(): void {
    for (const { socket } of this.#proven.values()) socket.destroy();
  }

  #letIn(peer: string, caller: string): Proven | undefined {
    const unproven = this.#unproven.get(peer);
    const all = this.#ofCaller.get(caller) ?? { connections: 0, refusals: 0, furtherCalls: 0 };
    if (unproven === undefined || all.connections >= this.#limits.mostOfCaller) return undefined;
    const { socket, allow } = unproven;
    this.#forget(peer);
    const proven: Proven = { socket, caller, refusals: 0, allow, open: 0, allowed: FIRST_STREAMS, all };
    this.#proven.set(peer, proven);
    this.#ofCaller.set(caller, all);
    all.connections += 1;
    return proven;
  }

  /** Doubles the limit when half of it is in use. */
  #allowMore(proven: Proven): void {
    const { allowed, all } = proven;
    const more = Math.min(allowed, MOST_STREAMS - allowed, this.#limits.mostFurtherCalls - all.furtherCalls);
    if (more <= 0) return;
    proven.allowed += more;
    all.furtherCalls += more;
    proven.allow(proven.allowed);
  }

  #closed(peer: string, socket: Socket): void {
    if (this.#unproven.get(peer)?.socket === socket) {
      this.#forget(peer);
      this.#leavings.notice();
    }
    const proven = this.#proven.get(peer);
    if (proven?.socket !== socket) return;
    this.#proven.delete(peer);
    const { caller, all } = proven;
    all.connections -= 1;
    all.refusals -= proven.refusals;
    all.furtherCalls -= proven.allowed - FIRST_STREAMS;
    if (all.connections === 0) this.#ofCaller.delete(caller);
  }

  #resetIn(peer: string, delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#reset(peer), delayMs).unref();
  }

  /** Removes the oldest connection, one of that address if it has too many itself. */
  #makeRoomFor(address: string): void {
    const { mostUnproven, mostUnprovenOfAddress } = this.#limits;
    const hasTooMany = this.#unprovenOf.count(address) >= mostUnprovenOfAddress;
    if (!hasTooMany && this.#unproven.size < mostUnproven) return;
    for (const one of this.#unproven.values()) {
      if (hasTooMany && one.address !== address) continue;
      this.#reset(one.peer);
      return;
    }
  }

  #hasPlaceFor({ address }: Unproven): boolean {
    const { mostServed, mostServedOfAddress } = this.#limits;
    return this.#served < mostServed && this.#servedOf.count(address) < mostServedOfAddress;
  }

  #serve(unproven: Unproven): void {
    const { socket, address, serve } = unproven;
    unproven.state = "served";
    this.#served += 1;
    this.#servedOf.add(address);
    clearTimeout(unproven.timer);
    unproven.timer = setTimeout(() => this.#turnIsOver(unproven), this.#limits.turnMs).unref();
    socket.once("readable", () => {
      // A socket that has ended is readable too.
      if (socket.readableLength > 0) serve(socket);
      else socket.destroy();
    });
  }

  #turnIsOver(unproven: Unproven): void {
    const { peer, address } = unproven;
    unproven.state = "overdue";
    unproven.timer = this.#resetIn(peer, this.#limits.proofMs - this.#limits.turnMs);
    for (const waiting of this.#unproven.values()) {
      if (waiting.state !== "waiting" || !this.#isInTheWay(address, waiting)) continue;
      this.#reset(peer);
      return;
    }
  }

  /** Whether a served connection of that address keeps another one of it waiting. */
  #isInTheWay(served: string, { address }: Unproven): boolean {
    return this.#servedOf.count(address) >= this.#limits.mostServedOfAddress
      ? served === address
      : this.#served >= this.#limits.mostServed;
  }

  #endOverdueFor(waiting: Unproven): void {
    for (const { peer, state, address } of this.#unproven.values()) {
      if (state !== "overdue" || !this.#isInTheWay(address, waiting)) continue;
      this.#reset(peer);
      return;
    }
  }

  #forget(peer: string): void {
    const unproven = this.#unproven.get(peer);
    if (unproven === undefined) return;
    clearTimeout(unproven.timer);
    this.#unproven.delete(peer);
    this.#unprovenOf.remove(unproven.address);
    if (unproven.state === "waiting") return;
    this.#servedOf.remove(unproven.address);
    this.#served -= 1;
    this.#serveNewest();
  }

  #serveNewest(): void {
    const newest = [...this.#unproven.values()].findLast((one) => one.state === "waiting" && this.#hasPlaceFor(one));
    if (newest !== undefined) this.#serve(newest);
  }

  #reset(peer: string): void {
    const socket = this.#unproven.get(peer)?.socket;
    if (socket === undefined) return;
    this.#forget(peer);
    this.#leavings.notice();
    socket.resetAndDestroy();
  }
}
