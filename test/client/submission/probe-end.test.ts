import { describe, expect, test } from "@jest/globals";
import { endOfProbe } from "../../../client/submission/probe-end.ts";
import type { DelayReason } from "../../../src/job/reasons/waits.ts";
import { aReport } from "../application-report.ts";

const noNode: DelayReason = {
  code: "am-no-node",
  queue: "ml",
  active: 1,
  labels: ["gpu"],
  lost: ["n1"],
  unhealthy: [],
};

/** A probe whose application is reported so, the last for ever, with a clock that pauses advance. */
function probe(...reports: ReturnType<typeof aReport>[]) {
  const killed: (string | undefined)[] = [];
  const waits: [number, string][] = [];
  const stop = new AbortController();
  let nowMs = 0;
  const manager = {
    report: async () => (reports.length > 1 ? (reports.shift() ?? aReport()) : (reports[0] ?? aReport())),
    kill: async (_id: string, { diagnostics }: { readonly diagnostics?: string } = {}) => {
      killed.push(diagnostics);
    },
  };
  const watch = {
    limitMs: 60_000,
    now: () => nowMs,
    stop: stop.signal,
    waiting: (waitedMs: number, { code }: DelayReason) => void waits.push([waitedMs, code]),
    pause: async () => {
      nowMs += 20_000;
    },
  };
  const end = (changes: Partial<typeof manager> = {}) =>
    endOfProbe("application_1_0001", { ...manager, ...changes }, { reason: async () => noNode }, watch);
  return { end, killed, waits, stop };
}

describe("the application that checks the nodes", () => {
  test("has ended, and nothing is left to do", async () => {
    const report = aReport({ state: "FINISHED" });
    const { end, killed } = probe(aReport(), report);
    expect(await end()).toEqual({ report });
    expect(killed).toEqual([]);
  });

  test("that gets no container says while it waits for what, and is ended in time", async () => {
    const { end, killed, waits } = probe(aReport());
    expect(await end()).toEqual({ late: noNode });
    expect(waits).toEqual([0, 20_000, 40_000].map((waitedMs) => [waitedMs, "am-no-node"]));
    expect(killed).toEqual(["the probe took too long"]);
  });

  test("is ended when it is stopped, and that is said", async () => {
    const { end, killed, stop } = probe(aReport());
    stop.abort("Ctrl-C");
    await expect(end()).rejects.toMatchObject({
      code: "STOPPED",
      exitCode: 4,
      message: "Stopped by Ctrl-C during the last check, whose application is ended: application_1_0001",
    });
    expect(killed).toEqual(["killed by Ctrl-C at the client"]);
  });

  test("that has ended when it is stopped is told as it ended", async () => {
    const report = aReport({ state: "FINISHED" });
    const { end, killed, stop } = probe(report);
    stop.abort("Ctrl-C");
    expect([await end(), killed]).toEqual([{ report }, []]);
  });

  test("is ended where nothing is heard of it; what cannot be ended is named", async () => {
    const report = async () => Promise.reject(new Error("no answer"));
    const { end, killed } = probe();
    await expect(end({ report })).rejects.toThrow("no answer");
    expect(killed).toEqual(["nothing was heard of the probe"]);
    await expect(end({ report, kill: async () => Promise.reject(new Error("away")) })).rejects.toThrow(
      /^application_1_0001, which checks the nodes, could not be ended: away\n {2}tony-ts kill application_1_0001$/,
    );
  });
});
