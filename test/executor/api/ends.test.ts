import { describe, expect, test } from "@jest/globals";
import { type AwaitEnds, awaitEnds, endsOf } from "../../../executor/api/ends.ts";
import { ApiError } from "../../../src/api/errors.ts";
import type { EndsReply } from "../../../src/api/messages.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";

const never = new AbortController().signal;
const tasks = [{ task: "worker:0", state: "failed", exit: "1" }];
const roles = [aRole("chief", 1), aRole("worker", 2), aRole("ps", 1, { tracking: "untracked" }), aRole("evaluator", 1)];
const start = { spec: { ...aJobSpec(), roles }, task: { role: "evaluator", index: 0 } };
const asked = (query: string, answer: AwaitEnds, gone = never) =>
  endsOf(start, new URLSearchParams(query), answer, gone);

describe("a program that waits for the others' end", () => {
  test("waits for what the job waits for, or for the roles that it names", async () => {
    const names = (query: string) =>
      asked(query, async (given) => given.map((task) => ({ task, state: "", exit: "" })));
    expect((await names("")).tasks.map(({ task }) => task)).toEqual(["chief", "worker"]);
    expect((await names("roles=ps,worker")).tasks.map(({ task }) => task)).toEqual(["ps", "worker"]);
    await expect(names("roles=wroker")).rejects.toMatchObject({ code: "BAD_CALL", status: 400 });
    await expect(names("timeout=soon")).rejects.toMatchObject({ code: "BAD_CALL" });
  });

  test("is told when they have not ended in time", async () => {
    const waits: AwaitEnds = (_roles, over) => new Promise((_, reject) => over.addEventListener("abort", reject));
    await expect(asked("timeout=0.001", waits)).rejects.toMatchObject({
      status: 408,
      code: "ENDS_TIMEOUT",
      message: "not all tasks of chief, worker have ended",
    });
    const refused = new ApiError("the container is not part of the job", { code: "API_FORBIDDEN" });
    await expect(asked("", () => Promise.reject(refused))).rejects.toBe(refused);
  });

  test("is answered by whichever ApplicationMaster is there, however long none is", async () => {
    const lost = () => Promise.reject(new ApiError("lost", { code: "API_UNREACHABLE" }));
    const answers: (() => Promise<EndsReply> | undefined)[] = [
      ...Array<typeof lost>(1_000).fill(lost),
      () => undefined,
      async () => ({ tasks }),
    ];
    const calls: unknown[] = [];
    const waitsMs = new Set<number>();
    const link = () => ({
      connected: async () => undefined,
      awaitEnds: (request: unknown, timeoutMs: number) => {
        calls.push(request);
        waitsMs.add(timeoutMs);
        return answers[calls.length - 1]?.();
      },
    });
    expect(await awaitEnds(link, ["worker"], never, async () => undefined)).toEqual(tasks);
    expect(calls).toEqual(Array(1_002).fill({ roles: ["worker"] }));
    expect([...waitsMs]).toEqual([60_000]);
  });
});
