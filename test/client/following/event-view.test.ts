import { beforeEach, describe, expect, test } from "@jest/globals";
import { EventView } from "../../../client/following/event-view.ts";
import type { FollowEvent } from "../../../client/printed-json.ts";
import type { DelayReason } from "../../../src/job/reasons/waits.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, role } from "../job-status.ts";

const delay: DelayReason = { code: "am-starting" };

let events: FollowEvent[];
let problems: string[];
let view: EventView;
beforeEach(() => {
  events = [];
  problems = [];
  view = new EventView({ event: (event) => events.push(event), problem: (text) => problems.push(text) });
});
const waitFor = (task: string, ...delays: readonly DelayReason[]) =>
  waitOf({ reason: { code: "executors", role: "worker", tasks: [task] }, delays, sinceMs: 0 });
const types = () => events.map(({ event }) => event);

describe("a job as events", () => {
  test("tells each wait once, until another one or a silence of the ResourceManager has come between", () => {
    const wait = (reason: string) => view.waiting(aReport(), reason, delay);
    for (const reason of ["no room", "no room", "the AM starts", "no room"]) wait(reason);
    for (const silentMs of [6_000, 7_000]) view.managerSilent(silentMs, "connection refused");
    wait("no room");
    view.waiting(aReport({ state: "SUBMITTED" }), "no room", delay);
    expect(events).toEqual([
      { event: "waiting", state: "ACCEPTED", reason: "no room", delay },
      { event: "waiting", state: "ACCEPTED", reason: "the AM starts", delay },
      { event: "waiting", state: "ACCEPTED", reason: "no room", delay },
      { event: "remark", text: "The ResourceManager does not answer: connection refused" },
      { event: "waiting", state: "ACCEPTED", reason: "no room", delay },
      { event: "waiting", state: "SUBMITTED", reason: "no room", delay },
    ]);
  });

  const [first, ...others] = aJobStatus().tasks;
  const withTask = (changes: Partial<JobStatus["tasks"][number]>) =>
    aJobStatus({ tasks: first === undefined ? [] : [{ ...first, ...changes }, ...others] });

  test.each<[string, JobStatus]>([
    ["its attempt", aJobStatus({ attempt: 2 })],
    ["its state", aJobStatus({ state: "restarting" })],
    ["its generation", aJobStatus({ generation: 2 })],
    ["a task's state", withTask({ state: "failed" })],
    ["a task's container", withTask({ containerId: "container_2" })],
    ["a task's restarts", withTask({ restarts: 1 })],
    ["a task's exit", withTask({ exit: "1" })],
    ["what it waits for", aJobStatus({ waits: [waitFor("worker:0")] })],
    ["what it serves", aJobStatus({ services: [{ name: "tensorboard", url: "http://nm1:1", task: "worker:0" }] })],
    ["its checkpoint", aJobStatus({ checkpoint: { path: "/ckpt/7", step: 7, atMs: 1 } })],
    ["its outcome", aJobStatus({ outcome: { ...allSucceeded, endedAtMs: 0 } })],
  ])("tells its status when %s has changed", (_, changed) => {
    for (const status of [aJobStatus(), aJobStatus(), changed, changed]) view.show(status);
    expect(events).toEqual([aJobStatus(), changed].map((status) => ({ event: "status", status })));
  });

  test("tells a wait again when its reasons have changed, and not as it lasts", () => {
    const noRoom: DelayReason = { code: "manager-says", words: "queue ml has no room" };
    const first = aJobStatus({ waits: [waitFor("worker:0")] });
    const explained = aJobStatus({ waits: [{ ...waitFor("worker:0", noRoom), sinceMs: 7 }] });
    const other = aJobStatus({ waits: [waitFor("worker:1", noRoom)] });
    const later = aJobStatus({ waits: [{ ...waitFor("worker:1", noRoom), sinceMs: 9 }] });
    for (const status of [first, explained, other, later]) view.show(status);
    expect(events).toEqual([first, explained, other].map((status) => ({ event: "status", status })));
  });

  test("has each line of output with its task and all that is known of it", () => {
    view.taskLine("worker:0", { stream: "stderr", line: "warning", generation: 2 });
    expect(events).toEqual([{ event: "output", task: "worker:0", stream: "stderr", line: "warning", generation: 2 }]);
  });

  test("tells no status for what changes all the time", () => {
    view.show(aJobStatus());
    view.show(aJobStatus({ nowMs: 9, usage: { memoryMiBSeconds: 7, vcoreSeconds: 7 } }));
    view.show(withTask({ step: 7, memoryBytes: 1 }));
    view.show(aJobStatus({ roles: [role("worker", 2)] }));
    expect(types()).toEqual(["status"]);
  });

  test("ends with the outcome, behind what was cleaned; or with none, where nobody follows any more", () => {
    const outcome = { ...allSucceeded, endedAtMs: 0 };
    view.ended({ outcome, report: aReport(), exitCode: 0, cleaned: "all containers are returned" });
    view.ended({ outcome, report: aReport(), exitCode: 0 });
    view.left("it may still run", 5);
    expect(events).toEqual([
      { event: "remark", text: "all containers are returned" },
      { event: "end", outcome, exitCode: 0 },
      { event: "end", outcome, exitCode: 0 },
      { event: "end", outcome: null, exitCode: 5 },
    ]);
    expect(problems).toEqual(["it may still run"]);
  });
});
