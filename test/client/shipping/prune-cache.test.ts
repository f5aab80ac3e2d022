import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Cluster } from "../../../client/cluster/cluster.ts";
import { ContentCache } from "../../../client/shipping/cache.ts";
import { pruneCache } from "../../../client/shipping/prune-cache.ts";
import { StagingFolder, stagingRoot } from "../../../client/staging/staging-folder.ts";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import { aReport } from "../application-report.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { recordedContext } from "../support.ts";

const user = ownerName();
const DAY_MS = 86_400_000;
const nowMs = 100 * DAY_MS;

let folder: string;
let manager: StandInManager;
let cluster: Cluster;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "prune-cache-"));
  manager = await StandInManager.start(folder);
  const environment = { HADOOP_CONF_DIR: manager.configuration, HADOOP_USER_NAME: user };
  cluster = await Cluster.open(recordedContext({ environment }));
});
afterEach(async () => {
  cluster.close();
  await manager.stop();
  rmSync(folder, { recursive: true });
});

/** A file that was put there, or submitted with, so many days ago; read by a node as long ago, or at another time. */
function cached(root: string, name: string, daysAgo: number, readDaysAgo = daysAgo): string {
  const file = path.join(folder, root, "sha256", name.padEnd(64, "0"), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, name);
  const [readS, submittedS] = [readDaysAgo, daysAgo].map((days) => (nowMs - days * DAY_MS) / 1_000);
  utimesSync(file, readS ?? 0, submittedS ?? 0);
  return file;
}

async function prune(options: { readonly dryRun: boolean }) {
  const root = await stagingRoot(cluster.fileSystems, { stagingDir: `file://${folder}/staging` });
  const cacheDir = `file://${folder}/shared`;
  const cache = new ContentCache({ fileSystems: cluster.fileSystems, stagingRoot: root, cacheDir, user });
  const { removed, freedBytes } = await pruneCache(
    { cluster, root, cache },
    { unusedForMs: DAY_MS, nowMs, ...options },
  );
  return { removed: removed.map(({ name }) => name), freedBytes };
}

test("what nobody used goes from the cache that is named, and from the user's own beside it", async () => {
  const files = [cached("shared", "four", 2), cached("staging/cache", "seven77", 2), cached("shared", "new", 0.5)];
  const both = { removed: ["four", "seven77"], freedBytes: 11 };
  expect(await prune({ dryRun: true })).toEqual(both);
  expect(files.map(existsSync)).toEqual([true, true, true]);
  expect(await prune({ dryRun: false })).toEqual(both);
  expect(files.map(existsSync)).toEqual([false, false, true]);
});

test("what a job was submitted with, or a node has read, is used since the later of both", async () => {
  cached("shared", "submitted", 0.5, 2);
  cached("shared", "read", 2, 0.5);
  cached("shared", "neither", 2, 3);
  expect((await prune({ dryRun: true })).removed).toEqual(["neither"]);
});

test.each(["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING"] as const)(
  "nothing goes while it is not known what a job of the user's names, which may run anywhere: %s",
  async (state) => {
    const file = cached("shared", "four", 2);
    manager.applications = [aReport({ id: "application_1_0001", user, state })];
    await expect(prune({ dryRun: false })).rejects.toMatchObject({
      code: "CACHE_IN_DOUBT",
      exitCode: 3,
      message: expect.stringMatching(/^Nothing is removed: what application_1_0001 uses is not known \(.*job\.json/),
    });
    expect(existsSync(file)).toBe(true);
  },
);

test("jobs that have ended, other users' and those of other programs keep nothing", async () => {
  cached("shared", "four", 2);
  manager.applications = [
    aReport({ id: "application_1_0001", user, state: "FINISHED" }),
    aReport({ id: "application_1_0002", user: "bob", state: "RUNNING" }),
    aReport({ id: "application_1_0003", user, state: "RUNNING", type: "SPARK" }),
  ];
  expect(await prune({ dryRun: false })).toMatchObject({ removed: ["four"] });
});

test("what a live job was submitted with stays", async () => {
  const used = cached("shared", "four", 2);
  cached("shared", "five5", 2);
  const id = "application_1_0001";
  const root = await stagingRoot(cluster.fileSystems, { stagingDir: `file://${folder}/staging` });
  const staging = await StagingFolder.create(root, id, user);
  await staging.write("job.json", Buffer.from(JSON.stringify({ files: [`file://${used}`] })));
  manager.applications = [aReport({ id, user, state: "RUNNING" })];
  expect(await prune({ dryRun: false })).toMatchObject({ removed: ["five5"] });
});
