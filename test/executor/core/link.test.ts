import { expect, test } from "@jest/globals";
import { createExecutorCore } from "../../../executor/core/core.ts";
import type { Event } from "../../../executor/core/events.ts";

const LIMITS = { orphanMs: 780_000, isolationMs: 30_000 };
const PRESENT = { attempt: 1, address: "node-1:4000" };
const NEXT = { attempt: 2, address: "node-2:4000" };

test("an executor that loses its ApplicationMaster connects at once, however often the next attempt's address had failed", () => {
  const core = createExecutorCore(PRESENT, LIMITS);
  let nowMs = 0;
  const post = (event: Event) => core.step(event, { nowMs, random: 0.5 });
  const trying = () => core.state.link.trying?.id ?? 0;
  post({ type: "begun" });
  const none = new Uint8Array();
  const hello = { protocol: 1, build: "test" };
  const body = { type: "welcome", hello, heartbeatIntervalMs: 1_000, job: none, attemptProof: none } as const;
  post({ type: "message", connection: trying(), generation: 1, message: { attempt: 1, generation: 0, body } });
  const connected = core.state.link.active?.id ?? 0;
  post({ type: "called", master: NEXT });
  for (let times = 1; times <= 4; times++) {
    post({ type: "ended", connection: trying(), cause: "connection refused" });
    nowMs = core.wakeAtMs ?? nowMs;
    post({ type: "woken" });
  }
  post({ type: "ended", connection: trying(), cause: "connection refused" });
  post({ type: "ended", connection: connected, cause: "the stream ended" });
  expect((core.state.link.connectAtMs ?? 0) - nowMs).toBeLessThanOrEqual(100);
});
