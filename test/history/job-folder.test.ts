import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { FileSystemError } from "../../src/hadoop/hdfs/errors.ts";
import { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { historyPlaces, JobHistoryFolder } from "../../src/history/job-folder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const id = "application_1795305600000_0001";
const onThisMachine = new FileSystems({
  configuration: new Configuration(),
  credentials: simpleCredentials({ name: "ada" }),
});
const endedAtMs = Date.UTC(2026, 10, 23, 12);

describe("a job's folder below tony.history.location", () => {
  const location = temporaryFolder();

  function folderOf(fileSystems: Pick<FileSystems, "locate"> = onThisMachine): JobHistoryFolder {
    const folder = JobHistoryFolder.of(fileSystems, { location: `file://${location.path}`, timeZone: "UTC" }, id);
    if (folder === undefined) throw new Error("the job has a history");
    return folder;
  }
  const filesOf = async (...folders: string[]) => (await readdir(path.join(location.path, ...folders))).sort();

  test("is among those of the day when the job has ended", async () => {
    const folder = folderOf();
    await folder.make("ada");
    await folder.write("tony-final.xml", Buffer.from("<configuration/>"));
    await folder.moveToFinished(endedAtMs);
    expect(await filesOf("finished", "2026", "11", "23", id)).toEqual(["tony-final.xml"]);
    expect(await filesOf("intermediate")).toEqual([]);
  });

  test("is found where it was moved, also where somebody has put something in its old place", async () => {
    const folder = folderOf();
    expect(await folder.find(endedAtMs)).toBeUndefined();
    await folder.make("ada");
    expect(await folder.find(undefined)).toBe(folder.path);
    expect(await folder.find(endedAtMs)).toBe(folder.path);
    await folder.moveToFinished(endedAtMs);
    await folder.make("ada");
    expect(await folder.find(endedAtMs)).toMatch(/\/finished\/2026\/11\/23\//);
  });

  test("holds nothing in progress any more when the job's end was told by YARN alone", async () => {
    const folder = folderOf();
    await folder.make("ada");
    await folder.write(`${id}-5-ada_b.jhist.inprogress`, Buffer.from("x"));
    await folder.write("events.jsonl.inprogress", Buffer.from("y"));
    await folder.write("page.key", Buffer.from("k"));
    const job = { applicationId: id, startedAtMs: 7, user: "ada-b" };
    expect(await folder.isInProgress()).toBe(true);
    expect(await folder.closeAbandoned(job, { endedAtMs, result: "killed" })).toBe(true);
    expect(await filesOf("finished", "2026", "11", "23", id)).toEqual([
      `${id}-5-${endedAtMs}-ada-b-KILLED.jsonl`,
      `${id}-5-${endedAtMs}-ada_b-KILLED.jhist`,
    ]);
    expect(await folder.closeAbandoned(job, { endedAtMs, result: "killed" })).toBe(false);
    expect(await filesOf("finished", "2026", "11", "23")).toEqual([id]);
  });

  test("holds the first of TonY's files alone where several attempts left one in progress", async () => {
    const folder = folderOf();
    await folder.make("ada");
    for (const name of [`${id}-5-ada.jhist.inprogress`, `${id}-6-ada.jhist.inprogress`])
      await folder.write(name, Buffer.from("x"));
    await folder.closeAbandoned({ applicationId: id, startedAtMs: 7, user: "ada" }, { endedAtMs, result: "killed" });
    expect(await filesOf("finished", "2026", "11", "23", id)).toEqual([`${id}-5-${endedAtMs}-ada-KILLED.jhist`]);
  });

  test("is named by the job's own start where none of TonY's files says one", async () => {
    const folder = folderOf();
    await folder.make("ada");
    await folder.write("events.jsonl.inprogress", Buffer.from("y"));
    await folder.closeAbandoned({ applicationId: id, startedAtMs: 7, user: "ada" }, { endedAtMs, result: "failed" });
    expect(await filesOf("finished", "2026", "11", "23", id)).toEqual([`${id}-7-${endedAtMs}-ada-FAILED.jsonl`]);
  });

  test.each([
    ["events.jsonl.inprogress", true],
    [`${id}-5-ada.jhist.inprogress`, true],
    [`${id}-5-9-ada-FAILED.jsonl`, false],
    ["tony-final.xml", false],
  ])("with %s and others is that of a job that runs: %s", async (name, runs) => {
    const folder = folderOf();
    expect(await folder.isInProgress()).toBe(false);
    await folder.make("ada");
    for (const file of [name, "series.jsonl.gz"]) await folder.write(file, Buffer.from("x"));
    expect(await folder.isInProgress()).toBe(runs);
  });

  test("lets everybody add his own, and the group of whoever runs the history server read it", async () => {
    const folder = folderOf();
    await folder.make("ada");
    await folder.write("page.key", Buffer.from("k"));
    await folder.moveToFinished(endedAtMs);
    const modeOf = async (...names: string[]) => (await stat(path.join(location.path, ...names))).mode & 0o7777;
    const days = ["finished", "finished/2026", "finished/2026/11", "finished/2026/11/23"];
    for (const folders of ["intermediate", ...days]) expect(await modeOf(folders)).toBe(0o1777);
    expect(await modeOf("finished/2026/11/23", id)).toBe(0o770);
    expect(await modeOf("finished/2026/11/23", id, "page.key")).toBe(0o660);
  });

  test("is among those that run or have ended where the site says these are", () => {
    const site = { location: "file:///history", timeZone: "UTC" };
    expect(historyPlaces(onThisMachine, site)).toMatchObject({
      intermediate: "/history/intermediate",
      finished: "/history/finished",
    });
    const elsewhere = { ...site, intermediate: "file:///running", finished: "file:///ended" };
    expect(historyPlaces(onThisMachine, elsewhere)).toMatchObject({ intermediate: "/running", finished: "/ended" });
  });

  test("has neither TonY's file of a job that runs nor its page's key once it has ended", async () => {
    const folder = folderOf();
    await folder.make("ada");
    for (const name of [`${id}-5-ada.jhist.inprogress`, "page.key", "tony-final.xml"])
      await folder.write(name, Buffer.from("x"));
    await folder.removeUnfinished();
    expect(await filesOf("intermediate", id)).toEqual(["tony-final.xml"]);
  });

  test("that somebody else has made, as everybody may, gets nothing of the job", async () => {
    class OfBob extends LocalFileSystem {
      override readonly uri = "hdfs://nn";
      override async stat(at: string) {
        return { ...(await super.stat(at)), owner: "bob" };
      }
    }
    const folder = folderOf({ locate: (url) => ({ fileSystem: new OfBob(), path: new URL(url).pathname }) });
    await expect(folder.make("ada")).rejects.toMatchObject({
      code: "HISTORY_NOT_OURS",
      message: expect.stringContaining(`${id} belongs to bob, not to ada`),
    });
    await expect(folder.make("bob")).resolves.toBeUndefined();
  });

  test("is none for a job without a location", () => {
    expect(JobHistoryFolder.of(onThisMachine, { timeZone: "UTC" }, id)).toBeUndefined();
  });

  test("stays where it is on a site that lets its history server alone move it", async () => {
    const refusing = new (class extends LocalFileSystem {
      override async rename(): Promise<boolean> {
        throw new FileSystemError("Permission denied", { code: "ACCESS_DENIED" });
      }
    })();
    const folder = folderOf({ locate: (url) => ({ fileSystem: refusing, path: new URL(url).pathname }) });
    await folder.make("ada");
    expect(await folder.moveToFinished(endedAtMs)).toBe(false);
    expect(await filesOf("intermediate")).toEqual([id]);
  });

  test("says why it cannot be moved where it may be", async () => {
    const full = new (class extends LocalFileSystem {
      override async rename(): Promise<boolean> {
        throw new FileSystemError("no space", { code: "NO_SPACE" });
      }
    })();
    const folder = folderOf({ locate: (url) => ({ fileSystem: full, path: new URL(url).pathname }) });
    await folder.make("ada");
    await expect(folder.moveToFinished(endedAtMs)).rejects.toThrow("no space");
  });
});
