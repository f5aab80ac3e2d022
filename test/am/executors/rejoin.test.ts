import { describe, expect, test } from "@jest/globals";
import { rejoin } from "../../../am/executors/rejoin.ts";
import { makeIdentity } from "../../../src/api/identity.ts";
import type { RejoinCall } from "../../../src/api/rejoin.ts";

/** A later attempt that calls so many executors, of which those by their number answer from that try on. */
async function calledOf(count: number, answersFrom: Readonly<Record<number, number>> = {}) {
  const calls: RejoinCall[] = [];
  const pauses: number[] = [];
  const busy = { now: 0, most: 0 };
  const executors = Array.from({ length: count }, (_, at) => ({
    address: `h${at}:1`,
    containerId: `c${at}`,
    task: `worker:${at}`,
  }));
  const caller = { identity: makeIdentity("application_1_0001"), build: "test", attempt: 2, masterAddress: "h:9" };
  await rejoin(executors, caller, {
    async call(call) {
      calls.push(call);
      busy.now += 1;
      busy.most = Math.max(busy.most, busy.now);
      await Promise.resolve();
      busy.now -= 1;
      const tries = calls.filter(({ rejoinAddress }) => rejoinAddress === call.rejoinAddress).length;
      if (tries < (answersFrom[Number(call.rejoinAddress.slice(1, -2))] ?? 1)) throw new Error("no answer");
    },
    sleep: async (ms) => void pauses.push(ms),
  });
  return { calls, pauses, busy };
}

describe("the executors of an earlier attempt", () => {
  test("are each called once, as who they are, however many there are, 64 at a time", async () => {
    const { calls, pauses, busy } = await calledOf(200);
    expect(new Set(calls.map(({ rejoinAddress }) => rejoinAddress)).size).toBe(200);
    expect(calls).toHaveLength(200);
    expect(calls[7]).toMatchObject({ attempt: 2, masterAddress: "h:9", identity: { caller: { name: "c7" } } });
    expect([pauses, busy.most]).toEqual([[], 64]);
  });

  test("that do not answer are called three times, with a pause of two seconds, and no others wait for them", async () => {
    const { calls, pauses } = await calledOf(3, { 0: 9, 1: 2 });
    const triesOf = (at: number) => calls.filter(({ rejoinAddress }) => rejoinAddress === `h${at}:1`).length;
    expect([0, 1, 2].map(triesOf)).toEqual([3, 2, 1]);
    expect(pauses).toEqual([2_000, 2_000, 2_000]);
  });
});
