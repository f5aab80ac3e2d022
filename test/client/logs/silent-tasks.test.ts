import { expect, test } from "@jest/globals";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import type { LogSelection } from "../../../client/logs/log-selection.ts";
import { tellFirstFailed, tellSilent, tellWithoutLines } from "../../../client/logs/silent-tasks.ts";
import type { LineFilter } from "../../../src/logs/ordered-output.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, outOfMemory } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

function told(filter: LineFilter, ...tasks: readonly string[]): string {
  const context = recordedContext({});
  tellSilent(tasks, filter, new LogPrinter(context.output));
  return context.err.text;
}

test("of tasks without a line it is said that they printed nothing, or nothing of what was asked for", () => {
  expect(told({}, "worker:0", "worker:1")).toBe("worker:0, worker:1 printed nothing\n");
  expect(told({ tail: 5 }, "worker:0")).toBe("worker:0 printed nothing\n");
  for (const filter of [{ sinceMs: 0 }, { generation: 1 }, { pattern: /x/ }, { stream: "stderr" } as const])
    expect(told(filter, "worker:0")).toBe("no matching lines in worker:0\n");
  expect(told({ sinceMs: 0 })).toBe("");
});

test("each task of an ended job without a line has one reason: it never ran, a node lost what it printed, or it printed nothing", () => {
  const tenancy = (task: string, containerId: string, ran: boolean) => ({ task, containerId, logPrefix: "", ran });
  const tenancies = [
    tenancy("worker:0", "c1", false),
    tenancy("worker:1", "c2", true),
    tenancy("worker:1", "c3", true),
    tenancy("worker:2", "c4", true),
  ];
  const context = recordedContext({});
  const tasks = ["worker:0", "worker:1", "worker:2", "worker:3"];
  const spoken = (task: string) => task.replace("worker", "trainer");
  tellWithoutLines(tasks, tenancies, new Set(["c3", "c1"]), {}, new LogPrinter(context.output), spoken);
  expect(context.err.text).toBe(
    "no program of trainer:0, trainer:3 was started\n" +
      "what trainer:1 printed was not uploaded by its node\n" +
      "trainer:2 printed nothing\n",
  );
});

test("whose task failed first is told where a job failed, nobody named a task, and another one's log was shown", async () => {
  const outcome = { ...allSucceeded, result: "failed", cause: outOfMemory(), endedAtMs: 0 } as const;
  const place = aPlace({ finalStatus: async () => aJobStatus({ state: "failed", outcome }) });
  const failed = { state: "FINISHED", finalStatus: "FAILED" } as const;
  async function first(
    report = aReport(failed),
    selection: LogSelection = { kind: "lead" },
    shown = "worker:0",
    of = place,
  ) {
    const context = recordedContext({});
    await tellFirstFailed(of, { report, selection, filter: {} }, [shown], new LogPrinter(context.output));
    return context.err.text;
  }
  expect(await first()).toContain("worker:1 failed first: tony-ts logs application_1795305600000_0009 worker:1");
  expect(await first(aReport(failed), { kind: "named", names: ["worker:0"] })).toBe("");
  expect(await first(aReport(failed), { kind: "lead" }, "worker:1")).toBe("");
  expect(await first(aReport({ ...failed, state: "RUNNING" }))).toBe("");
  expect(await first(aReport({ ...failed, finalStatus: "SUCCEEDED" }))).toBe("");
  const { task: _, ...nobodys } = outOfMemory();
  const unknown = aPlace({ finalStatus: async () => aJobStatus({ outcome: { ...outcome, cause: nobodys } }) });
  for (const other of [unknown, aPlace()]) expect(await first(aReport(failed), { kind: "lead" }, "", other)).toBe("");
});
