import { describe, expect, test } from "@jest/globals";
import { carriedTo, readLeftStatus } from "../../../client/applications/abandoned-job.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";

const killed = aReport({
  state: "KILLED",
  finalStatus: "KILLED",
  finishTimeMs: noonishMs + 61_000,
  diagnostics: "Application application_1795305600000_0009 was killed by user ada at 10.0.0.7",
});
const folder = (status: JobStatus | string) => ({
  read: async (name: string) => {
    expect(name).toBe("left-status.json");
    return Buffer.from(typeof status === "string" ? status : JSON.stringify(status));
  },
});

describe("a job whose ApplicationMaster YARN has ended", () => {
  test("is told as the ApplicationMaster knew it, with YARN's end, and no task runs any more", async () => {
    const tasks = aJobStatus().tasks.map((task, index) => (index === 1 ? { ...task, state: "failed" as const } : task));
    const waits = [waitOf({ reason: { code: "am" }, sinceMs: 0, delays: [] })];
    const outcome = { ...allSucceeded, result: "killed", summary: "told to stop", endedAtMs: 7 } as const;
    const status = await readLeftStatus(folder(aJobStatus({ tasks, waits, outcome })), killed);
    expect(status).toMatchObject({
      state: "killed",
      outcome: { result: "killed", summary: killed.diagnostics, endedAtMs: killed.finishTimeMs },
      tasks: [
        { task: "worker:0", state: "stopped", host: "127.0.0.11" },
        { task: "worker:1", state: "failed" },
        { task: "ps:0", state: "stopped" },
      ],
      waits: [],
    });
  });

  test.each([
    ["waiting", "waiting"],
    ["allocated", "stopped"],
    ["launched", "stopped"],
    ["registered", "stopped"],
    ["running", "stopped"],
    ["succeeded", "succeeded"],
    ["lost", "lost"],
  ] as const)("has a task that was %s: it is %s", async (state, now) => {
    const status = await readLeftStatus(
      folder(aJobStatus({ tasks: [{ task: "worker:0", state, restarts: 0 }] })),
      killed,
    );
    expect(status?.tasks).toEqual([{ task: "worker:0", state: now, restarts: 0 }]);
  });

  test("is not told by an earlier attempt, which YARN had moved", async () => {
    const later = { ...killed, currentAttemptId: "appattempt_1795305600000_0009_000002" as const };
    await expect(readLeftStatus(folder(aJobStatus()), later)).resolves.toBeUndefined();
    await expect(readLeftStatus(folder(aJobStatus({ attempt: 2 })), later)).resolves.toMatchObject({ state: "killed" });
  });

  test("is told by an earlier attempt where it is a search, whose trials have ended all the same", async () => {
    const later = { ...killed, currentAttemptId: "appattempt_1795305600000_0009_000002" as const };
    const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "true" } as const;
    const trials = (["completed", "running"] as const).map((state) => ({ state }));
    const tasks = aJobStatus().tasks.map((task, index) => ({
      ...task,
      ...(trials[index] && { trial: trials[index] }),
    }));
    const status = await readLeftStatus(folder(aJobStatus({ search, tasks })), later);
    expect(status).toMatchObject({ state: "killed" });
    expect(status?.tasks.map(({ trial }) => trial?.state)).toEqual(["completed", "interrupted", undefined]);
  });

  test("is not told while it runs", async () => {
    const runs = { ...killed, state: "RUNNING", finalStatus: "UNDEFINED" } as const;
    await expect(readLeftStatus(folder(aJobStatus()), runs)).resolves.toBeUndefined();
  });

  test("is not told by half a file: the ApplicationMaster was ended while it wrote", async () => {
    const whole = JSON.stringify(aJobStatus());
    await expect(readLeftStatus(folder(whole.slice(0, 100)), killed)).rejects.toMatchObject({
      code: "STATUS_UNREADABLE",
    });
  });
});

test("checkpoints are where executors copy them, of a job whose executors copy any", () => {
  const carrier = { outputRequired: false, timeoutMs: 60_000 };
  const checkpoints = { localDir: "checkpoints", keep: 1 };
  const addressOf = (changes: Parameters<typeof aJobSpec>[0]) =>
    carriedTo({ spec: aJobSpec({ checkpointDir: "/ckpt", ...changes }) });
  expect(addressOf({ carrier: { ...carrier, checkpoints } })).toBe("/ckpt");
  expect([addressOf({ carrier }), addressOf({})]).toEqual([undefined, undefined]);
});
