import { expect, test } from "@jest/globals";
import { type FollowUpdate, statusNow } from "../../../client/master/attempt-connection.ts";
import { keptBy } from "../../support/resources.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";

test("a look at a job's status ends what it asked for, also where the AM says nothing within the limit", async () => {
  const signals: AbortSignal[] = [];
  const status = aJobStatus();
  const telling = {
    async *follow(signal: AbortSignal): AsyncGenerator<FollowUpdate> {
      signals.push(signal);
      yield { type: "status", status };
    },
  };
  const silent = {
    async *follow(signal: AbortSignal): AsyncGenerator<FollowUpdate> {
      signals.push(signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
  expect(await keptBy("Timeout", async () => expect(await statusNow(telling)).toBe(status))).toBe(0);
  expect(await statusNow(silent, 1)).toBeUndefined();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test("a job that ends while it is looked at has no status, and a connection that breaks says so", async () => {
  const outcome = { ...allSucceeded, endedAtMs: 1 };
  const ending = {
    async *follow(): AsyncGenerator<FollowUpdate> {
      yield { type: "outcome", outcome };
    },
  };
  const signals: AbortSignal[] = [];
  const broken = {
    async *follow(signal: AbortSignal): AsyncGenerator<FollowUpdate> {
      signals.push(signal);
      yield* [];
      throw new Error("broken");
    },
  };
  expect(await statusNow(ending)).toBeUndefined();
  await expect(statusNow(broken)).rejects.toThrow("broken");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});
