import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { removeUnfinishedUploads } from "../../../am/storage/unfinished-uploads.ts";
import { onThisMachine } from "../../client/place.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

function stored(name: string): void {
  mkdirSync(path.join(folder.path, path.dirname(name)), { recursive: true });
  writeFileSync(path.join(folder.path, name), "");
}

const carrier = { outputRequired: true, timeoutMs: 1 };
const both = () => ({
  checkpointDir: `${folder.path}/ckpt/`,
  carrier: {
    ...carrier,
    checkpoints: { localDir: "c", keep: 2 },
    output: { localDir: "o", dir: `file://${folder.path}/out` },
  },
});

test("what uploads left unfinished goes with the job, and nothing else", async () => {
  for (const id of ["application_1_0001", "application_1_0002"]) {
    stored(`out/${id}/worker-0/model.pt`);
    stored(`out/${id}/_unfinished-worker-1/model.pt`);
    stored(`ckpt/${id}/worker-0/step-7-at-1/_complete.json`);
    stored(`ckpt/${id}/worker-0/_unfinished-step-9-at-2/w.pt`);
    stored(`ckpt/${id}/note.txt`);
  }
  await removeUnfinishedUploads(both(), "application_1_0001", onThisMachine);
  const left = (name: string) => readdirSync(path.join(folder.path, name)).sort();
  expect(left("out/application_1_0001")).toEqual(["worker-0"]);
  expect(left("ckpt/application_1_0001")).toEqual(["note.txt", "worker-0"]);
  expect(left("ckpt/application_1_0001/worker-0")).toEqual(["step-7-at-1"]);
  expect(left("out/application_1_0002")).toEqual(["_unfinished-worker-1", "worker-0"]);
  expect(left("ckpt/application_1_0002/worker-0")).toEqual(["_unfinished-step-9-at-2", "step-7-at-1"]);
});

test("a job that uploaded nothing, or names no folder, has none", async () => {
  await removeUnfinishedUploads(both(), "application_1_0001", onThisMachine);
  await removeUnfinishedUploads({}, "application_1_0001", onThisMachine);
  expect(readdirSync(folder.path)).toEqual([]);
});
