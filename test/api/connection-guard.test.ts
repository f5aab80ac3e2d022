import { EventEmitter } from "node:events";
import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { callLimitsOf } from "../../src/api/caller-calls.ts";
import {
  ConnectionGuard,
  FIRST_STREAMS,
  type GuardLimits,
  guardLimitsOf,
  MOST_HEADERS_BYTES,
  MOST_STREAMS,
} from "../../src/api/connection-guard.ts";
import { Leavings } from "../../src/api/leavings.ts";

const limits: GuardLimits = {
  proofMs: 10_000,
  refusedMs: 1_000,
  mostRefusals: 2,
  mostUnprovenCalls: 4,
  mostUnproven: 2,
  mostUnprovenOfAddress: 100,
  mostServed: 100,
  mostServedOfAddress: 100,
  turnMs: 2_000,
  mostProvenRefusals: 3,
  mostOfCaller: 2,
  mostFurtherCalls: 40,
};

let guard: ConnectionGuard;
beforeEach(() => {
  jest.useFakeTimers();
  guard = new ConnectionGuard(limits);
});
afterEach(() => {
  guard.close();
  jest.useRealTimers();
});

/** A connection from that port, which is told apart from another one that has the port later. */
class Connection extends Socket {
  reset = false;

  constructor(port: number, address = "10.0.0.1") {
    super();
    Object.defineProperties(this, { remoteAddress: { value: address }, remotePort: { value: port } });
    guard.admit(this, () => undefined);
  }
  /** Something of it may be read. */
  get isServed(): boolean {
    return this.listenerCount("readable") > 0;
  }
  override resetAndDestroy(): this {
    this.reset = true;
    return this;
  }
  /** Its end is told. */
  over(): void {
    EventEmitter.prototype.emit.call(this, "close");
  }
}
const peer = (port: number) => `10.0.0.1:${port}`;

describe("a connection that has not proved itself", () => {
  test("is reset when its time is up", () => {
    const connection = new Connection(1);
    jest.advanceTimersByTime(limits.proofMs - 1);
    expect(connection.reset).toBe(false);
    jest.advanceTimersByTime(1);
    expect(connection.reset).toBe(true);
  });

  test("has a moment from its first refusal on, and no more from further ones", () => {
    const connection = new Connection(1);
    guard.refused(peer(1));
    jest.advanceTimersByTime(limits.refusedMs - 1);
    guard.refused(peer(1));
    expect(connection.reset).toBe(false);
    jest.advanceTimersByTime(1);
    expect(connection.reset).toBe(true);
  });

  test("is reset by too many calls, whatever becomes of them, and by one with long headers", () => {
    const [many, long] = [new Connection(1), new Connection(2)];
    for (let calls = 0; calls < limits.mostUnprovenCalls; calls += 1) guard.called(peer(1), MOST_HEADERS_BYTES);
    expect(many.reset).toBe(false);
    guard.called(peer(1), 100);
    expect(many.reset).toBe(true);
    guard.called(peer(2), MOST_HEADERS_BYTES + 1);
    expect(long.reset).toBe(true);
  });

  test("is reset by too many refusals, and the oldest by too many others", () => {
    const [first, second] = [new Connection(1), new Connection(2)];
    for (let refusals = 0; refusals <= limits.mostRefusals; refusals += 1) guard.refused(peer(2));
    expect([first.reset, second.reset]).toEqual([false, true]);
    new Connection(3);
    new Connection(4);
    expect(first.reset).toBe(true);
  });

  test("is reset by too many others of its address, before one of another address that is older", () => {
    guard = new ConnectionGuard({ ...limits, mostUnproven: 100, mostUnprovenOfAddress: 2 });
    const other = new Connection(1, "10.0.0.2");
    const [first, second, third] = [1, 2, 3].map((port) => new Connection(port));
    expect([other.reset, first?.reset, second?.reset, third?.reset]).toEqual([false, true, false, false]);
    guard.proven(peer(2), "worker");
    const fourth = new Connection(4);
    expect([third?.reset, fourth.reset]).toEqual([false, false]);
  });

  test("is not forgotten by the late end of the one that had its port before", () => {
    const earlier = new Connection(1);
    const later = new Connection(1);
    earlier.over();
    jest.advanceTimersByTime(limits.proofMs);
    expect(later.reset).toBe(true);
  });
});

describe("of connections that have not proved themselves, beyond what is served at a time", () => {
  beforeEach(() => {
    guard = new ConnectionGuard({ ...limits, mostUnproven: 6, mostServed: 3, mostServedOfAddress: 2 });
  });
  const several = (address: string, ...ports: readonly number[]) => ports.map((port) => new Connection(port, address));
  const served = (connections: readonly Connection[]) => connections.map(({ isServed }) => isServed);

  test("nothing is read, until one of the same address has proved itself: then the newest is served", () => {
    const own = several("10.0.0.1", 1, 2, 3, 4);
    const [other] = several("10.0.0.2", 5);
    expect([...served(own), other?.isServed]).toEqual([true, true, false, false, true]);
    guard.proven(peer(1), "worker");
    expect(served(own)).toEqual([true, true, false, true]);
  });

  test("each takes the place of one whose turn is over, at once or when it is", () => {
    const own = several("10.0.0.1", 1, 2, 3);
    jest.advanceTimersByTime(limits.turnMs - 1);
    expect(own.map(({ reset }) => reset)).toEqual([false, false, false]);
    jest.advanceTimersByTime(1);
    expect(own.map(({ reset, isServed }) => (reset ? "reset" : isServed))).toEqual(["reset", true, true]);
    jest.advanceTimersByTime(limits.turnMs);
    const [late] = several("10.0.0.1", 4);
    expect(late?.isServed).toBe(true);
    expect(own.map(({ reset }) => reset)).toEqual([true, true, false]);
  });

  test("one of another address takes no place of an address that has fewer than it may, unless all are taken", () => {
    const own = several("10.0.0.1", 1, 2);
    jest.advanceTimersByTime(limits.turnMs);
    const [second, third] = [...several("10.0.0.2", 3), ...several("10.0.0.3", 4)];
    expect(own.map(({ reset }) => reset)).toEqual([true, false]);
    expect([second?.isServed, third?.isServed]).toEqual([true, true]);
  });

  test("those that wait are reset when their time is up", () => {
    guard = new ConnectionGuard({ ...limits, mostUnproven: 6, mostServed: 1, turnMs: limits.proofMs });
    const [first, second, third] = several("10.0.0.1", 1, 2, 3);
    jest.advanceTimersByTime(limits.proofMs);
    expect(second?.reset).toBe(true);
    expect([first?.reset, third?.isServed]).toEqual([true, true]);
  });

  test("none is served when the port closes", () => {
    const all = several("10.0.0.1", 1, 2, 3);
    guard.close();
    expect(all.map(({ reset }) => reset)).toEqual([true, true, true]);
    expect(served(all)).toEqual([true, true, false]);
  });
});

test("each call and each connection that ends is a reason to look at the memory", () => {
  const leavings = new Leavings();
  const notice = jest.spyOn(leavings, "notice");
  guard = new ConnectionGuard({ ...limits, mostUnproven: 100 }, leavings);
  const [first] = Array.from({ length: 20 }, (_, port) => new Connection(port));
  guard.called(peer(1), 100);
  first?.over();
  expect(notice).toHaveBeenCalledTimes(2);
  jest.advanceTimersByTime(limits.proofMs);
  expect(notice).toHaveBeenCalledTimes(21);
});

describe("a connection that has proved itself", () => {
  test("leaves nothing to the one that has its port next, which has all of its time", () => {
    const earlier = new Connection(1);
    guard.proven(peer(1), "worker");
    jest.advanceTimersByTime(limits.proofMs - 1);
    earlier.over();
    const later = new Connection(1);
    jest.advanceTimersByTime(limits.proofMs - 1);
    expect(later.reset).toBe(false);
    jest.advanceTimersByTime(1);
    expect(later.reset).toBe(true);
  });

  test("is left alone, but for too many refusals", () => {
    const connection = new Connection(1);
    expect(guard.proven(peer(1), "worker")).toBe(true);
    jest.advanceTimersByTime(10 * limits.proofMs);
    for (let refusals = 0; refusals < limits.mostProvenRefusals; refusals += 1) guard.refused(peer(1));
    expect(connection.reset).toBe(false);
    guard.refused(peer(1));
    expect(connection.reset).toBe(true);
  });

  test("may make any number of calls, and is reset by one with long headers", () => {
    const connection = new Connection(1);
    guard.proven(peer(1), "worker");
    for (let calls = 0; calls <= limits.mostUnprovenCalls; calls += 1) guard.called(peer(1), MOST_HEADERS_BYTES);
    expect(connection.reset).toBe(false);
    guard.called(peer(1), MOST_HEADERS_BYTES + 1);
    expect(connection.reset).toBe(true);
  });

  test("shares the refusals that it may have with the others of its caller, as long as they last", () => {
    const [first, second] = [1, 2].map((port) => {
      const connection = new Connection(port);
      guard.proven(peer(port), "worker");
      return connection;
    });
    for (let refusals = 0; refusals < limits.mostProvenRefusals; refusals += 1) guard.refused(peer(1));
    first?.over();
    for (let refusals = 0; refusals < limits.mostProvenRefusals; refusals += 1) guard.refused(peer(2));
    expect(second?.reset).toBe(false);
    new Connection(3);
    guard.proven(peer(3), "worker");
    guard.refused(peer(3));
    expect([first?.reset, second?.reset]).toEqual([false, false]);
    guard.refused(peer(2));
    expect(second?.reset).toBe(true);
  });

  test("may have twice as many calls open once half of them are let in, all of its caller together so many", () => {
    const connections = [1, 2].map((port) => {
      const connection = new Connection(port);
      const allowed: number[] = [];
      guard.opened(peer(port), (most) => allowed.push(most));
      return { connection, peer: peer(port), allowed };
    });
    const [first, second] = connections;
    if (first === undefined || second === undefined) throw new RangeError("there are two");
    const letIn = (calls: number, of: string) => {
      for (let call = 0; call < calls; call += 1) guard.proven(of, "worker");
    };
    letIn(FIRST_STREAMS / 2, first.peer);
    expect(first.allowed).toEqual([]);
    guard.left(first.peer);
    letIn(1, first.peer);
    expect(first.allowed).toEqual([]);
    letIn(1, first.peer);
    expect(first.allowed).toEqual([32]);
    letIn(32, first.peer);
    expect(first.allowed).toEqual([32, 56]);
    letIn(16, second.peer);
    expect(second.allowed).toEqual([]);
    first.connection.over();
    letIn(1, second.peer);
    expect(second.allowed).toEqual([32]);
  });

  test("counts for its caller until it is over, each once", () => {
    const connections = [1, 2, 3].map((port) => {
      const connection = new Connection(port);
      return { port, connection, enters: guard.proven(peer(port), "worker") };
    });
    expect(connections.map(({ enters }) => enters)).toEqual([true, true, false]);
    expect(guard.proven(peer(1), "worker")).toBe(true);
    expect(guard.proven(peer(3), "another")).toBe(true);
    connections[0]?.connection.over();
    connections[0]?.connection.over();
    new Connection(4);
    expect(guard.proven(peer(4), "worker")).toBe(true);
    new Connection(5);
    expect(guard.proven(peer(5), "worker")).toBe(false);
  });
});

test("a port that closes resets those that have not proved themselves, leaves the others until they are cut off, and starts anew", () => {
  const [proven, unproven] = [1, 2].map((port) => new Connection(port));
  const destroyed: number[] = [];
  proven?.once("close", () => destroyed.push(1));
  guard.proven(peer(1), "worker");
  guard.close();
  expect([proven?.reset, unproven?.reset, proven?.destroyed]).toEqual([false, true, false]);
  jest.advanceTimersByTime(2 * limits.proofMs);
  guard.cutOff();
  expect(proven?.destroyed).toBe(true);
});

test("a connection of no address is none", () => {
  const gone = new Socket();
  guard.admit(gone, () => undefined);
  expect(gone.destroyed).toBe(true);
});

test("no connection may have more calls open than any client has use for", () => {
  guard = new ConnectionGuard({ ...limits, mostFurtherCalls: 10 * MOST_STREAMS });
  const allowed: number[] = [];
  new Connection(1);
  guard.opened(peer(1), (most) => allowed.push(most));
  for (let call = 0; call < MOST_STREAMS; call += 1) guard.proven(peer(1), "worker");
  expect(allowed.slice(0, 2)).toEqual([32, 64]);
  expect(allowed.at(-1)).toBe(MOST_STREAMS);
});

test("a job of many tasks has calls enough for each to be read, four times over on its connections", () => {
  const { mostCalls, mostAsking, mostWaiting, askingMs } = callLimitsOf(0);
  expect([mostAsking, mostWaiting, mostCalls, askingMs]).toEqual([8, 32, 256, 20_000]);
  expect(callLimitsOf(100).mostCalls).toBe(256 + 1_600);
  expect(guardLimitsOf(callLimitsOf(100)).mostFurtherCalls).toBe(4 * (256 + 1_600));
  expect(guardLimitsOf()).toEqual({
    ...{ proofMs: 10_000, refusedMs: 1_000, turnMs: 2_000 },
    ...{ mostRefusals: 8, mostUnprovenCalls: 16, mostProvenRefusals: 64, mostOfCaller: 64, mostFurtherCalls: 1_024 },
    ...{ mostUnproven: 1_024, mostUnprovenOfAddress: 256, mostServed: 256, mostServedOfAddress: 16 },
  });
});
