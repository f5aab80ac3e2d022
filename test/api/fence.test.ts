import { describe, expect, it } from "@jest/globals";
import { judgeExecutorMessage, judgeMasterMessage } from "../../src/api/fence.ts";
import type { ExecutorReport, MasterCommand } from "../../src/api/messages.ts";

const own = { attempt: 2, generation: 5 };
const stop: MasterCommand = { type: "stop-child", graceMs: 0, reason: { code: "job-ended" } };
const prepare: MasterCommand = { type: "prepare", reason: "" };
const signal: MasterCommand = {
  type: "signal-child",
  signal: "SIGTERM",
  reason: "",
  notice: { cause: "preemption", atMs: 0 },
};
const acknowledge: MasterCommand = { type: "acknowledge-exit" };
const exit: MasterCommand = { type: "exit", graceMs: 0, reason: { code: "job-ended" } };

describe("an executor of attempt 2 in generation 5", () => {
  it.each([
    ["a stop of its generation", 2, 5, stop, "current"],
    ["a stop of the generation before", 2, 4, stop, "stale-generation"],
    ["a stop of a generation it is not prepared for", 2, 6, stop, "stale-generation"],
    ["a signal for the generation before", 2, 4, signal, "stale-generation"],
    ["an acknowledgement of the generation before", 2, 4, acknowledge, "stale-generation"],
    ["a signal for its generation", 2, 5, signal, "current"],
    ["an acknowledgement of its generation", 2, 5, acknowledge, "current"],
    ["a call to prepare for the next", 2, 6, prepare, "current"],
    ["a call to prepare for a later one", 2, 9, prepare, "current"],
    ["a call to prepare for the one it is in, which asks for its registration", 2, 5, prepare, "current"],
    ["a call to prepare for one that is over", 2, 4, prepare, "stale-generation"],
    ["an order to end, of whatever generation", 2, 0, exit, "current"],
    ["anything of the attempt before", 1, 5, exit, "lower-attempt"],
    ["anything of a later attempt", 3, 5, stop, "current"],
  ] as const)("makes of %s: %#", (_what, attempt, generation, body, verdict) => {
    expect(judgeMasterMessage({ attempt, generation, body }, own)).toBe(verdict);
  });

  const start = { clusterSpec: new Uint8Array(), restartReason: "", checkpoint: "", restarts: 0 };
  const tail = { tailId: 1, task: "worker:0", stream: "stdout", offset: 0, follow: false, cancel: false } as const;
  it.each<readonly [MasterCommand, "any" | "its own"]>([
    [{ type: "start-child", ...start }, "its own"],
    [{ type: "resume-child" }, "its own"],
    [stop, "its own"],
    [signal, "its own"],
    [acknowledge, "its own"],
    [exit, "any"],
    [{ type: "make-room", variables: {} }, "any"],
    [{ type: "tell-place" }, "any"],
    [{ type: "tail-log", ...tail }, "any"],
    [{ type: "tail-credit", tailId: 1, bytes: 1 }, "any"],
    [{ type: "replace-tokens", file: new Uint8Array() }, "any"],
    [{ type: "serve-session", sessionId: 1 }, "any"],
    [{ type: "end-session", sessionId: 1 }, "any"],
  ])("obeys %j in %s generation", (body, obeyed) => {
    const verdicts = [4, 5, 6].map((generation) => judgeMasterMessage({ attempt: 2, generation, body }, own));
    const elsewhere = obeyed === "any" ? "current" : "stale-generation";
    expect(verdicts).toEqual([elsewhere, "current", elsewhere]);
  });
});

describe("an ApplicationMaster of attempt 2", () => {
  const heartbeat: ExecutorReport = { type: "heartbeat", sentAtMs: 1 };
  const register: ExecutorReport = {
    type: "register",
    hello: { protocol: 1, build: "" },
    task: "worker:0",
    containerId: "c",
    host: "h",
    port: 1,
    tensorboardPort: 0,
    rejoinAddress: "",
    child: { state: "none" },
    attemptProof: new Uint8Array(),
  };

  it.each([
    ["a report for it", 2, heartbeat, "current"],
    ["a report for the attempt before", 1, heartbeat, "lower-attempt"],
    ["a registration that still names the attempt before", 1, register, "current"],
    ["a registration that names a later attempt", 3, register, "higher-attempt"],
    ["a report for a later attempt", 3, heartbeat, "higher-attempt"],
  ] as const)("makes of %s: %#", (_what, attempt, body, verdict) => {
    expect(judgeExecutorMessage({ attempt, generation: 5, body }, 2)).toBe(verdict);
  });
});
