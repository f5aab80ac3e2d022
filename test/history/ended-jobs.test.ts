import { readdir, rename, stat, utimes, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import { EndedJobs } from "../../src/history/ended-jobs.ts";
import { aJobStatus } from "../client/job-status.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const user = userInfo().username;
const dayMs = 24 * 3_600_000;

describe("how a user's jobs ended", () => {
  const root = temporaryFolder();
  let jobs: EndedJobs;
  beforeEach(() => {
    jobs = new EndedJobs({ fileSystem: new LocalFileSystem(), path: root.path }, user);
  });

  test("is kept beside the staging folders and found by the application's id", async () => {
    const status = aJobStatus({ state: "failed" });
    await jobs.keep(status);
    expect(JSON.parse((await jobs.find(status.applicationId)) ?? "")).toEqual(status);
    expect(await readdir(root.path)).toEqual([`history-${user}`]);
  });

  test("is the last word where it was written twice", async () => {
    await jobs.keep(aJobStatus({ attempt: 1 }));
    await jobs.keep(aJobStatus({ attempt: 2 }));
    expect(JSON.parse((await jobs.find(aJobStatus().applicationId)) ?? "")).toMatchObject({ attempt: 2 });
  });

  test("is what the ApplicationMaster says, whoever else finds what it left, before it or after", async () => {
    const left = aJobStatus({ state: "killed" });
    await jobs.keepLeft(left);
    expect(JSON.parse((await jobs.find(left.applicationId)) ?? "")).toEqual(left);
    const last = aJobStatus({ state: "succeeded" });
    await jobs.keep(last);
    await jobs.keepLeft(left);
    expect(JSON.parse((await jobs.find(left.applicationId)) ?? "")).toEqual(last);
    expect(await readdir(path.join(root.path, `history-${user}`))).toEqual([`${left.applicationId}.json`]);
  });

  test("is whole where two write it at once: each has a draft of its own", async () => {
    const fileSystem = new LocalFileSystem();
    const drafts: string[] = [];
    const create: LocalFileSystem["create"] = (file, ...rest) => {
      drafts.push(file);
      return LocalFileSystem.prototype.create.call(fileSystem, file, ...rest);
    };
    const writing = new EndedJobs(
      { fileSystem: Object.assign(Object.create(fileSystem), { create }), path: root.path },
      user,
    );
    await writing.keep(aJobStatus());
    await writing.keepLeft(aJobStatus());
    expect(new Set(drafts).size).toBe(2);
  });

  test("is not known of a job that left nothing", async () => {
    expect(await jobs.find("application_1_0001")).toBeUndefined();
  });

  test("is refused a folder that somebody else made", async () => {
    const somebody = new EndedJobs({ fileSystem: new LocalFileSystem(), path: root.path }, "somebody");
    await expect(somebody.keep(aJobStatus())).rejects.toMatchObject({ code: "HISTORY_NOT_OURS" });
  });

  test("is not believed of a folder that somebody else made", async () => {
    await jobs.keep(aJobStatus());
    await rename(path.join(root.path, `history-${user}`), path.join(root.path, "history-somebody"));
    const somebody = new EndedJobs({ fileSystem: new LocalFileSystem(), path: root.path }, "somebody");
    const { applicationId } = aJobStatus();
    await expect(somebody.find(applicationId)).rejects.toMatchObject({ code: "HISTORY_NOT_OURS" });
  });

  test("goes after a month, and beyond the newest 200", async () => {
    for (let number = 1; number <= 202; number += 1) {
      const applicationId = `application_1_${String(number).padStart(4, "0")}`;
      await jobs.keep(aJobStatus({ applicationId }));
      const writtenAt = new Date(Date.now() - (number === 1 ? 31 * dayMs : (300 - number) * 1_000));
      await utimes(path.join(root.path, `history-${user}`, `${applicationId}.json`), writtenAt, writtenAt);
    }
    await jobs.prune(Date.now());
    const left = await readdir(path.join(root.path, `history-${user}`));
    expect(left).toHaveLength(200);
    expect(left.sort()[0]).toBe("application_1_0003.json");
  });

  test("goes after a month to the millisecond, also where few are kept", async () => {
    const { applicationId } = aJobStatus();
    await jobs.keep(aJobStatus());
    const { mtimeMs } = await stat(path.join(root.path, `history-${user}`, `${applicationId}.json`));
    const writtenAtMs = Math.floor(mtimeMs);
    await jobs.prune(writtenAtMs + 30 * dayMs - 1);
    expect(await jobs.find(applicationId)).toBeDefined();
    await jobs.prune(writtenAtMs + 30 * dayMs);
    expect(await jobs.find(applicationId)).toBeUndefined();
  });

  test("is his alone to read", async () => {
    await jobs.keep(aJobStatus());
    const folder = path.join(root.path, `history-${user}`);
    const file = path.join(folder, `${aJobStatus().applicationId}.json`);
    expect([(await stat(folder)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  test("is written also where an earlier writer died over it", async () => {
    const status = aJobStatus();
    await jobs.keep(status);
    await writeFile(path.join(root.path, `history-${user}`, `${status.applicationId}.json.tmp`), "{");
    await jobs.keep(status);
    expect(await readdir(path.join(root.path, `history-${user}`))).toEqual([`${status.applicationId}.json`]);
  });

  test("says beside it where the checkpoints are of a job whose last status nobody could write", async () => {
    const { applicationId } = aJobStatus();
    expect(await jobs.checkpointDir(applicationId)).toBeUndefined();
    await jobs.keepCheckpointDir(applicationId, "hdfs://nn/checkpoints");
    expect(await jobs.checkpointDir(applicationId)).toBe("hdfs://nn/checkpoints");
    expect(await jobs.find(applicationId)).toBeUndefined();
  });

  test("needs no folder to be pruned", async () => {
    await jobs.prune(Date.now());
    expect(await readdir(root.path)).toEqual([]);
  });
});
