import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { localFiles, newLocalFolder } from "../../../client/applications/local-folder.ts";
import { JobCluster } from "../../../client/submission/job-cluster.ts";
import { lastCheckpoint, resumePoint } from "../../../client/submission/resume-point.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";
import { StandInCluster } from "./stand-in-cluster.ts";

import "../../support/loaded-client.ts";

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
    expect(left({ resumeFrom })).toEqual({
      path: resumeFrom,
      words: "it left no checkpoint of its own, and had begun with hdfs:///ckpt/900",
    });
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

describe("what --resume-from names", () => {
  let there: StandInCluster;
  beforeEach(async () => {
    there = await StandInCluster.start();
  });
  afterEach(() => there.stop());

  async function point(from: string, { local = false, settings = {} } = {}): Promise<string> {
    const text = there.job(settings);
    const place = new JobCluster(text, there.context);
    try {
      return await resumePoint(from, text, local, there.context, place);
    } finally {
      await place.close();
    }
  }

  /** A job that has ended, as its ApplicationMaster left it, on the cluster or here. */
  function endedJob(folder: string, file: string, id: string, changes: Partial<JobStatus>): void {
    mkdirSync(folder, { recursive: true });
    const outcome = { ...allSucceeded, endedAtMs: noonishMs + 60_000 };
    const status = aJobStatus({ applicationId: id, state: "succeeded", outcome, ...changes });
    writeFileSync(path.join(folder, file), JSON.stringify(status));
  }

  /** A complete checkpoint in the folder that a job kept them in. */
  function storedCheckpoint(kept: string, id: string, step: number): void {
    const folder = path.join(kept, id, "worker-0", `step-${step}-at-1`);
    mkdirSync(folder, { recursive: true });
    const complete = { manifestVersion: 1, name: String(step), step, atMs: 1, files: [] };
    writeFileSync(path.join(folder, "_complete.json"), JSON.stringify(complete));
  }

  test.each(["hdfs:///ckpt/step-7", "/ckpt/application_1_0001/step-7"])(
    "is a checkpoint itself: %s",
    async (address) => {
      expect(await point(address)).toBe(address);
    },
  );

  test("is the last checkpoint of a job of the cluster, which is said", async () => {
    const id = "application_1795305600000_0007";
    there.manager.applications = [aReport({ id, user: there.applicant, state: "FINISHED", finalStatus: "SUCCEEDED" })];
    await expect(point(id)).rejects.toMatchObject({
      code: "NO_CHECKPOINT",
      message: expect.stringContaining("not kept"),
    });
    endedJob(path.join(there.staging, `history-${there.applicant}`), `${id}.json`, id, { checkpoint: saved });
    expect(await point(id)).toBe(saved.path);
    expect(there.context.err.text).toMatch(new RegExp(`Resuming from ${id}: step 1800, saved 40 s before the end`));
  });

  test("is that of a job of this machine, which a job elsewhere can read only from the cluster's file system", async () => {
    const { id, folder } = newLocalFolder(path.join(there.folder, "state/tony-ts/local"), 1_795_305_600_000);
    endedJob(folder, localFiles.status, id, { checkpoint: { ...saved, path: `${folder}/step-1800` } });
    expect(await point(id, { local: true })).toBe(`${folder}/step-1800`);
    await expect(point(id)).rejects.toMatchObject({
      code: "NO_CHECKPOINT",
      message: expect.stringMatching(/ran on this machine, and its checkpoint is here: .*\n {2}Add --scheduler local$/),
    });
    endedJob(folder, localFiles.status, id, { checkpoint: saved });
    expect(await point(id)).toBe(saved.path);
  });

  test("is looked for at the place where the new job goes, which stays open for it", async () => {
    const [running, over] = ["application_1795305600000_0007", "application_1795305600000_0008"];
    there.manager.applications = [
      aReport({ id: running, user: there.applicant, state: "RUNNING" }),
      aReport({ id: over, user: there.applicant, state: "FINISHED", finalStatus: "SUCCEEDED" }),
    ];
    // Both have left a checkpoint in the folder that the new job keeps its own in; only one of them is the last.
    const kept = path.join(there.folder, "ckpt");
    for (const id of [running, over]) storedCheckpoint(kept, id, 7);
    const text = there.job({ "tony.application.checkpoint-dir": `file://${kept}` });
    const place = new JobCluster(text, there.context);
    try {
      const from = (id: string) => resumePoint(id, text, false, there.context, place);
      await expect(from(running)).rejects.toMatchObject({ message: expect.stringContaining("has not ended") });
      expect(await from(over)).toMatch(new RegExp(`/ckpt/${over}/worker-0/step-7-at-1$`));
      expect(there.context.err.text).toContain(
        "how it ended was not kept; its latest complete checkpoint is of step 7",
      );
    } finally {
      await place.close();
    }
  });

  test("of a job that was killed is in the folder that it kept its own in, where that is known, not in the new job's", async () => {
    const id = "application_1795305600000_0007";
    there.manager.applications = [aReport({ id, user: there.applicant, state: "KILLED", finalStatus: "KILLED" })];
    const [its, ours] = [path.join(there.folder, "its"), path.join(there.folder, "ours")];
    storedCheckpoint(its, id, 9);
    storedCheckpoint(ours, id, 7);
    const settings = { "tony.application.checkpoint-dir": `file://${ours}` };
    expect(await point(id, { settings })).toBe(`file://${ours}/${id}/worker-0/step-7-at-1`);
    const history = path.join(there.staging, `history-${there.applicant}`);
    mkdirSync(history, { recursive: true });
    writeFileSync(path.join(history, `${id}.checkpoint-dir`), `file://${its}`);
    expect(await point(id, { settings })).toBe(`file://${its}/${id}/worker-0/step-9-at-1`);
  });

  test("is no checkpoint in that folder of another job, or of another user's", async () => {
    const [ours, theirs] = ["application_1795305600000_0007", "application_1795305600000_0008"];
    there.manager.applications = [
      aReport({ id: ours, user: there.applicant, state: "KILLED", finalStatus: "KILLED" }),
      aReport({ id: theirs, user: "bob", state: "KILLED", finalStatus: "KILLED" }),
    ];
    const kept = path.join(there.folder, "ckpt");
    storedCheckpoint(kept, theirs, 7);
    const settings = { "tony.application.checkpoint-dir": `file://${kept}` };
    await expect(point(ours, { settings })).rejects.toThrow(/how it ended was not kept/);
    await expect(point(theirs, { settings })).rejects.toThrow(/only bob may read how it ended/);
  });

  test("is not known while the last state of its job cannot be read", async () => {
    const id = "application_1795305600000_0007";
    there.manager.applications = [aReport({ id, user: there.applicant, state: "KILLED", finalStatus: "KILLED" })];
    await expect(point(id, { settings: { "tony.staging-dir": "s3a://bucket/staging" } })).rejects.toMatchObject({
      code: "NO_CHECKPOINT",
      message: expect.stringMatching(new RegExp(`^The last checkpoint of ${id} is not known: .*s3a`)),
    });
  });

  test("has the form of an id where it begins as one does", async () => {
    await expect(point("application_7")).rejects.toMatchObject({ code: "USAGE" });
  });
});
