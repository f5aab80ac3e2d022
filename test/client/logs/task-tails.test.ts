import { getEventListeners, getMaxListeners } from "node:events";
import { beforeEach, describe, expect, test } from "@jest/globals";
import type { LogPiece, LogRequest, MasterLink } from "../../../client/following/master-link.ts";
import { TaskTails } from "../../../client/logs/task-tails.ts";
import type { TaskStatus } from "../../../src/job/status.ts";

/** An AM whose logs stay open: each reader waits for the signal, as a real stream does. */
class OpenLogs implements MasterLink {
  readonly signals = new Set<AbortSignal>();

  async *readLog({ task, stream }: LogRequest, signal: AbortSignal): AsyncGenerator<LogPiece> {
    this.signals.add(signal);
    yield { offset: 0, data: Buffer.from(`${stream} of ${task}\n`), generation: 1, skippedBytes: 0 };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  }

  async *follow(): AsyncGenerator<never> {}
  async stop(): Promise<void> {}
  close(): void {}
}

test("any number of tasks is followed at once, without Node's warning of a leak", async () => {
  const lines: string[] = [];
  const tails = new TaskTails((task, line) => lines.push(`${task} | ${line}`));
  const logs = new OpenLogs();
  tails.attach(logs);
  const tasks = Array.from({ length: 8 }, (_, index): TaskStatus => {
    return { task: `worker:${index}`, state: "running", restarts: 0 };
  });
  tails.follow(tasks);
  await tails.finish(100);

  expect(lines).toHaveLength(16);
  for (const signal of logs.signals) {
    expect(getMaxListeners(signal)).toBeGreaterThan(getEventListeners(signal, "abort").length);
  }
});

test("nothing is left to wait for when all logs have ended before the limit", async () => {
  const waiting = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
  const before = waiting();
  await new TaskTails(() => undefined).finish(60_000);

  expect(waiting()).toBe(before);
});

/** Longer than any test may take. */
const longMs = 600_000;

const task = { task: "worker:0", state: "running", restarts: 0 } as const;

function linkThatReads(readLog: (request: LogRequest) => AsyncGenerator<LogPiece>): MasterLink {
  return { follow: async function* () {}, readLog, stop: async () => {}, close: () => {} };
}

const piece = (text: string): LogPiece => ({ offset: 0, data: Buffer.from(text), generation: 0, skippedBytes: 0 });

describe("the end of a job whose output is followed", () => {
  let printed: string[];
  let tails: TaskTails;
  beforeEach(() => {
    printed = [];
    tails = new TaskTails((name, line) => printed.push(`${name} | ${line}`));
  });

  test("waits for the rest that the ApplicationMaster is sending", async () => {
    let send: () => void = () => {};
    const sent = new Promise<void>((resolve) => {
      send = resolve;
    });
    tails.attach(
      linkThatReads(async function* ({ stream }) {
        await sent;
        if (stream === "stdout") yield piece("last words\nand an unfinished line");
      }),
    );
    tails.follow([task]);
    const finished = tails.finish(longMs);
    send();
    await finished;
    expect(printed).toEqual(["worker:0 | last words", "worker:0 | and an unfinished line"]);
  });

  test("does not wait for an ApplicationMaster that is gone", async () => {
    let reads = 0;
    tails.attach(
      // biome-ignore lint/correctness/useYield: it breaks before its first piece
      linkThatReads(async function* () {
        reads += 1;
        throw new Error("connection refused");
      }),
    );
    tails.follow([task]);
    await tails.finish(longMs);
    expect(reads).toBe(2);
  });
});
