import { getEventListeners } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EventView } from "../../client/following/event-view.ts";
import { type ExitCode, SubmittedJob, submit } from "../../client/library.ts";
import { ownerName } from "../../src/hadoop/process-owner.ts";
import { deferred } from "../support/deferred.ts";
import { eventually } from "../support/eventually.ts";
import { aJobSpec } from "../support/job-spec.ts";
import { aReport } from "./application-report.ts";
import { allSucceeded } from "./job-status.ts";
import { aPlace } from "./place.ts";
import { StandInManager } from "./stand-in-manager.ts";
import { aNode } from "./submission/stand-in-cluster.ts";

import "../support/loaded-client.ts";

describe("a job handed in by a program whose signal has fired", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tony-library-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("is not started on this machine, and nothing is left there", async () => {
    const job = path.join(folder, "job.xml");
    const settings = {
      "tony.application.framework": "generic",
      "tony.worker.instances": "1",
      "tony.worker.command": "true",
    };
    const properties = Object.entries(settings).map(
      ([k, v]) => `<property><name>${k}</name><value>${v}</value></property>`,
    );
    writeFileSync(job, `<configuration>${properties.join("")}</configuration>`);
    const environment = { ...process.env, HOME: folder, XDG_STATE_HOME: path.join(folder, "state") };
    const submitted = submit(job, { local: true, signal: AbortSignal.abort(), environment });
    await expect(submitted).rejects.toMatchObject({
      code: "NOT_SUBMITTED",
      message: "Nothing was submitted, and nothing is left on this machine",
    });
    expect(existsSync(path.join(folder, "state"))).toBe(false);
  });
});

test("an option whose name is no key is named alone", async () => {
  const mistake: object = { instances: 1 };
  await expect(submit(mistake)).rejects.toMatchObject({ message: 'submit() has no option "instances"' });
});

test("an option that a program without types gives by mistake is named", async () => {
  const mistake: object = { "tony.worker.instances": 1 };
  await expect(submit(mistake)).rejects.toMatchObject({
    code: "USAGE",
    message:
      'submit() has no option "tony.worker.instances"; keys of a job go into its list conf: "tony.worker.instances=…"',
  });
});

describe("a job that a program hands in to a cluster", () => {
  const id = "application_1795305600000_0001";
  let folder = "";
  let manager: StandInManager;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tony-library-"));
    manager = await StandInManager.start(folder);
    manager.nodes = [aNode("n1")];
    manager.taken = { state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: 1_795_305_660_000 };
    const settings = {
      "tony.application.name": "bert",
      "tony.yarn.queue": "ml",
      "tony.application.framework": "generic",
      "tony.worker.instances": "1",
      "tony.worker.command": "true",
      "tony.staging-dir": `file://${folder}/staging`,
      "tony.node.binary": "local:/opt/node",
    };
    const properties = Object.entries(settings).map(
      ([k, v]) => `<property><name>${k}</name><value>${v}</value></property>`,
    );
    writeFileSync(path.join(folder, "job.xml"), `<configuration>${properties.join("")}</configuration>`);
  });
  afterEach(async () => {
    await manager.stop();
    rmSync(folder, { recursive: true });
  });

  const handIn = (job: Parameters<typeof submit>[0] = "job.xml", options: Parameters<typeof submit>[1] = {}) => {
    const environment = {
      HADOOP_CONF_DIR: manager.configuration,
      HADOOP_USER_NAME: ownerName(),
      XDG_CACHE_HOME: path.join(folder, "cache"),
    };
    return submit(job, { environment, workingDirectory: folder, ...options });
  };

  async function eventsOf(job: AsyncIterable<object>): Promise<object[]> {
    const events: object[] = [];
    for await (const event of job) events.push(event);
    return events;
  }

  const first = { event: "job", applicationId: id, name: "bert", queue: "ml", submitted: true };
  const remark = { event: "remark", text: expect.stringMatching(/^upload {2}tony-ts runtime/) };
  const end = expect.objectContaining({ event: "end", exitCode: 0 });

  test("tells each who reads them its events, to the end, who comes late the end too; and closes what it opened", async () => {
    const job = await handIn();
    expect(job).toMatchObject({ id, spec: { name: "bert" } });
    const [one, other] = await Promise.all([eventsOf(job), eventsOf(job)]);
    expect(one).not.toContain(undefined);
    expect([one.slice(0, 2), one.at(-1)]).toEqual([[first, remark], end]);
    expect(other).toEqual(one);
    expect(await eventsOf(job)).toEqual([first, remark, end]);
    expect(await job.ended()).toMatchObject({ result: "succeeded" });
    await eventually("all to leave", () => manager.callers === 0, 3_000);
    expect(manager.submitted).toHaveLength(1);
  });

  test("tells warnings of its submission among its remarks", async () => {
    const job = await handIn({ conf: ["job.xml", "tony.yarn.queue=mll"] });
    const text = expect.stringMatching(/^-conf: warning: there is no queue mll: did you mean ml\?.*[^\n]$/);
    expect(await eventsOf(job)).toContainEqual({ event: "remark", text });
  });

  test("says how it ended where it failed, without an error", async () => {
    manager.taken = { ...manager.taken, finalStatus: "FAILED", diagnostics: "worker:0 exit 1" };
    const job = await handIn();
    expect(await job.ended()).toMatchObject({ result: "failed" });
    expect((await eventsOf(job)).at(-1)).toMatchObject({ event: "end", exitCode: 1 });
  });

  test.each([
    { what: "for a reason", reason: new Error("too slow"), words: /the program that submitted it: too slow\)?$/ },
    { what: "for one in words", reason: "too late", words: /the program that submitted it: too late\)?$/ },
    { what: "for nothing", reason: null, words: /the program that submitted it: null\)?$/ },
    { what: "for none", reason: undefined, words: /the program that submitted it\)?$/ },
  ])("is ended by the signal, $what", async ({ reason, words }) => {
    manager.taken = { state: "ACCEPTED" };
    const abort = new AbortController();
    const job = await handIn({ conf: ["job.xml"] }, { signal: abort.signal });
    const ended = job.ended();
    abort.abort(reason);
    expect(await ended).toMatchObject({ result: "killed" });
    expect(manager.killed).toEqual([{ id, reason: expect.stringMatching(words) }]);
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
  });

  test("cannot be ended by who may not: who reads its events is told by the same error as who waits for its end", async () => {
    manager.taken = { state: "ACCEPTED" };
    manager.refusesKill = true;
    const abort = new AbortController();
    const job = await handIn("job.xml", { signal: abort.signal });
    const [read, ended] = [eventsOf(job), job.ended()];
    abort.abort();
    const both = await Promise.allSettled([ended, read]);
    const refused = { status: "rejected", reason: expect.objectContaining({ code: "ACCESS_DENIED" }) };
    expect(both).toEqual([refused, refused]);
  });

  test.each([
    ["whose logs are nobody's", { logs: "Worker" }, "USAGE"],
    ["that is not there", { workingDirectory: "/" }, "JOB_INVALID"],
  ])("one %s is refused, and nothing is submitted", async (_what, options, code) => {
    await expect(handIn("job.xml", options)).rejects.toMatchObject({ code });
    expect(manager.submitted).toEqual([]);
  });

  test("is left alone where its program does not ask for it", async () => {
    manager.taken = { state: "ACCEPTED" };
    await handIn();
    expect([manager.submitted.length, manager.killed]).toEqual([1, []]);
  });
});

describe("a job that was taken, to the program that submitted it", () => {
  const outcome = { ...allSucceeded, endedAtMs: 0 };
  const text = (of: string) => ({ event: "remark", text: of });

  /** With the views that follow it, and whether what it opened was closed. */
  function aJob() {
    const views: EventView[] = [];
    const over = deferred<ExitCode>();
    const closed: string[] = [];
    const applications = aPlace({ close: () => void closed.push("closed") });
    const follow = (view: EventView) => {
      views.push(view);
      return over.promise;
    };
    const job = new SubmittedJob({ id: "local_1_0001", spec: aJobSpec(), applications }, { remarks: [], follow });
    const end = () => {
      views[0]?.ended({ outcome, report: aReport(), exitCode: 0 });
      over.resolve(0);
    };
    return { job, views, over, end, closed };
  }

  /** A reader that has read that the job was submitted, and waits for more. */
  async function readerOf(job: SubmittedJob) {
    const events = job[Symbol.asyncIterator]();
    await events.next();
    const next = async () => (await events.next()).value;
    return { next, pending: next() };
  }

  test("is followed when somebody asks, and once for all", async () => {
    const { job, views, end } = aJob();
    expect(views).toEqual([]);
    const reader = await readerOf(job);
    const ended = job.ended();
    end();
    expect(await ended).toEqual(outcome);
    expect([await reader.pending, views.length]).toEqual([{ event: "end", outcome, exitCode: 0 }, 1]);
  });

  test("tells each event as it comes, also those that come while nobody waits for one", async () => {
    const { job, views, end } = aJob();
    const { pending, next } = await readerOf(job);
    views[0]?.line("one");
    expect(await pending).toEqual(text("one"));
    for (const line of ["two", "three"]) views[0]?.line(line);
    expect([await next(), await next()]).toEqual([text("two"), text("three")]);
    views[0]?.line("last");
    end();
    await job.ended();
    expect([await next(), await next(), await next()]).toEqual([
      text("last"),
      { event: "end", outcome, exitCode: 0 },
      undefined,
    ]);
  });

  test("tells who comes later what is new from then on", async () => {
    const { job, views } = aJob();
    const early = await readerOf(job);
    views[0]?.line("one");
    await early.pending;
    const late = await readerOf(job);
    views[0]?.line("two");
    expect([await early.next(), await late.pending]).toEqual([text("two"), text("two")]);
  });

  test("may still run where the client stopped following it, which is an error for who waits for its end", async () => {
    const { job, views, over, closed } = aJob();
    const { pending, next } = await readerOf(job);
    const ended = expect(job.ended()).rejects.toMatchObject({ code: "STILL_RUNNING" });
    views[0]?.left("nothing is heard of it", 5);
    over.resolve(5);
    expect([await pending, await next()]).toEqual([
      text("nothing is heard of it"),
      { event: "end", outcome: null, exitCode: 5 },
    ]);
    await expect(next()).rejects.toMatchObject({ code: "STILL_RUNNING", message: "local_1_0001 may still run" });
    await ended;
    expect(closed).toEqual(["closed"]);
  });

  test("is closed where following it fails, with the error for who waits", async () => {
    const { job, over, closed } = aJob();
    const ended = job.ended();
    const lost = new Error("contact is lost");
    over.reject(lost);
    await expect(ended).rejects.toBe(lost);
    expect(closed).toEqual(["closed"]);
  });
});
