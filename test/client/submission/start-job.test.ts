import { rmSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { JobCluster } from "../../../client/submission/job-cluster.ts";
import { startJob } from "../../../client/submission/start-job.ts";
import { clientAccessFile } from "../../../src/api/identity.ts";
import type { JobText } from "../../../src/job/build/load-job.ts";
import { StandInCluster } from "./stand-in-cluster.ts";

// Loaded before a submission does so, several at once, which Jest's loader cannot.
import "../../../client/applications/yarn-applications.ts";
import "../../../client/cluster/cluster.ts";
import "../../../client/submission/submission.ts";

/** Says how often it was asked for, and closed. */
class WatchedCluster extends JobCluster {
  readonly told: string[] = [];

  override open(): ReturnType<JobCluster["open"]> {
    this.told.push("opened");
    return super.open();
  }

  override async close(): Promise<void> {
    this.told.push("closed");
    await super.close();
  }
}

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.start();
});
afterEach(() => there.stop());

function start(text: JobText, place: JobCluster) {
  const listener = { named: () => undefined, uploading: () => undefined, uploaded: () => undefined };
  const choices = { local: false, logs: { kind: "lead" } } as const;
  return startJob(text, choices, there.context, new AbortController().signal, listener, place);
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

test("a mistake in the job is told before any cluster is asked for", async () => {
  const text = there.job({ "tony.worker.instances": "-1" });
  const place = new WatchedCluster(text, there.context);
  await expect(start(text, place)).rejects.toMatchObject({ code: "JOB_INVALID" });
  expect(place.told).toEqual([]);
});
