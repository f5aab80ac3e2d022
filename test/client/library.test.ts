import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { submit } from "../../client/library.ts";
import { ownerName } from "../../src/hadoop/process-owner.ts";
import { eventually } from "../support/eventually.ts";
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
    expect([one.slice(0, 2), one.at(-1)]).toEqual([[first, remark], end]);
    expect(other).toEqual(one);
    expect(await eventsOf(job)).toEqual([first, remark, end]);
    expect(await job.ended()).toMatchObject({ result: "succeeded" });
    await eventually("all to leave", () => manager.callers === 0, 3_000);
    expect(manager.submitted).toHaveLength(1);
  });

  test("says how it ended where it failed, without an error", async () => {
    manager.taken = { ...manager.taken, finalStatus: "FAILED", diagnostics: "worker:0 exit 1" };
    const job = await handIn();
    expect(await job.ended()).toMatchObject({ result: "failed" });
    expect((await eventsOf(job)).at(-1)).toMatchObject({ event: "end", exitCode: 1 });
  });

  test.each([
    { what: "for a reason", reason: new Error("too slow"), words: /the program that submitted it: too slow\)?$/ },
    { what: "for none", reason: undefined, words: /the program that submitted it\)?$/ },
  ])("is ended by the signal, $what", async ({ reason, words }) => {
    manager.taken = { state: "ACCEPTED" };
    const abort = new AbortController();
    const job = await handIn({ conf: ["job.xml"] }, { signal: abort.signal });
    const ended = job.ended();
    abort.abort(reason);
    expect(await ended).toMatchObject({ result: "killed" });
    expect(manager.killed).toEqual([{ id, reason: expect.stringMatching(words) }]);
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
