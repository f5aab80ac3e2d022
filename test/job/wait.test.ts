import { describe, expect, test } from "@jest/globals";
import type { WaitReason } from "../../src/job/reasons/waits.ts";
import { awaitedWords, waitOf } from "../../src/job/wait.ts";

const setting = { key: "tony.x", at: "job.xml:7" };
const containers = { code: "containers", role: "worker", missing: 1, instances: 4, ask: "4 GiB" } as const;

describe("what a job waits for", () => {
  test("is told with what holds it up, what helps and when it ends", () => {
    const delays = [{ code: "manager-says", words: "no room" }] as const;
    expect(waitOf({ reason: containers, delays, sinceMs: 5, endsAtMs: 9 })).toEqual({
      reason: containers,
      cause: "containers of worker",
      what: "1 of 4 containers of worker: 4 GiB",
      sinceMs: 5,
      delays,
      reasons: ["no room"],
      endsAtMs: 9,
    });
    expect(waitOf({ reason: { code: "manager" }, sinceMs: 5 })).toEqual({
      reason: { code: "manager" },
      cause: "the ResourceManager's answer",
      what: "the ResourceManager's answer",
      sinceMs: 5,
      delays: [],
      reasons: [],
    });
  });

  test("is one phrase with why it is missing", () => {
    const delays = [
      { code: "manager-says", words: "no room" },
      { code: "manager-says", words: "the queue is full" },
    ] as const;
    expect(awaitedWords({ reason: containers, delays })).toBe(
      "1 of 4 containers of worker: 4 GiB (no room; the queue is full)",
    );
    expect(awaitedWords({ reason: containers })).toBe("1 of 4 containers of worker: 4 GiB");
  });

  test.each<readonly [WaitReason, string, string | undefined]>([
    [{ code: "executors", role: "worker", tasks: ["worker:0"] }, "executors of worker", undefined],
    [
      { code: "joiners", role: "worker", tasks: ["worker:3"], running: 3, instances: 4, least: 2 },
      "further containers of worker",
      undefined,
    ],
    [{ code: "programs", role: "ps", tasks: ["ps:0"] }, "programs of ps to stop", undefined],
    [
      { code: "others", tasks: ["ps:0"], setting },
      "tasks that run on after the main ones",
      "they are stopped (tony.x (job.xml:7))",
    ],
    [{ code: "proposal", trial: 7 }, "what Optuna proposes", undefined],
    [
      { code: "trial", containers: 2, setting },
      "the next trial",
      "what no trial has taken is returned (tony.x (job.xml:7))",
    ],
    [
      { code: "gang", setting },
      "the rest of the gang",
      "its containers are returned and requested again, so that another job can go on (tony.x (job.xml:7))",
    ],
    [
      { code: "rest", setting },
      "the rest of the gang, which has enough tasks to start",
      "the gang starts without them, and they join it later (tony.x (job.xml:7))",
    ],
    [
      { code: "departure", tasks: ["worker:0"] },
      "a checkpoint, before worker:0 must leave",
      "they are stopped and start again on other nodes",
    ],
    [{ code: "role", role: "ps", failsJob: true }, "the end of ps", "the job fails"],
    [{ code: "role", role: "ps", failsJob: false }, "the end of ps", "the job does not wait for ps any more"],
  ])("%j stays the same wait while it lasts: %s", (reason, cause, atEnd) => {
    const wait = waitOf({ reason, sinceMs: 0 });
    expect([wait.cause, wait.atEnd]).toEqual([cause, atEnd]);
  });
});
