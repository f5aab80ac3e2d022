import { getEventListeners, getMaxListeners } from "node:events";
import { expect, test } from "@jest/globals";
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
