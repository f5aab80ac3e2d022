import { describe, expect, it, test } from "@jest/globals";
import { bounded, boundedCall, boundedRegistration, unbelievable } from "../../src/api/believable.ts";
import type { Metrics } from "../../src/api/messages.ts";
import { aRegistration } from "../support/api.ts";
import { childExit } from "../support/child-exit.ts";

describe("where a task says that it listens", () => {
  it.each(["node-1", "node_1.example.com", "node-1.", "10.0.0.7", "::1", "fe80::1", "7"])("may be %s", (host) => {
    expect(unbelievable(aRegistration({ host }))).toBeUndefined();
  });

  it.each([
    "",
    "node;reboot",
    "$(id)",
    "a b",
    "a'b",
    'a"b',
    "a\nb",
    "-oProxyCommand=x",
    "[::1]",
    "a:1",
    "a,b",
    "{{spec.json}}",
    "x".repeat(256),
  ])("may not be %j, which would be written into other tasks' commands", (host) => {
    expect(unbelievable(aRegistration({ host }))).toContain("its host is not a host name");
  });

  it("has no port that there is not", () => {
    for (const wrong of [{ port: 65_536 }, { port: -1 }, { tensorboardPort: 65_536 }])
      expect(unbelievable(aRegistration(wrong))).toBe("it names a port that does not exist");
    expect(unbelievable(aRegistration({ port: 65_535, tensorboardPort: 0 }))).toBeUndefined();
    expect(unbelievable(aRegistration({ ports: { rpc: 70_000 } }))).toContain("port");
    expect(unbelievable(aRegistration({ ports: { rpc: 65_535 } }))).toBeUndefined();
  });

  it("has no more ports and no longer names than a role may have, and is called back at an address", () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`p${at}`, 1]));
    for (const ports of [many, { ["x".repeat(301)]: 1 }])
      expect(unbelievable(aRegistration({ ports }))).toBe("it names ports that no role has");
    expect(unbelievable(aRegistration({ rejoinAddress: "x".repeat(301) }))).toContain("is not valid");
    const { p0: _one, ...most } = many;
    expect(unbelievable(aRegistration({ ports: most, rejoinAddress: "x".repeat(300) }))).toBeUndefined();
    expect(unbelievable(aRegistration({ ports: { ["x".repeat(300)]: 1 } }))).toBeUndefined();
  });
});

test("a generation that an executor says it is in has many after it", () => {
  expect(unbelievable(aRegistration({ generation: 2 ** 32 - 1 }))).toBe("it is of a generation that there cannot be");
  expect(unbelievable(aRegistration({ generation: 2 ** 31 }))).toBeUndefined();
});

describe("what an executor reports", () => {
  const progress = { type: "child-progress", step: 1, atMs: 1 } as const;

  it("has 32 metrics at most, and none whose name our own executors would not send", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`m${at}`, at]));
    expect(Object.keys(bounded({ ...progress, metrics: many }).metrics ?? {})).toHaveLength(32);
    const odd = { loss: Number.NaN, "a b": 1, ["x".repeat(65)]: 1, "": 1 };
    expect(bounded({ ...progress, metrics: odd }).metrics).toEqual({ loss: Number.NaN });
    expect(bounded(progress)).toEqual(progress);
  });

  it("is measured in numbers alone: a status and a history are JSON, which has none for others", () => {
    const use = { memoryBytes: 1, maxMemoryBytes: 1, averageMemoryBytes: 1, cpuCores: 0.5, cpuMs: 1, processes: 1 };
    const gauge = { current: 80, max: 97, average: 60 };
    const heartbeat = (metrics: Metrics) => bounded({ type: "heartbeat", sentAtMs: 1, metrics }).metrics;
    const measured = { ...use, gpus: { count: 1, utilization: gauge } };
    expect(heartbeat(measured)).toEqual(measured);
    expect(heartbeat({ ...use, cpuCores: Number.NaN })).toBeUndefined();
    const endless = { ...gauge, max: Number.POSITIVE_INFINITY };
    expect(heartbeat({ ...use, gpus: { count: 1, memory: endless } })).toBeUndefined();
    expect(heartbeat({ ...use, gpus: { count: 1, devices: [{ utilization: Number.NaN }] } })).toBeUndefined();
    const disk = { readBytesPerSecond: Number.POSITIVE_INFINITY, writtenBytesPerSecond: 0 };
    expect(heartbeat({ ...use, disk })).toBeUndefined();
  });

  it("is of no more GPUs than a machine has", () => {
    const use = { memoryBytes: 1, maxMemoryBytes: 1, averageMemoryBytes: 1, cpuCores: 0.5, cpuMs: 1, processes: 1 };
    const of = (count: number) =>
      bounded({
        type: "heartbeat",
        sentAtMs: 1,
        metrics: { ...use, gpus: { count, devices: Array.from({ length: count }, () => ({ memory: 1 })) } },
      }).metrics;
    expect(of(64)?.gpus?.devices).toHaveLength(64);
    expect(of(65)).toBeUndefined();
  });

  it("has words of a length that can be kept", () => {
    const long = "x".repeat(100_000);
    const announced = bounded({ type: "service-announced", name: long, url: long });
    expect([announced.name.length, announced.url.length]).toEqual([4_097, 4_097]);
    const { transfer } = bounded({
      type: "transfer",
      transfer: { what: "output", state: "failed", url: long, files: 1, bytes: 1, step: 0, atMs: 1, reason: long },
    });
    expect([transfer.url.length, transfer.reason.length]).toEqual([4_097, 4_097]);
    const place = bounded({ type: "child-place", where: long, isExchange: true, lines: Array(1_000).fill(long) });
    expect([place.where.length, place.lines.length, place.lines[0]?.length]).toEqual([4_097, 100, 4_097]);
    const saved = bounded({ ...progress, checkpoint: { path: long, step: 1, atMs: 1 } });
    expect(saved.checkpoint?.path).toHaveLength(4_097);
    const mark = boundedCall({ type: "mark", label: long, among: [], begun: [] });
    expect(mark.type === "mark" && mark.label.length).toBe(4_097);
    expect(bounded({ type: "goodbye", reason: "done" })).toEqual({ type: "goodbye", reason: "done" });
  });

  it("has words of one line, which cannot pass for another one of a report", () => {
    const url = "hdfs://x/\r\nSUCCEEDED\u2028of its own";
    expect(bounded({ type: "service-announced", name: "a\nb", url })).toMatchObject({
      name: "a b",
      url: "hdfs://x/ SUCCEEDED of its own",
    });
    const exit = childExit(1, { lastLines: ["a\nb"] });
    expect(bounded({ type: "child-exited", exit }).exit.lastLines).toEqual(["a b"]);
  });

  it("is an end that is no longer than our own executors tell of one, whether it is reported or comes with a registration", () => {
    const long = "x".repeat(250_000);
    const said = { traceback: long, errorSummary: long, saidBefore: long, lastLines: [long, "last"], signal: long };
    const errorOrigin = { how: "cause", error: long } as const;
    const misnamed = { kind: "file", missing: long, found: long } as const;
    const exit = childExit(1, { ...said, errorOrigin, misnamed });
    const reported = bounded({ type: "child-exited", exit }).exit;
    expect(reported).toMatchObject({ signal: "SIGUNKNOWN", lastLines: [expect.any(String), "last"], atMs: 1 });
    expect([reported.traceback.length, reported.errorSummary.length, reported.saidBefore?.length]).toEqual([
      65_536, 8_193, 8_193,
    ]);
    expect(reported.errorOrigin?.error).toHaveLength(8_193);
    const { missing, found } = reported.misnamed ?? {};
    expect([reported.lastLines[0], missing, found].map((text) => text?.length)).toEqual([4_097, 4_097, 4_097]);
    const { child } = boundedRegistration(aRegistration({ child: { state: "exited", exit } }));
    expect(child).toEqual({ state: "exited", exit: reported });
  });

  it("is an end as it was told, where it is one of ours", () => {
    for (const signal of ["", "SIGKILL", "SIGRTMIN+3"]) {
      const exit = childExit(1, { signal, lastLines: ["a"], traceback: "b", errorSummary: "c", saidBefore: "d" });
      expect(bounded({ type: "child-exited", exit }).exit).toEqual(exit);
    }
  });
});
