import { beforeEach, describe, expect, test } from "@jest/globals";
import type { FollowUpdate } from "../../../client/master/attempt-connection.ts";
import { followAttempts } from "../../../client/sessions/follow-running.ts";
import { UserError } from "../../../src/errors.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { type RecordedContext, recordedContext } from "../support.ts";

const status: FollowUpdate = { type: "status", status: aJobStatus() };
const outcome: FollowUpdate = { type: "outcome", outcome: { ...allSucceeded, endedAtMs: 0 } };
const lost = new Error("connection lost");
const notYet = new UserError("it does not run yet", { code: "NOT_RUNNING" });
const hasEnded = new UserError("it has ended", { code: "HAS_ENDED" });

/** What one try to reach an AM comes to: what it says until it is lost, or why it is not reached. */
type Attempt = readonly FollowUpdate[] | Error;

let context: RecordedContext;
let closed: number;
let stop: AbortController;
let pauses: Set<number>;
beforeEach(() => {
  context = recordedContext({});
  closed = 0;
  stop = new AbortController();
  pauses = new Set();
});

/** @param pauseMs how long each look for the next AM takes */
function following(attempts: readonly Attempt[], pauseMs = 1_000) {
  const left = [...attempts];
  const connect = async () => {
    const attempt = left.shift() ?? lost;
    if (attempt instanceof Error) throw attempt;
    return {
      async *follow(): AsyncGenerator<FollowUpdate> {
        yield* attempt;
        if (!attempt.includes(outcome)) throw lost;
      },
      close: () => {
        closed += 1;
      },
    };
  };
  return followAttempts(connect, context, stop.signal, async (ms) => {
    pauses.add(ms);
    context.clock.nowMs += pauseMs;
  });
}

async function heard(attempts: readonly Attempt[], pauseMs?: number): Promise<string[]> {
  const types: string[] = [];
  for await (const { update } of following(attempts, pauseMs)) types.push(update.type);
  return types;
}

const told = () => context.err.text.match(/The ApplicationMaster is lost/g)?.length ?? 0;

describe("a job's ApplicationMasters", () => {
  test("are heard each by the connection to it", async () => {
    const names: unknown[] = [];
    for await (const { master } of following([[status], [status, outcome]])) names.push(master);
    expect(new Set(names).size).toBe(2);
    expect(names[1]).toBe(names[2]);
  });

  test("are not looked for after the pause in which nobody wants to hear them any more", async () => {
    const connect = () => Promise.reject(lost);
    const heardOnce = following([[status]]);
    await heardOnce.next();
    stop.abort();
    expect((await heardOnce.next()).done).toBe(true);
    const never = followAttempts(connect, context, stop.signal);
    expect((await never.next()).done).toBe(true);
  });

  test("are heard one after the other until the job has ended; each loss is told once, and each connection closed", async () => {
    const attempts = [[status], notYet, lost, [status, status], lost, notYet, [status, outcome]];
    expect(await heard(attempts)).toEqual(["status", "status", "status", "status", "outcome"]);
    expect([told(), closed]).toEqual([2, 3]);
    expect([...pauses]).toEqual([1_000]);
  });

  test("are waited for no longer where the job has ended meanwhile, which is told", async () => {
    expect(await heard([[status], lost, hasEnded])).toEqual(["status"]);
    expect(context.err.text).toContain("it has ended");
  });

  test.each([hasEnded, notYet, lost])("are not waited for where none was ever heard: %s", async (error) => {
    await expect(heard([error, [status]])).rejects.toBe(error);
    expect(told()).toBe(0);
  });

  test("are waited for three minutes, each time anew", async () => {
    const aMinute = 60_000;
    expect(await heard([[status], notYet, notYet, [status], notYet, notYet, [outcome]], aMinute)).toHaveLength(3);
    await expect(heard([[status], notYet, notYet, notYet, notYet, [outcome]], aMinute)).rejects.toBe(notYet);
  });

  test("are left when nobody wants to hear them any more", async () => {
    const types: string[] = [];
    for await (const { update } of following([[status], [status], [outcome]])) {
      types.push(update.type);
      stop.abort();
    }
    expect([types, closed]).toEqual([["status"], 1]);
  });
});
