import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import type { ProgressReport } from "../../executor/monitoring/progress-file.ts";
import { Reports } from "../../executor/reports.ts";
import type { ExecutorReport, Metrics } from "../../src/api/messages.ts";
import type { ChildExit } from "../../src/job/execution.ts";
import type { Transfer } from "../../src/job/status.ts";
import { childExit } from "../support/child-exit.ts";

const heartbeatIntervalMs = 1_000;
const service = { type: "service-announced", name: "tensorboard", url: "http://node:1" } as const;
const progress = (step: number): ProgressReport => ({ type: "child-progress", step, atMs: 1 });
const heartbeat = { type: "heartbeat", sentAtMs: 7 } as const;

describe("what the ApplicationMaster hears of a task", () => {
  let sent: ExecutorReport[];
  let current: { number: number; metrics: Metrics | undefined; exit: ChildExit | undefined; exitAcknowledged: boolean };
  let carried: ProgressReport | undefined;
  let reports: Reports;

  beforeEach(() => {
    jest.useFakeTimers();
    sent = [];
    current = { number: 1, metrics: undefined, exit: undefined, exitAcknowledged: false };
    carried = undefined;
    reports = new Reports({
      send: (_generation, report) => sent.push(report),
      current: () => current,
      carried: () => carried,
      nowMs: () => 7,
    });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const repeated = () => {
    sent = [];
    reports.joined(heartbeatIntervalMs);
    reports.left();
    return sent.slice(1);
  };

  it("is of the generation that it is about; of heartbeats only the last one is sent that waits, as the sender of others says", () => {
    const send = jest.fn();
    reports = new Reports({ send, current: () => current, carried: () => carried, nowMs: () => 7 });
    reports.send(3, progress(1), "progress");
    reports.joined(heartbeatIntervalMs);
    reports.left();
    expect(send.mock.calls).toEqual([
      [3, progress(1), "progress"],
      [1, heartbeat, "heartbeat"],
    ]);
  });

  it("is a heartbeat at once and in each interval, until the stream is gone", () => {
    reports.joined(heartbeatIntervalMs);
    jest.advanceTimersByTime(heartbeatIntervalMs);
    reports.left();
    jest.advanceTimersByTime(10 * heartbeatIntervalMs);
    expect(sent).toEqual([heartbeat, heartbeat]);
  });

  it("is each sample of the metrics once on a stream", () => {
    const metrics = { memoryBytes: 1, maxMemoryBytes: 1, averageMemoryBytes: 1, cpuCores: 0, cpuMs: 0, processes: 1 };
    current.metrics = metrics;
    reports.joined(heartbeatIntervalMs);
    jest.advanceTimersByTime(heartbeatIntervalMs);
    reports.joined(heartbeatIntervalMs);
    reports.left();
    expect(sent).toEqual([{ ...heartbeat, metrics }, heartbeat, { ...heartbeat, metrics }]);
  });

  it("is, with a registration, the last progress of the program that this is of", () => {
    expect(reports.progress).toBeUndefined();
    reports.send(1, progress(3));
    expect(reports.progress).toEqual(progress(3));
    current.number = 2;
    reports.send(1, progress(4));
    expect(reports.progress).toBeUndefined();
  });

  it("is the service and the last progress again on a new stream", () => {
    for (const report of [service, progress(1), progress(2)]) reports.send(1, report);
    expect(repeated()).toEqual([service, progress(2)]);
  });

  it("is again how the last upload of each kind goes, for none knows whether that was heard, also of an earlier generation", () => {
    const upload = (what: Transfer["what"], state: Transfer["state"]) => {
      const transfer = { what, state, url: "hdfs:///out", files: 1, bytes: 1, step: 0, atMs: 1, reason: "" };
      return { type: "transfer", transfer } as const;
    };
    const [checkpoint, output] = [upload("checkpoint", "failed"), upload("output", "done")];
    for (const report of [upload("output", "under-way"), checkpoint, output]) reports.send(1, report);
    current.number = 2;
    expect(repeated()).toEqual([output, checkpoint]);
  });

  it("is the program's end again on each new stream, before all else, until it has recorded that", () => {
    current.exit = childExit(1, { exitCode: 3 });
    const end = { type: "child-exited", exit: current.exit };
    reports.send(1, service);
    expect([repeated(), repeated()]).toEqual([
      [end, service],
      [end, service],
    ]);
    current.exitAcknowledged = true;
    expect(repeated()).toEqual([service]);
  });

  it("is nothing again that was said of an earlier generation, even if it was said late", () => {
    reports.send(1, service);
    current.number = 2;
    reports.send(1, progress(9));
    expect(repeated()).toEqual([]);
    reports.send(2, progress(1));
    reports.send(1, progress(9));
    expect(repeated()).toEqual([progress(1)]);
  });

  it("is the checkpoint that was brought up, while the program has said nothing", () => {
    carried = progress(0);
    expect(repeated()).toEqual([carried]);
    reports.send(1, progress(3));
    expect(repeated()).toEqual([progress(3)]);
  });
});
