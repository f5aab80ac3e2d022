import { expect, test } from "@jest/globals";
import { createExecutorCore } from "../../../executor/core/core.ts";
import type { Event } from "../../../executor/core/events.ts";
import type { MasterCommand } from "../../../src/api/messages.ts";

const none = new Uint8Array();
const reason = { code: "job-ended" } as const;
const hello = { protocol: 1, build: "test" };
const welcome = { type: "welcome", hello, heartbeatIntervalMs: 1_000, job: none, attemptProof: none } as const;
const ofLog = { tailId: 1, stream: "stdout", offset: 0, follow: false, cancel: false, task: "worker:0" } as const;
const notice = { cause: "preemption", atMs: 1 } as const;

/** What an executor does that was cut off, and is connected again, when it hears that. */
function doneAt(body: MasterCommand): readonly string[] {
  const core = createExecutorCore({ attempt: 1, address: "node-1:4000" }, { orphanMs: 600_000, isolationMs: 60_000 });
  const tell = (nowMs: number, event: Event) => core.step(event, { nowMs, random: 0.5 }).map(({ type }) => type);
  const hear = (said: MasterCommand) => {
    const { active, trying } = core.state.link;
    const message = { attempt: 1, generation: 1, body: said };
    return tell(46_000, { type: "message", connection: (active ?? trying)?.id ?? 0, generation: 1, message });
  };
  tell(0, { type: "begun" });
  for (const nowMs of [45_000, 46_000]) tell(nowMs, { type: "woken" });
  hear(welcome);
  return hear(body);
}

test.each<MasterCommand>([
  { type: "prepare", reason: "a task failed" },
  { type: "start-child", clusterSpec: none, restartReason: "", checkpoint: "", restarts: 0 },
  { type: "stop-child", graceMs: 0, reason },
  { type: "signal-child", signal: "SIGUSR1", reason: "its node leaves", notice },
  { type: "acknowledge-exit" },
  { type: "exit", graceMs: 0, reason },
  { type: "make-room", variables: {} },
  { type: "tell-place" },
  { type: "unknown" },
])("an order about the task shows that it was not replaced, so that files are uploaded again: $type", (body) => {
  expect(doneAt(body)).toEqual(["allow-uploads", "obey"]);
});

test.each<MasterCommand>([
  { type: "tail-log", ...ofLog },
  { type: "tail-credit", tailId: 1, bytes: 1 },
  { type: "replace-tokens", file: none },
  { type: "serve-session", sessionId: 1 },
  { type: "end-session", sessionId: 1 },
  { type: "exit", graceMs: 0, reason: { code: "replaced", why: "it lives elsewhere" } },
])("what concerns the container alone, or says that the task was replaced, shows nothing: $type", (body) => {
  expect(doneAt(body)).toEqual(["obey"]);
});

test("an order to resume the program shows it as well, and is carried out by the core itself", () => {
  expect(doneAt({ type: "resume-child" })).toEqual(["allow-uploads"]);
});
