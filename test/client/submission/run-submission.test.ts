import { mkdirSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { QuietView } from "../../../client/following/quiet-view.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { runSubmission, type SubmissionChoices } from "../../../client/submission/run-submission.ts";
import { ExitCode } from "../../../src/errors.ts";
import type { JobText } from "../../../src/job/build/load-job.ts";
import { aReport } from "../application-report.ts";
import { StandInCluster } from "./stand-in-cluster.ts";

// Loaded before a submission does so, several at once, which Jest's loader cannot.
import "../../../client/applications/yarn-applications.ts";
import "../../../client/cluster/cluster.ts";
import "../../../client/following/follow.ts";
import "../../../client/following/follow-again.ts";
import "../../../client/master/end-application.ts";
import "../../../client/master/master-connection.ts";
import "../../../client/results/advice.ts";
import "../../../client/submission/submission.ts";

const id = "application_1795305600000_0001";
const other = "application_1795305600000_0900";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.startWithSuccess();
});
afterEach(() => there.stop());

async function run(text: JobText, choices: Partial<SubmissionChoices> = {}) {
  const all: SubmissionChoices = { detach: false, json: false, local: false, logs: { kind: "none" }, ...choices };
  const exitCode = await runSubmission(text, all, there.context);
  return { exitCode, out: there.context.out.text.trimEnd().split("\n"), err: there.context.err.text };
}

describe("what is said of a submission", () => {
  test("to a person: the id first, what was sent, and how the job went", async () => {
    const { exitCode, out } = await run(there.job());
    expect(exitCode).toBe(ExitCode.succeeded);
    expect(out[0]).toBe(`${id}  bert · queue default · worker × 2 (1 GiB, 1 core)`);
    expect(out[1]).toMatch(/^ {2}upload {2}tony-ts runtime [\d.]+ MiB/);
    expect(out.at(-1)).toMatch(/SUCCEEDED/);
  });

  test("where it is left alone the id is all of the result, and what was sent stands beside it", async () => {
    there.manager.taken = {};
    expect(await run(there.job(), { detach: true })).toEqual({
      exitCode: ExitCode.succeeded,
      out: [id],
      err: expect.stringMatching(/^ {2}upload {2}tony-ts runtime/m),
    });
    expect(there.manager.killed).toEqual([]);
  });

  test("the same to programs", async () => {
    there.manager.taken = {};
    const { out } = await run(there.job(), { detach: true, json: true });
    expect(out.map((line) => JSON.parse(line))).toEqual([{ jsonVersion: 1, applicationId: id }]);
  });

  test("to a program that follows it: events, the job first, then what was sent, at last the end", async () => {
    const { exitCode, out } = await run(there.job(), { json: true });
    const events = out.map((line) => JSON.parse(line));
    expect(events.slice(0, 2)).toMatchObject([
      { event: "job", applicationId: id, name: "bert", queue: "default", submitted: true },
      { event: "remark", text: expect.stringMatching(/^upload {2}tony-ts runtime/) },
    ]);
    expect(events.at(-1)).toMatchObject({ event: "end", exitCode: 0, outcome: { result: "succeeded" } });
    expect(exitCode).toBe(ExitCode.succeeded);
  });

  test("a job that is refused is no event, and no id is told of it", async () => {
    there.manager.taken = { state: "FAILED", finalStatus: "FAILED", diagnostics: "queue is full" };
    await expect(run(there.job(), { json: true })).rejects.toMatchObject({ code: "SUBMISSION_REFUSED" });
    expect(there.context.out.text).toBe("");
  });

  test("whoever shows it in another way is told when the job was taken", async () => {
    const submitted: string[] = [];
    const outcomes: string[] = [];
    const view = new QuietView(there.context.output, {
      selection: { kind: "none" },
      printer: new LogPrinter(there.context.output, { json: false }),
      end: () => void outcomes.push(submitted.join()),
    });
    await run(there.job(), { display: { view, submitted: (taken) => void submitted.push(taken) } });
    expect([submitted, outcomes]).toEqual([[id], [id]]);
  });
});

test("what earlier jobs left behind is removed, and signals are nobody's afterwards", async () => {
  const left = "application_1_0001";
  mkdirSync(path.join(there.staging, left), { recursive: true });
  there.manager.applications = [aReport({ id: left, state: "KILLED", finalStatus: "KILLED" })];
  there.manager.taken = {};
  const before = SIGNALS.map((signal) => process.listenerCount(signal));
  await run(there.job(), { detach: true });
  expect(there.applications()).toEqual([id]);
  expect(SIGNALS.map((signal) => process.listenerCount(signal))).toEqual(before);
});

test("Ctrl-C while the ResourceManager takes the job ends it", async () => {
  there.manager.taken = {};
  there.manager.onSubmit = () => void process.emit("SIGINT", "SIGINT");
  expect((await run(there.job())).exitCode).toBe(ExitCode.killed);
  expect(there.manager.killed).toMatchObject([{ id, reason: expect.stringMatching(/Ctrl-C/) }]);
});

describe("with a tag of which one job is to run at a time", () => {
  const tagged = { applicationTag: "nightly", detach: true };
  const runs = (changes = {}) =>
    aReport({ id: other, user: there.applicant, state: "ACCEPTED", tags: ["nightly"], startTimeMs: 1, ...changes });
  const job = () => there.job({}, { tags: ["nightly"] });

  const unended = ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING"] as const;
  test.each(unended)("a job that is %s is taken up, and nothing is submitted", async (state) => {
    there.manager.applications = [runs({ state })];
    const { out, err } = await run(job(), tagged);
    expect({ out, err }).toEqual({
      out: [other],
      err: `${other} has the tag nightly and has not ended: nothing was submitted\n`,
    });
    expect([there.manager.submitted, there.cached()]).toEqual([[], []]);
  });

  test("Ctrl-C ends the one that is taken up where it is the caller's own", async () => {
    there.manager.applications = [runs()];
    const ran = run(job(), { applicationTag: "nightly", own: true });
    while (process.listenerCount("SIGINT") === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    process.emit("SIGINT", "SIGINT");
    expect((await ran).exitCode).toBe(ExitCode.killed);
    expect(there.manager.killed.map(({ id: ended }) => ended)).toEqual([other]);
    expect(there.manager.submitted).toEqual([]);
  });

  test("one that has ended, or is another's, is no reason not to submit", async () => {
    there.manager.applications = [runs({ state: "FINISHED" }), runs({ id: "application_1_0001", user: "bob" })];
    expect((await run(job(), tagged)).out).toEqual([id]);
    expect(there.manager.submitted).toMatchObject([{ applicationTags: ["nightly"] }]);
  });

  test("of two that were submitted at the same moment the later one is withdrawn, and the other one taken up", async () => {
    there.manager.taken = { state: "ACCEPTED", startTimeMs: 2 };
    there.manager.onSubmit = () => {
      there.manager.applications = [runs()];
    };
    const { exitCode, out, err } = await run(job(), tagged);
    expect({ exitCode, out }).toEqual({ exitCode: ExitCode.succeeded, out: [other] });
    expect(err).toMatch(`${other} was submitted just before and has the tag nightly, too: ${id} is withdrawn\n`);
    expect(there.manager.killed.map(({ id: killed }) => killed)).toEqual([id]);
    expect(there.applications()).toEqual([]);
  });
});
