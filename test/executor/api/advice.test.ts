import { expect, test } from "@jest/globals";
import { adviceOf } from "../../../executor/api/advice.ts";

const nothing = { notice: undefined, hasSaved: false, stop: undefined };
const notice = { cause: "decommissioning", atMs: 100, endsAtMs: 900 } as const;

test("a program goes on while nobody wants anything of it", () => {
  expect(adviceOf(nothing)).toEqual({ answer: "continue" });
});

test("it is to save once its container is to be taken back, and goes on when it has", () => {
  const advice = { answer: "checkpoint-now", cause: "decommissioning", deadlineMs: 900 };
  expect(adviceOf({ ...nothing, notice })).toEqual(advice);
  expect(adviceOf({ ...nothing, notice, hasSaved: true })).toEqual({ answer: "continue" });
  const preempted = { cause: "preemption", atMs: 100 } as const;
  expect(adviceOf({ ...nothing, notice: preempted })).toEqual({ answer: "checkpoint-now", cause: "preemption" });
});

test("it is to stop when it is being stopped, until it is killed", () => {
  const reason = { code: "generation-ended", why: "worker:1 failed" } as const;
  const stop = { reason, killedAtMs: 5_000 };
  expect(adviceOf({ notice, hasSaved: false, stop })).toMatchObject({ answer: "stop", deadlineMs: 5_000 });
  const asked = adviceOf({ ...nothing, stop: { reason, killedAtMs: Number.POSITIVE_INFINITY } });
  expect(asked).toEqual({ answer: "stop", cause: expect.stringContaining("worker:1 failed") });
});
