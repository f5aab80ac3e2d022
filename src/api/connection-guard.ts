import type { Socket } from "node:net";
import { type CallLimits, usualCallLimits } from "./caller-calls.ts";
import { Leavings } from "./leavings.ts";

/** Of all headers of one call: a proof and a name are some hundred. They are kept outside V8's heap, which sees no reason to collect them. */
export const MOST_HEADERS_BYTES = 8 * 1024;

/** Calls that a connection may have open at first: what comes in one piece has been taken before anybody can refuse it. */
export const FIRST_STREAMS = 16;
/** A client reads the logs of all tasks of a job at once over one connection. */
export const MOST_STREAMS = 10_000;

/** What connections may do. */
export interface GuardLimits {
  /** How long one may last until a call of it is let in. */
  readonly proofMs: number;
  /** How long it may last after a call that is refused before that, so that the refusal arrives. */
  readonly refusedMs: number;
  /** How many such calls it may make. */
  readonly mostRefusals: number;
  /** How many calls it may have made when the first of them is let in. */
  readonly mostUnprovenCalls: number;
  /** How many such connections there may be, those that wait counted: for a further one the oldest goes. */
  readonly mostUnproven: number;
  /** The same of one address. */
  readonly mostUnprovenOfAddress: number;
  /** How many of them are served at a time: the others wait, and nothing of theirs is read. */
  readonly mostServed: number;
  /** The same of one address. */
  readonly mostServedOfAddress: number;
  /** How long one is served at least before it goes for one that waits. */
  readonly turnMs: number;
  /** How many calls may be refused on the connections of one caller that are let in, as long as they last. */
  readonly mostProvenRefusals: number;
  /** How many there may be of one caller that are let in. */
  readonly mostOfCaller: number;
  /** How many calls these may have open, in all, beyond FIRST_STREAMS of each. */
  readonly mostFurtherCalls: number;
}

/**
 * Thousands of executors that connect at once are served in time: each proves itself within its first round trips. One that is served takes
 * up to 100 KiB of memory, and one that waits 7 KiB: those of one address 3 MiB in all.
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

/** The same for a server of that many calls of a caller. What a connection was allowed once stays, so there is more than that. */
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
  /** `overdue`: served for longer than its turn, because nobody waited. */
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
  /** Calls that are let in and not over. */
  open: number;
  allowed: number;
  readonly all: OfCaller;
}

/** Of the connections of one caller that are let in. */
interface OfCaller {
  connections: number;
  refusals: number;
  furtherCalls: number;
}

/** How many there are of each. */
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

/** Is told by a server of each call; `peer` is `<address>:<port>` of the caller. */
export interface Proofs {
  /** TLS stands. */
  opened(peer: string, allow: AllowCalls): void;
  /** It has begun, with headers of that size. */
  called(peer: string, headersBytes: number): void;
  /** A call is let in. @returns false: the caller has too many connections already */
  proven(peer: string, caller: string): boolean;
  /** Such a call is over. */
  left(peer: string): void;
  refused(peer: string): void;
}

/**
 * Stands between a port that anybody can reach and the server behind it. A connection costs next to nothing until it is served and has said
 * something, and is reset when no call of it has been let in in time; one that has such a call is left alone, unless many others of it are
 * refused. Of those that wait the newest is served first: who floods the port keeps others waiting only as long as he is faster than they.
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

  /** Hands a new connection, of which nothing has been read, to the server as soon as it has its turn and says something. */
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
    // Whatever ends it, its end is told once.
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
    // Node holds a caller to the bound only once he has acknowledged it.
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

  /** Resets all that have not proved themselves. */
  close(): void {
    const all = [...this.#unproven.values()];
    // None of them is served in the place of another one.
    this.#unproven.clear();
    this.#unprovenOf.clear();
    this.#servedOf.clear();
    this.#served = 0;
    for (const { socket, timer } of all) {
      clearTimeout(timer);
      socket.resetAndDestroy();
    }
  }

  /** Ends the connections that have been let in. */
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

  /** Twice as many as before, where half of them are open. */
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

  /** The oldest goes, of that address where it has too many itself. */
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
      // Readable is also what has ended.
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

  /** Whether one of that address that is served keeps another one waiting. */
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
