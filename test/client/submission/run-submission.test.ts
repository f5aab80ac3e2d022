import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { ClientContext } from "../../../client/context.ts";
import { QuietView } from "../../../client/following/quiet-view.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { JobCluster } from "../../../client/submission/job-cluster.ts";
import { runSubmission, type SubmissionChoices } from "../../../client/submission/run-submission.ts";
import { ExitCode } from "../../../src/errors.ts";
import type { JobText } from "../../../src/job/build/load-job.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs, role } from "../job-status.ts";
import { StandInCluster, WatchedCluster } from "./stand-in-cluster.ts";

import "../../support/loaded-client.ts";

const id = "application_1795305600000_0001";
const other = "application_1795305600000_0900";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.startWithSuccess();
});
afterEach(() => there.stop());

async function run(
  text: JobText,
  choices: Partial<SubmissionChoices> = {},
  { changes = {}, place }: { readonly changes?: Partial<ClientContext>; readonly place?: JobCluster } = {},
) {
  const all: SubmissionChoices = { detach: false, json: false, local: false, logs: { kind: "none" }, ...choices };
  const exitCode = await runSubmission(text, all, { ...there.context, ...changes }, place);
  return { exitCode, out: there.context.out.text.trimEnd().split("\n"), err: there.context.err.text };
}

/** Another display than a terminal's or a program's, which was told that these were submitted, and at whose end. */
function shownElsewhere() {
  const [submitted, outcomes]: [string[], string[]] = [[], []];
  const view = new QuietView(there.context.output, {
    selection: { kind: "none" },
    printer: new LogPrinter(there.context.output, { json: false }),
    end: () => void outcomes.push(submitted.join()),
  });
  return { display: { view, submitted: (taken: string) => void submitted.push(taken) }, submitted, outcomes };
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
    const before = SIGNALS.map((signal) => process.listenerCount(signal));
    await expect(run(there.job(), { json: true })).rejects.toMatchObject({ code: "SUBMISSION_REFUSED" });
    expect(there.context.out.text).toBe("");
    expect(SIGNALS.map((signal) => process.listenerCount(signal))).toEqual(before);
  });

  test.each<[string, Partial<SubmissionChoices>, "out" | "err"]>([
    ["a person, on the way", {}, "out"],
    ["a program, beside the events", { json: true }, "err"],
    ["who leaves it alone, beside the result", { detach: true }, "err"],
  ])("an upload that takes long, to %s", async (_whom, choices, sink) => {
    let nowMs = 0;
    await run(there.job(), choices, { changes: { now: () => (nowMs += 5_000) } });
    const { out, err } = there.context;
    const bar = /^ {2}upload {2}\[#*\.*\] +\d+ %/m;
    expect([out, err].filter(({ text }) => bar.test(text))).toEqual([there.context[sink]]);
  });

  test("to a person at the end, what would have been enough", async () => {
    const used = { state: "succeeded", exit: "0", host: "n1", maxMemoryBytes: 300 << 20, restarts: 0 } as const;
    const roles = [{ ...role("worker", 1), memoryMiB: 8_192, ended: 1 }];
    const outcome = { ...allSucceeded, endedAtMs: noonishMs + 600_000 };
    const tasks = [{ task: "worker:0", ...used, startedAtMs: noonishMs, endedAtMs: noonishMs + 600_000 }];
    const status = aJobStatus({ applicationId: id, state: "succeeded", outcome, roles, tasks });
    const kept = path.join(there.staging, `history-${there.applicant}`);
    there.manager.onSubmit = () => {
      mkdirSync(kept, { recursive: true });
      writeFileSync(path.join(kept, `${id}.json`), JSON.stringify(status));
    };
    expect((await run(there.job())).out.join("\n")).toMatch(/advice: tony\.worker\.memory=\S+ would do/);
  });

  test("of one of this machine, that it runs here", async () => {
    void there.context.out.waitFor("on this machine").then(() => process.emit("SIGINT", "SIGINT"));
    await expect(run(there.job(), { local: true })).rejects.toMatchObject({ code: "NOT_SUBMITTED" });
    expect(there.context.out.text).toMatch(/^local_\S+ {2}bert · on this machine · worker × 2/);
  });

  test("whoever shows it in another way is told when the job was taken", async () => {
    const { display, submitted, outcomes } = shownElsewhere();
    await run(there.job(), { display });
    expect([submitted, outcomes]).toEqual([[id], [id]]);
  });
});

test("the cluster is closed when the job has ended, and when it is left alone", async () => {
  const text = there.job();
  for (const detach of [true, false]) {
    const place = new JobCluster(text, there.context);
    const { cluster } = await place.open();
    await run(text, { detach }, { place });
    await expect(cluster.resourceManager.report(id)).rejects.toMatchObject({ code: "RPC_CLOSED" });
  }
});

test("what cannot be removed of earlier jobs is no trouble of this one", async () => {
  there.manager.onSubmit = () => {
    rmSync(there.staging, { recursive: true });
    writeFileSync(there.staging, "no folder");
  };
  expect(await run(there.job(), { detach: true })).toMatchObject({ exitCode: ExitCode.succeeded, out: [id] });
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

test("a terminal that is closed while the ResourceManager takes the job leaves it running, as an exit code says", async () => {
  const exits = jest.spyOn(process, "exit").mockImplementation(() => undefined as never);
  try {
    there.manager.onSubmit = () => void process.emit("SIGHUP", "SIGHUP");
    const { out, err } = await run(there.job(), { json: true });
    expect(exits.mock.calls).toEqual([[ExitCode.unknown]]);
    expect(err).toContain(`${id} still runs; see tony-ts status ${id}`);
    expect(out.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ event: "end", outcome: null, exitCode: ExitCode.unknown }),
    );
    expect(there.manager.killed).toEqual([]);
  } finally {
    exits.mockRestore();
  }
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

  const succeed = () => {
    there.manager.applications = [runs({ state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: 2 })];
  };

  test("the one that ours gives way to is followed by one watcher of signals, not by two", async () => {
    there.manager.taken = { state: "ACCEPTED", startTimeMs: 2 };
    there.manager.onSubmit = () => {
      there.manager.applications = [runs()];
    };
    const before = SIGNALS.map((signal) => process.listenerCount(signal));
    const ran = run(job(), { applicationTag: "nightly" });
    await there.context.out.waitFor(`${other}  `);
    expect(SIGNALS.map((signal) => process.listenerCount(signal))).toEqual(before.map((count) => count + 1));
    succeed();
    expect((await ran).exitCode).toBe(ExitCode.succeeded);
  });

  test.each<[string, Partial<SubmissionChoices>, RegExp]>([
    ["is nobody's to end here", {}, /Ctrl-C leaves the job running/],
    ["is the caller's own", { own: true }, /Ctrl-C ends the job\./],
  ])("one that is taken up and %s is followed to its end", async (_what, choices, words) => {
    there.manager.applications = [runs()];
    const before = SIGNALS.map((signal) => process.listenerCount(signal));
    const ran = run(job(), { applicationTag: "nightly", ...choices });
    await there.context.out.waitFor(`${other}  `);
    expect(SIGNALS.map((signal) => process.listenerCount(signal))).toEqual(before.map((count) => count + 1));
    succeed();
    expect((await ran).exitCode).toBe(ExitCode.succeeded);
    expect(there.context.err.text).toMatch(words);
  });

  test("one that is taken up is told to programs, and to whoever shows it in another way", async () => {
    succeed();
    there.manager.applications = there.manager.applications.map((one) => ({ ...one, state: "RUNNING" }));
    const ran = run(job(), { applicationTag: "nightly", json: true });
    await there.context.out.waitFor('"event":"job"');
    succeed();
    const events = (await ran).out.map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ event: "job", applicationId: other });
    expect(events.at(-1)).toMatchObject({ event: "end", exitCode: 0 });
    there.manager.applications = [runs()];
    const { display, submitted, outcomes } = shownElsewhere();
    const shown = run(job(), { applicationTag: "nightly", display });
    while (submitted.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    succeed();
    await shown;
    expect([submitted, outcomes]).toEqual([[other], [other]]);
  });

  test("the cluster where one is taken up is closed, too", async () => {
    there.manager.applications = [runs()];
    const place = new WatchedCluster(job(), there.context);
    await run(job(), tagged, { place });
    expect(place.told).toEqual(["opened", "closed"]);
  });

  test("Ctrl-C while ours gives way to one of the same moment ends neither", async () => {
    there.manager.taken = { state: "ACCEPTED", startTimeMs: 2 };
    there.manager.onSubmit = () => {
      there.manager.applications = [runs()];
      process.emit("SIGINT", "SIGINT");
    };
    await expect(run(job(), { applicationTag: "nightly", own: true })).rejects.toMatchObject({ code: "NOT_SUBMITTED" });
    expect(there.manager.killed.map(({ id: killed }) => killed)).toEqual([id]);
  });

  test("that nobody can look for once it is submitted is told, and the job runs", async () => {
    there.manager.onSubmit = () => {
      there.manager.refusesLists = true;
    };
    expect(await run(job(), tagged)).toMatchObject({
      out: [id],
      err: expect.stringContaining("Whether another job with the tag nightly was submitted just before is not known: "),
    });
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
