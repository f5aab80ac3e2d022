import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { Staging } from "../../../am/storage/staging.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { deferred } from "../../support/deferred.ts";
import { turn } from "../../support/stepped-clock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describe("the staging folder", () => {
  const folder = temporaryFolder();
  let staging: Staging;
  beforeEach(() => {
    staging = new Staging(new LocalFileSystem(), folder.path);
  });

  test("tells late clients and lost executors where the attempt listens, and only its owner", async () => {
    await staging.announce({ attempt: 2, host: "node-1", port: 4000 });

    const file = path.join(folder.path, "am-2.json");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ attempt: 2, host: "node-1", port: 4000 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("tells which attempt is the latest that has left its address", async () => {
    await expect(staging.latestAttempt()).resolves.toBe(0);
    await staging.announce({ attempt: 2, host: "node-1", port: 4000 });
    await staging.announce({ attempt: 10, host: "node-2", port: 4000 });
    await writeFile(path.join(folder.path, "am-11.json.tmp"), "");
    await expect(staging.latestAttempt()).resolves.toBe(10);
  });

  test("has what the last attempt kept of tasks over time that kept anything, and never the attempt's own", async () => {
    await expect(staging.keptSeries(3)).resolves.toBeUndefined();
    await staging.keepSeries(1, Buffer.from("first"));
    await staging.keepSeries(3, Buffer.from("third"));
    await expect(staging.keptSeries(3)).resolves.toEqual(Buffer.from("first"));
    await expect(staging.keptSeries(5)).resolves.toEqual(Buffer.from("third"));
  });

  test("has a folder for each journal", () => {
    const { journalFolder, storeFolder } = staging;
    const folders = [journalFolder, storeFolder, staging.feedFolder("train"), staging.feedInputFolder("train")];
    expect(folders.map((one) => path.relative(folder.path, one))).toEqual([
      ...["journal", "store", "feeds/train", "feeds/train/input"],
    ]);
  });

  test("is gone after a job on a cluster", async () => {
    await staging.remove();
    await expect(stat(folder.path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("goes without the results that a job has put there", async () => {
    for (const name of ["journal", "store", "worker-0"]) await mkdir(path.join(folder.path, name));
    for (const name of ["job.json", "worker-0/model.pt"]) await writeFile(path.join(folder.path, name), "");
    await staging.remove();
    expect(await readdir(folder.path)).toEqual(["worker-0"]);
  });

  test("is gone also where the address could not be written", async () => {
    class Full extends LocalFileSystem {
      override create() {
        return Promise.reject(new Error("the quota is exceeded"));
      }
    }
    const full = new Staging(new Full(), folder.path);
    await expect(full.announce({ attempt: 1, host: "node-1", port: 4000 })).rejects.toThrow("quota");
    await full.remove();
    await expect(stat(folder.path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is gone for good: an address that is still being written does not make it anew", async () => {
    const announced = staging.announce({ attempt: 1, host: "node-1", port: 4000 });
    await staging.remove();
    await announced;
    await expect(stat(folder.path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is gone for good, however slow the file system is that the address is written to", async () => {
    const { promise: answered, resolve: answer } = deferred();
    class Slow extends LocalFileSystem {
      override async create(...file: Parameters<LocalFileSystem["create"]>): Promise<void> {
        await answered;
        await super.create(...file);
      }
    }
    const slow = new Staging(new Slow(), folder.path);
    const announced = slow.announce({ attempt: 1, host: "node-1", port: 4000 }).catch(() => undefined);
    const removed = slow.remove();
    for (let turns = 0; turns < 100; turns += 1) await turn();
    answer();
    await Promise.all([announced, removed]);
    await expect(stat(folder.path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("has what an attempt knew that YARN ends, for its owner alone", async () => {
    const status: Partial<JobStatus> = { state: "running" };
    const before: Partial<JobStatus> = { attempt: 1 };
    await staging.leaveWhole(before as JobStatus);
    await staging.leave(status as JobStatus);

    const file = path.join(folder.path, "left-status.json");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual(status);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("keeps result and logs of a job on this machine, and nothing that only a running job needs", async () => {
    await mkdir(path.join(folder.path, "journal/1"), { recursive: true });
    await mkdir(path.join(folder.path, "containers"));
    for (const name of ["am-1.json", "client.json", "container_tokens", "left-status.json"])
      await writeFile(path.join(folder.path, name), "");
    const status: Partial<JobStatus> = { state: "succeeded" };
    await staging.keepResult(status as JobStatus);

    expect((await readdir(folder.path)).sort()).toEqual(["containers", "status.json"]);
    expect(JSON.parse(await readFile(path.join(folder.path, "status.json"), "utf8"))).toEqual(status);
  });
});
