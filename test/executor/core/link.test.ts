import { expect, test } from "@jest/globals";
import { createExecutorCore } from "../../../executor/core/core.ts";
import type { Event } from "../../../executor/core/events.ts";

const LIMITS = { orphanMs: 780_000, isolationMs: 30_000 };
const PRESENT = { attempt: 1, address: "node-1:4000" };
const NEXT = { attempt: 2, address: "node-2:4000" };

/** One that has joined the present attempt, told of others that do not answer. */
function joined() {
  const core = createExecutorCore(PRESENT, LIMITS);
  let nowMs = 0;
  const post = (event: Event) => core.step(event, { nowMs, random: 0.5 });
  const trying = () => core.state.link.trying?.id ?? 0;
  const refused = (times: number) => {
    for (let time = 1; time <= times; time++) {
      if (core.state.link.trying === undefined) {
        nowMs = core.wakeAtMs ?? nowMs;
        post({ type: "woken" });
      }
      post({ type: "ended", connection: trying(), cause: "connection refused" });
    }
  };
  post({ type: "begun" });
  const none = new Uint8Array();
  const hello = { protocol: 1, build: "test" };
  const body = { type: "welcome", hello, heartbeatIntervalMs: 1_000, job: none, attemptProof: none } as const;
  post({ type: "message", connection: trying(), generation: 1, message: { attempt: 1, generation: 0, body } });
  return { core, post, refused, connected: core.state.link.active?.id ?? 0, nowMs: () => nowMs };
}

test("an executor that loses its ApplicationMaster connects at once, however often the next attempt's address had failed", () => {
  const { core, post, refused, connected, nowMs } = joined();
  post({ type: "called", master: NEXT });
  refused(5);
  post({ type: "ended", connection: connected, cause: "the stream ended" });
  expect((core.state.link.connectAtMs ?? 0) - nowMs()).toBeLessThanOrEqual(100);
});

test("each attempt that calls has its own tries, however often the one before failed", () => {
  const { core, post, refused } = joined();
  const third = { attempt: 3, address: "node-3:4000" };
  post({ type: "called", master: NEXT });
  refused(4);
  post({ type: "called", master: third });
  refused(4);
  expect(core.state.link.candidate).toEqual(third);
  refused(1);
  expect(core.state.link.candidate).toBeUndefined();
});

test("the attempt whose stream broke is tried at once when it calls, however long the next try was to wait", () => {
  const { core, post, refused, connected } = joined();
  post({ type: "called", master: PRESENT });
  expect(core.state.link.trying).toBeUndefined();
  post({ type: "ended", connection: connected, cause: "the stream ended" });
  refused(8);
  post({ type: "called", master: PRESENT });
  expect(core.state.link.trying?.target).toEqual(PRESENT);
});

test("a stream that is being opened as the executor ends is closed", () => {
  const core = createExecutorCore(PRESENT, LIMITS);
  const post = (event: Event) => core.step(event, { nowMs: 0, random: 0.5 });
  post({ type: "begun" });
  const connection = core.state.link.trying?.id ?? 0;
  expect(post({ type: "closing" })).toContainEqual({ type: "close", connection });
});

test("what an executor registers with goes to every attempt that it talks to when it changes", () => {
  const { core, post, connected } = joined();
  expect(post({ type: "changed" })).toEqual([{ type: "register", connection: connected }]);
  post({ type: "called", master: NEXT });
  const trying = core.state.link.trying?.id ?? 0;
  expect(trying).not.toBe(connected);
  expect(post({ type: "changed" })).toEqual(
    [connected, trying].map((connection) => ({ type: "register", connection })),
  );
});

test("an attempt that calls is tried before the address that has just failed", () => {
  const core = createExecutorCore(PRESENT, LIMITS);
  const post = (event: Event) => core.step(event, { nowMs: 0, random: 0.5 });
  post({ type: "begun" });
  post({ type: "ended", connection: core.state.link.trying?.id ?? 0, cause: "connection refused" });
  post({ type: "called", master: NEXT });
  expect(core.state.link.trying?.target).toEqual(NEXT);
});
