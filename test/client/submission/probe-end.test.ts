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
  let looks = 0;
  const waits: [number, string][] = [];
  const stop = new AbortController();
  let nowMs = 1_000_000;
  const manager = {
    report: async () => {
      looks += 1;
      return reports.length > 1 ? (reports.shift() ?? aReport()) : (reports[0] ?? aReport());
    },
    kill: async (_id: string, options: { readonly diagnostics?: string; readonly timeoutMs?: number } = {}) => {
      expect(options.timeoutMs).toBe(10_000);
      killed.push(options.diagnostics);
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
  const end = (changes: Partial<typeof manager> = {}, pause = watch.pause) =>
    endOfProbe("application_1_0001", { ...manager, ...changes }, { reason: async () => noNode }, { ...watch, pause });
  return { end, killed, waits, stop, looks: () => looks };
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
    const away = new Error("away");
    const unended = {
      code: "STILL_RUNNING",
      exitCode: 5,
      message:
        "application_1_0001, which checks the nodes, could not be ended: away\n  tony-ts kill application_1_0001",
      cause: away,
    };
    const kill = async () => Promise.reject(away);
    await expect(end({ report, kill })).rejects.toMatchObject(unended);
    await expect(probe(aReport()).end({ kill })).rejects.toMatchObject(unended);
  });

  test("is looked for again only after a pause", async () => {
    const { end, looks } = probe(aReport());
    void end({}, () => new Promise<void>(() => undefined));
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(looks()).toBe(1);
  });
});
