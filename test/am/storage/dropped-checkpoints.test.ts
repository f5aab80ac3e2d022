import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { DroppedCheckpoints } from "../../../am/storage/dropped-checkpoints.ts";
import { onThisMachine } from "../../client/place.ts";
import { silentLog } from "../../support/silent-log.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

const ID = "application_1_0001";

/** A log, and what was warned of in it. */
function warningLog() {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (event: string, message: string) => void warnings.push(`${event} ${message}`) };
  return { log, warnings };
}

function stored(name: string): void {
  mkdirSync(path.join(folder.path, path.dirname(name)), { recursive: true });
  writeFileSync(path.join(folder.path, name), "");
}

test("checkpoints that executors stored of some tasks go, and nothing else", async () => {
  for (const id of [ID, "application_1_0002"]) {
    stored(`${id}/worker-1/step-7-at-1/_complete.json`);
    stored(`${id}/worker-1/_unfinished-step-9-at-2/w.pt`);
    stored(`${id}/worker-10/step-7-at-1/_complete.json`);
    stored(`${id}/note.txt`);
  }
  const { log, warnings } = warningLog();
  const dropped = new DroppedCheckpoints({
    spec: { checkpointDir: `${folder.path}/` },
    applicationId: ID,
    fileSystems: onThisMachine,
    log,
  });
  await dropped.remove(["worker:1", "worker:2"]);
  expect(readdirSync(path.join(folder.path, ID)).sort()).toEqual(["note.txt", "worker-10"]);
  expect(readdirSync(path.join(folder.path, "application_1_0002")).sort()).toEqual([
    "note.txt",
    "worker-1",
    "worker-10",
  ]);
  expect(warnings).toEqual([]);
});

test("a removal that fails on its way, and one of no task's, keep none of the others from theirs", async () => {
  for (const worker of ["worker-1", "worker-2"]) stored(`${ID}/${worker}/step-7-at-1/_complete.json`);
  let fails = true;
  const { log, warnings } = warningLog();
  const fileSystems: Pick<typeof onThisMachine, "locate"> = {
    locate: (url) => {
      const located = onThisMachine.locate(url);
      const { fileSystem } = located;
      const remove: typeof fileSystem.delete = async (file, options) => {
        if (fails && file.endsWith("worker-1")) throw new Error("the NameNode is in safe mode");
        return fileSystem.delete(file, options);
      };
      const failing: typeof fileSystem = Object.create(fileSystem, { delete: { value: remove } });
      return { ...located, fileSystem: failing };
    },
  };
  const dropped = new DroppedCheckpoints({ spec: { checkpointDir: folder.path }, applicationId: ID, fileSystems, log });
  await dropped.remove(["no task", "worker:1", "worker:2"]);
  expect(readdirSync(path.join(folder.path, ID))).toEqual(["worker-1"]);
  expect(warnings).toEqual([expect.stringContaining("The checkpoints of worker:1 could not be removed")]);
  fails = false;
  await dropped.remove(["worker:1"]);
  expect(readdirSync(path.join(folder.path, ID))).toEqual([]);
});

test("what cannot be removed is told, fails nothing, and is tried again; what is removed is asked for once", async () => {
  stored(`${ID}/worker-1/step-7-at-1/_complete.json`);
  const asked: string[] = [];
  let works = false;
  const { log, warnings } = warningLog();
  const fileSystems: Pick<typeof onThisMachine, "locate"> = {
    locate: (url) => {
      asked.push(path.basename(url));
      if (!works) throw new Error("the NameNode is in safe mode");
      return onThisMachine.locate(url);
    },
  };
  const dropped = new DroppedCheckpoints({ spec: { checkpointDir: folder.path }, applicationId: ID, fileSystems, log });
  await dropped.remove(["worker:1"]);
  expect(warnings).toEqual([
    `checkpoints-not-removed The checkpoints of worker:1 could not be removed, and stay in ${folder.path}/${ID}/worker-1: the NameNode is in safe mode.`,
  ]);
  works = true;
  await Promise.all([dropped.remove(["worker:1"]), dropped.remove(["worker:1"])]);
  expect(existsSync(path.join(folder.path, ID, "worker-1"))).toBe(false);
  expect(asked).toEqual(["worker-1", "worker-1"]);
});
