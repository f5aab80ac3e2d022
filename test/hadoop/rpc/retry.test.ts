import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RpcConnectionError, RpcProtocolError, RpcTimeoutError } from "../../../src/hadoop/rpc/errors.ts";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import { decideRetry, type FailedTry, noRetry, type RetryPolicy } from "../../../src/hadoop/rpc/retry.ts";

const policy: RetryPolicy = { giveUpAfterMs: 10_000, firstDelayMs: 100, longestDelayMs: 1_000 };
const refused = new RpcConnectionError("refused", { code: "RPC_CONNECT_FAILED" });
const lost = new RpcConnectionError("lost", { code: "RPC_CONNECTION_LOST" });
const standby = new RemoteError("org.apache.hadoop.ipc.StandbyException", "standby");
const invalid = new RemoteError("org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException", "too large");
const fail = { kind: "fail" };

function failed(changes: Partial<FailedTry>): FailedTry {
  return { error: refused, tries: 1, elapsedMs: 0, endpointCount: 1, repeatable: true, ...changes };
}

describe("whether a failed try is repeated", () => {
  test.each([
    ["a refused connection", refused, true],
    ["a lost connection", lost, true],
    ["no answer in time", new RpcTimeoutError("slow"), true],
    ["a standby", standby, true],
    ["an invalid request", invalid, false],
    ["a server of another kind", new RpcProtocolError("HTTP"), false],
    ["our own closing", new RpcConnectionError("closed", { code: "RPC_CLOSED" }), false],
    ["an error of the program", new TypeError("undefined is not a function"), false],
  ])("%s", (_, error, repeated) => {
    expect(decideRetry(failed({ error }), policy, 0).kind).toBe(repeated ? "retry" : "fail");
  });

  test("what may not be done twice is repeated only when the server did not do it", () => {
    expect(decideRetry(failed({ error: lost, repeatable: false }), policy, 0)).toEqual(fail);
    expect(decideRetry(failed({ error: new RpcTimeoutError("slow"), repeatable: false }), policy, 0)).toEqual(fail);
    expect(decideRetry(failed({ error: refused, repeatable: false }), policy, 0).kind).toBe("retry");
    expect(decideRetry(failed({ error: standby, repeatable: false }), policy, 0).kind).toBe("retry");
  });

  test("not beyond the policy's time, and never without one", () => {
    expect(decideRetry(failed({ elapsedMs: 10_000 }), policy, 0)).toEqual(fail);
    expect(decideRetry(failed({}), noRetry, 0)).toEqual(fail);
  });
});

describe("where and when", () => {
  test("one endpoint: each try waits twice as long, up to the longest", () => {
    const delays = [1, 2, 3, 4, 5, 6, 60].map((tries) => decideRetry(failed({ tries }), policy, 1));
    expect(delays.map((decision) => decision.kind === "retry" && decision.delayMs)).toEqual([
      100, 200, 400, 800, 1_000, 1_000, 1_000,
    ]);
  });

  test("several endpoints: the others are tried at once, then a round waits", () => {
    const decide = (tries: number) => decideRetry(failed({ tries, endpointCount: 3 }), policy, 1);
    expect([1, 2, 3, 4, 5, 6].map(decide)).toEqual(
      [0, 0, 100, 0, 0, 200].map((delayMs) => ({ kind: "retry", delayMs, moveOn: true, roundIsOver: delayMs > 0 })),
    );
  });

  test.each([
    ["refuses the connection", refused],
    ["loses it", lost],
    ["does not answer in time", new RpcTimeoutError("slow")],
    ["is a standby", standby],
  ])("an endpoint that %s is left for the next", (_, error) => {
    expect(decideRetry(failed({ error, endpointCount: 2 }), policy, 1)).toMatchObject({ moveOn: true, delayMs: 0 });
    expect(decideRetry(failed({ error, endpointCount: 1 }), policy, 1)).toMatchObject({ moveOn: false });
  });

  test("an endpoint that is not ready yet is waited for, not left", () => {
    const error = new RemoteError("org.apache.hadoop.ipc.RetriableException", "starting");
    expect(decideRetry(failed({ error, endpointCount: 2 }), policy, 1)).toEqual({
      kind: "retry",
      delayMs: 100,
      moveOn: false,
      roundIsOver: true,
    });
  });

  test("chance spreads a delay over its upper half", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 1_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (tries, random) => {
          const decision = decideRetry(failed({ tries: tries + 1 }), policy, random);
          const full = Math.min(1_000, 100 * 2 ** tries);
          expect(decision.kind === "retry" && decision.delayMs).toBeGreaterThanOrEqual(full / 2);
          expect(decision.kind === "retry" && decision.delayMs).toBeLessThanOrEqual(full);
        },
      ),
    );
  });
});

test("clients that failed together come back apart: each waits a random half to the whole delay", () => {
  const delayOf = (random: number) => {
    const decision = decideRetry(failed({ tries: 2 }), policy, random);
    return decision.kind === "retry" ? decision.delayMs : undefined;
  };
  expect([delayOf(0), delayOf(0.5), delayOf(1)]).toEqual([100, 150, 200]);
});
