import { rmSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { JobCluster } from "../../../client/submission/job-cluster.ts";
import { followedFromNow, type StartChoices, startJob } from "../../../client/submission/start-job.ts";
import { clientAccessFile } from "../../../src/api/identity.ts";
import type { JobText } from "../../../src/job/build/load-job.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";
import { aPlace } from "../place.ts";
import { StandInCluster, WatchedCluster } from "./stand-in-cluster.ts";

import "../../support/loaded-client.ts";

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.start();
});
afterEach(() => there.stop());

function start(
  text: JobText,
  place: JobCluster,
  changes: Partial<StartChoices> = {},
  stop = new AbortController().signal,
) {
  const listener = { named: () => undefined, uploading: () => undefined, uploaded: () => undefined };
  const choices: StartChoices = { local: false, logs: { kind: "lead" }, ...changes };
  return startJob(text, choices, there.context, stop, listener, place);
}

test("the cluster of a job that was taken stays open, and its ApplicationMaster's secret is known without a file", async () => {
  const text = there.job();
  const place = new WatchedCluster(text, there.context);
  const { id, applications } = await start(text, place);
  try {
    rmSync(path.join(there.staging, id, clientAccessFile));
    const report = await applications.report(id);
    const calls = { amHost: "n1", amRpcPort: 4_711, currentAttemptId: "appattempt_1795305600000_0001_000001" };
    expect(await applications.contact({ ...report, ...calls })).toMatchObject({ access: { applicationId: id } });
    expect(place.told).toEqual(["opened"]);
  } finally {
    await place.close();
  }
});

test("that of a job that is refused is closed", async () => {
  const text = there.job({ "tony.worker.node-label": "gpu" });
  const place = new WatchedCluster(text, there.context);
  await expect(start(text, place)).rejects.toMatchObject({ code: "CLUSTER_REFUSES" });
  expect(place.told).toEqual(["opened", "closed"]);
});

test("where the cluster's files cannot be reached, it is said what can be set instead", async () => {
  const text = there.job({ "tony.staging-dir": "s3a://bucket/staging" });
  await expect(start(text, new JobCluster(text, there.context))).rejects.toMatchObject({
    exitCode: 3,
    message: expect.stringMatching(/\n {2}The files of jobs may lie elsewhere: tony\.staging-dir=hdfs:/),
  });
});

test.each<[string, Readonly<Record<string, string>>, Partial<StartChoices>, object]>([
  ["a mistake in the job", { "tony.worker.instances": "-1" }, {}, { code: "JOB_INVALID" }],
  [
    "a task whose output is wanted and that the job does not have",
    {},
    { logs: { kind: "named", names: ["worker:2"] } },
    { message: expect.stringContaining("worker:2") },
  ],
])("%s is told before any cluster is asked for", async (_what, settings, changes, error) => {
  const text = there.job(settings);
  const place = new WatchedCluster(text, there.context);
  await expect(start(text, place, changes)).rejects.toMatchObject(error);
  expect(place.told).toEqual([]);
});

test("one of this machine asks for no cluster, and is not started where it was stopped before", async () => {
  const text = there.job();
  const place = new WatchedCluster(text, there.context);
  const started = start(text, place, { local: true }, AbortSignal.abort("Ctrl-C"));
  await expect(started).rejects.toThrow("Nothing was submitted, and nothing is left on this machine");
  expect(place.told).toEqual([]);
});

describe("a job is followed", () => {
  const { timeouts } = aJobSpec();
  const signals = { stop: new AbortController().signal };
  const applications = aPlace();
  const now = () => 5_000;
  const followed = (changes: Partial<JobSpec>, limits = {}, more = {}) => {
    const job = { id: "application_1_0001", spec: aJobSpec(changes), applications };
    return followedFromNow(job, { logs: { kind: "all" }, ...limits }, now, { ...signals, ...more });
  };

  test("from the moment that it was taken, by the output of its own tasks, for as long as its start may take", () => {
    const roles = [aRole("chief", 1), aRole("worker", 2)];
    const timed = { ...timeouts, startupMs: 60_000 };
    expect(followed({ roles, leadTask: "chief:0", timeouts: timed })).toMatchObject({
      id: "application_1_0001",
      sinceMs: 5_000,
      logs: { kind: "all" },
      leadTask: "chief:0",
      tasks: ["chief:0", "worker:0", "worker:1"],
      startupLimitMs: 60_000,
    });
    expect(followed({})).not.toHaveProperty("startupLimitMs");
    expect([followed({}).applications, followed({}).now]).toEqual([applications, now]);
  });

  test("with who is told of its end, and who ends it by when", () => {
    const more = { ending: () => undefined, ended: () => undefined, stoppedBy: () => "the notebook" };
    expect(followed({}, { endWithinMs: 20_000 }, more)).toMatchObject({ ...more, endWithinMs: 20_000 });
    expect(followed({}).stop).toBe(signals.stop);
    const optional = ["endWithinMs", "ending", "ended", "stoppedBy"];
    expect(Object.keys(followed({})).filter((name) => optional.includes(name))).toEqual([]);
  });
});
