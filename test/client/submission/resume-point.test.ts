import { describe, expect, test } from "@jest/globals";
import { lastCheckpoint } from "../../../client/submission/resume-point.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";

const ended = aReport({ user: "alice", state: "FINISHED", finalStatus: "FAILED" });
const saved = { path: "hdfs:///ckpt/1800", step: 1800, atMs: noonishMs + 20_000 };
const left = (changes: Partial<JobStatus>) => lastCheckpoint(ended, aJobStatus(changes), "alice");

describe("the checkpoint that another job resumes from", () => {
  test("is the last one of a job that has ended, with its age then", () => {
    expect(left({ checkpoint: saved, outcome: { ...allSucceeded, endedAtMs: saved.atMs + 40_000 } })).toEqual({
      path: "hdfs:///ckpt/1800",
      words: "step 1800, saved 40 s before the end: hdfs:///ckpt/1800",
    });
  });

  test("is the one that the job itself began with, where it saved none", () => {
    const resumeFrom = "hdfs:///ckpt/900";
    expect(left({ resumeFrom })).toMatchObject({ path: resumeFrom });
    expect(left({ resumeFrom, checkpoint: saved })).toMatchObject({ path: saved.path });
  });

  test.each([
    [
      "of a job that runs",
      () => lastCheckpoint({ ...ended, state: "RUNNING" }, aJobStatus({ checkpoint: saved }), "alice"),
      /has not ended/,
    ],
    ["of another user's job", () => lastCheckpoint(ended, undefined, "bob"), /only alice may read how it ended/],
    ["of a job that ended long ago", () => lastCheckpoint(ended, undefined, "alice"), /how it ended was not kept/],
    ["of a job that saved none", () => left({}), /left no checkpoint that another job can read$/],
    [
      "of a job whose checkpoint was lost",
      () => left({ droppedCheckpoint: { ...saved, task: "worker:0" } }),
      /: that of step 1800 was in the container of worker:0$/,
    ],
  ])("is none %s", (_job, look, message) => {
    expect(look).toThrow(expect.objectContaining({ code: "NO_CHECKPOINT", message: expect.stringMatching(message) }));
  });
});
