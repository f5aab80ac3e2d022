import { expect, test } from "@jest/globals";
import { Stillness } from "../../am/stillness.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { aJobStatus, allSucceeded } from "../client/job-status.ts";

const minuteMs = 60_000;

/** What is said while a job stands still, by the minute; the status may change with time. */
function said(minutes: number, statusAt: (minute: number) => JobStatus): Record<number, string> {
  const stillness = new Stillness();
  const lines: Record<number, string> = {};
  for (let minute = 0; minute <= minutes; minute++) {
    const line = stillness.look(minute * minuteMs, () => statusAt(minute));
    if (line !== undefined) lines[minute] = line;
  }
  return lines;
}

function running(step?: number, cpuCores?: number): JobStatus {
  const measured = { ...(step !== undefined && { step }), ...(cpuCores !== undefined && { cpuCores }) };
  return aJobStatus({ tasks: [{ task: "worker:0", state: "running", restarts: 0, ...measured }] });
}

test("programs that report nothing new are told of, ever more rarely", () => {
  const words = "1 program running, last step reported 1840, by worker:0; they use 0 cores in all.";
  expect(said(190, () => running(1840, 0))).toEqual({
    10: `Nothing has changed for 10 min: ${words}`,
    30: `Nothing has changed for 30 min: ${words}`,
    60: `Nothing has changed for 1 h: ${words}`,
    120: `Nothing has changed for 2 h: ${words}`,
    180: `Nothing has changed for 3 h: ${words}`,
  });
});

test("nothing is said of a job that has ended", () => {
  expect(said(15, () => ({ ...running(1840), outcome: { ...allSucceeded, endedAtMs: 0 } }))).toEqual({});
});

test("of several programs the furthest step is told", () => {
  const tasks = [4, 9, 7].map((step, index) => {
    return { task: `worker:${index}`, state: "running", restarts: 0, step } as const;
  });
  expect(said(10, () => aJobStatus({ tasks }))[10]).toMatch(/last step reported 9, by worker:1/);
});

test("of programs that have ended nothing is told", () => {
  const tasks = (["running", "succeeded"] as const).map((state, index) => {
    return { task: `worker:${index}`, state, restarts: 0, step: 4 + index } as const;
  });
  expect(said(10, () => aJobStatus({ tasks }))[10]).toBe(
    "Nothing has changed for 10 min: 1 program running, last step reported 4, by worker:0.",
  );
});

test("a job that waits for no reason that is known says for what alone", () => {
  const wait = { what: "the registration of worker:1", cause: "", sinceMs: 0, delays: [], reasons: [] };
  const waits = [{ ...wait, reason: { code: "registration" } as const }];
  expect(said(10, () => aJobStatus({ state: "gathering", waits }))[10]).toBe(
    "Nothing has changed for 10 min: the job waits for the registration of worker:1.",
  );
});

test("a step that is reported begins the time anew, however long nothing had changed", () => {
  expect(Object.keys(said(30, (minute) => running(minute < 9 ? 1 : 2)))).toEqual(["19"]);
  expect(Object.keys(said(30, (minute) => running(minute < 15 ? 1 : 2)))).toEqual(["10", "25"]);
});

test("programs that never reported a step are not said to have stopped", () => {
  expect(said(12, () => running())[10]).toBe("Nothing has changed for 10 min: 1 program running, no step reported.");
});

test("a job that waits says for what, and why", () => {
  const wait = { what: "2 of 4 containers of worker", cause: "containers of worker", sinceMs: 0, delays: [] };
  const waits = [{ ...wait, reason: { code: "registration" } as const, reasons: ["queue ml is full"] }];
  expect(said(12, () => aJobStatus({ state: "gathering", waits }))[10]).toBe(
    "Nothing has changed for 10 min: the job waits for 2 of 4 containers of worker (queue ml is full).",
  );
});

test("a status is not asked for more often than each minute", () => {
  let asked = 0;
  const stillness = new Stillness();
  for (let ms = 0; ms < 3 * minuteMs; ms += 1_000) {
    stillness.look(ms, () => {
      asked++;
      return aJobStatus();
    });
  }
  expect(asked).toBe(3);
});
