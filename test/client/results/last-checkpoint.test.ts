import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { lastCheckpointOf } from "../../../client/results/last-checkpoint.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";
import { onThisMachine } from "../place.ts";

const home = temporaryFolder();
let asked: string[] = [];
beforeEach(() => {
  asked = [];
});

const applicationId = "application_1795305600000_0009";
const outcome = { ...allSucceeded, endedAtMs: noonishMs };
const places = {
  locate: (address: string) => {
    asked.push(address);
    return onThisMachine.locate(address);
  },
};

function stored(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home.path, folder, name)), { recursive: true });
    writeFileSync(path.join(home.path, folder, name), text);
  }
}

function manifest(changes: object): string {
  const file = { path: "w.pt", sizeBytes: 5 };
  return JSON.stringify({ manifestVersion: 1, name: "w.pt", step: 7, atMs: 1, files: [file], ...changes });
}

const saved = (folder: string, changes: Partial<JobStatus> = { outcome }) => {
  const checkpoint = { step: 7, atMs: noonishMs, path: `file://${path.join(home.path, folder)}` };
  return lastCheckpointOf(aJobStatus({ checkpoint, ...changes }), places);
};
const namesOf = async (folder: string) => (await saved(folder)).files.map((file) => file.path).sort();

describe("a checkpoint that an executor stored", () => {
  test("has the programs and the empty folders of its list again", async () => {
    const files = [
      { path: "run.sh", sizeBytes: 5, executable: true },
      { path: "w.pt", sizeBytes: 5 },
    ];
    const list = manifest({ files, folders: ["logs/empty"] });
    stored("ckpt/step-7-at-1", { "run.sh": "12345", "w.pt": "12345", "_complete.json": list });
    const found = await saved("ckpt/step-7-at-1");
    expect(found.files.map((file) => [file.path, file.executable])).toEqual([
      ["run.sh", true],
      ["w.pt", false],
    ]);
    expect(found).toMatchObject({ folders: ["logs/empty"], remarks: [] });
  });

  test("is all that is in its folder where the list has gone", async () => {
    stored("ckpt/step-7-at-1", { "w.pt": "12345", "deep/v.pt": "1" });
    expect(await namesOf("ckpt/step-7-at-1")).toEqual(["deep/v.pt", "w.pt"]);
  });

  test("is refused where nobody can understand its list", async () => {
    stored("ckpt/step-7-at-1", { "w.pt": "12345", "_complete.json": "{" });
    await expect(saved("ckpt/step-7-at-1")).rejects.toMatchObject({
      code: "LIST_UNREADABLE",
      message: expect.stringMatching(/step-7-at-1\/_complete\.json cannot be understood: /),
    });
  });
});

describe("a checkpoint that the program wrote", () => {
  test("is its own, also where an executor's lies beside it", async () => {
    stored("ckpt/own", { "mine.pt": "1" });
    stored("ckpt/step-6-at-1", { "w.pt": "12345", "_complete.json": manifest({ step: 6 }) });
    expect(await namesOf("ckpt/own")).toEqual(["mine.pt"]);
  });

  test("has no folder among the files that its name begins", async () => {
    stored("ckpt", { "model-7.index": "1", "model-7.d/other": "2" });
    expect(await namesOf("ckpt/model-7")).toEqual(["model-7.index"]);
  });

  test("without a scheme is a file of the machine itself, whatever the cluster's file system is", async () => {
    stored("ckpt", { "7.pt": "1" });
    await saved("", { outcome, checkpoint: { step: 7, atMs: 1, path: path.join(home.path, "ckpt/7.pt") } });
    expect(asked).toEqual([`file://${home.path}/ckpt/7.pt`]);
  });
});

test.each<[string, Partial<JobStatus>, string]>([
  ["while it runs", {}, "has no checkpoint yet"],
  ["when it has ended", { outcome }, "has no checkpoint"],
  [
    "of which the container is gone that had it",
    { outcome, droppedCheckpoint: { step: 4, atMs: 1, task: "worker:0", path: "/tmp/4" } },
    "has no checkpoint: the checkpoint of step 4 lay in the container of worker:0 and is lost (/tmp/4); those in tony.checkpoint.local-dir are kept",
  ],
  [
    "that began with another job's",
    { outcome, resumeFrom: "hdfs:///ckpt/3" },
    "has no checkpoint\n  It began with hdfs:///ckpt/3",
  ],
])("a job %s is told to have none: %j", async (_when, changes, words) => {
  const none = lastCheckpointOf(aJobStatus(changes), places);
  await expect(none).rejects.toMatchObject({ code: "NOTHING_LEFT", message: `${applicationId} ${words}` });
});

test("of a search that trial is named which has one, however good another is", async () => {
  const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
  const trial = (index: number, loss: number, checkpoint?: string) => {
    const state = { state: "completed", ...(checkpoint !== undefined && { checkpoint }) } as const;
    return { task: `worker:${index}`, state: "succeeded", restarts: 0, metrics: { loss }, trial: state } as const;
  };
  const tasks = [trial(0, 0.1), trial(1, 0.9, "hdfs:///ckpt/1")];
  const none = lastCheckpointOf(aJobStatus({ outcome, search, tasks }), places);
  await expect(none).rejects.toThrow(`such as trial 1: tony-ts get ${applicationId} trial:1 --checkpoint`);
});

test.each<[string, Partial<JobStatus>, string]>([
  ["runs", {}, "A job that runs replaces its checkpoints: try again"],
  ["has ended", { outcome }, "Somebody has removed it since"],
])("that it is gone is told with what explains it of a job that %s", async (_, changes, why) => {
  await expect(saved("gone", changes)).rejects.toMatchObject({
    code: "NOTHING_LEFT",
    message: `The checkpoint of step 7 no longer exists: file://${home.path}/gone\n  ${why}`,
  });
});
