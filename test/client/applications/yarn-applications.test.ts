import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { YarnApplications } from "../../../client/applications/yarn-applications.ts";
import { Cluster } from "../../../client/cluster/cluster.ts";
import { clientAccess, clientAccessFile, formatClientAccess } from "../../../src/api/identity.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import { historyFileInProgress } from "../../../src/history/layout.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { jobFileName, leftStatusFileName } from "../../../src/job/stored/stored-job.ts";
import { anExecutorJob, identity } from "../../support/api.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { recordedContext } from "../support.ts";

const me = ownerName();
const { applicationId: id } = identity;
const nowMs = recordedContext({}).now();
const DAY_MS = 86_400_000;
const carrier = { checkpoints: { localDir: "checkpoints", keep: 1 }, outputRequired: false, timeoutMs: 60_000 };

let folder: string;
let staging: string;
let manager: StandInManager;
let cluster: Cluster;
let applications: YarnApplications;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "yarn-applications-"));
  staging = path.join(folder, "staging");
  manager = await StandInManager.start(folder);
  const environment = { HADOOP_CONF_DIR: manager.configuration, HADOOP_USER_NAME: me };
  cluster = await Cluster.open(recordedContext({ environment }));
  applications = new YarnApplications(cluster, `file://${staging}`, () => nowMs);
});
afterEach(async () => {
  applications.close();
  await manager.stop();
  rmSync(folder, { recursive: true });
});

const kept = () => path.join(staging, `history-${me}`);

/** What became of a job is written down, as its ApplicationMaster does. */
function keep(status: Partial<JobStatus> = {}): void {
  const file = path.join(kept(), `${id}.json`);
  mkdirSync(kept(), { recursive: true });
  const outcome = { ...allSucceeded, endedAtMs: nowMs - 5_000 };
  writeFileSync(file, JSON.stringify(aJobStatus({ applicationId: id, state: "succeeded", outcome, ...status })));
}

/** The staging folder of a job that has not removed it. */
function stage(changes: Partial<JobSpec> = {}, files: Readonly<Record<string, object>> = {}): string {
  const own = path.join(staging, id);
  mkdirSync(own, { recursive: true });
  const job = { ...anExecutorJob(aJobSpec(changes)), files: { master: [], all: [], byRole: {} } };
  const all = { [jobFileName]: { ...job, node: "/node", sharedLabels: [], resourceTypes: [] }, ...files };
  for (const [name, content] of Object.entries(all)) writeFileSync(path.join(own, name), JSON.stringify(content));
  return own;
}

const ended = (changes = {}) =>
  aReport({ id, user: me, state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: nowMs - 60_000, ...changes });
const left = (changes: Partial<JobStatus> = {}) => ({
  [leftStatusFileName]: aJobStatus({ applicationId: id, attempt: 1, ...changes }),
});

describe("an application that the ResourceManager does not know", () => {
  test("is told by its last status, as long as that is kept", async () => {
    keep();
    expect(await applications.report(id)).toMatchObject({
      id,
      user: me,
      state: "FINISHED",
      finalStatus: "SUCCEEDED",
      finishTimeMs: nowMs - 5_000,
    });
  });

  test("is unknown where none is, in words of ours", async () => {
    await expect(applications.report(id)).rejects.toMatchObject({
      code: "APPLICATION_NOT_FOUND",
      message: expect.stringMatching(/^The ResourceManager does not know .* ended too long ago/),
    });
  });
});

describe("the last status of a job", () => {
  test("that has just ended is waited for: its ApplicationMaster writes it meanwhile", async () => {
    const asked = applications.finalStatus(ended({ finishTimeMs: nowMs - 1_000 }));
    await sleep(300);
    keep();
    expect(await asked).toMatchObject({ state: "succeeded" });
  });

  test("that ended before is not waited for", async () => {
    expect(await applications.finalStatus(ended())).toBeUndefined();
    expect(applications.noStatusReason()).toBeUndefined();
  });

  test("whose ApplicationMaster YARN ended is what that one left", async () => {
    stage({}, left());
    const report = ended({
      state: "KILLED",
      finalStatus: "KILLED",
      currentAttemptId: `appattempt${id.slice(11)}_000001`,
    });
    expect(await applications.finalStatus(report)).toMatchObject({ state: "killed" });
  });

  test("cannot be read where the file system is none of ours, which is said of that job alone", async () => {
    const elsewhere = new YarnApplications(cluster, "s3a://bucket/staging", () => nowMs);
    expect(await elsewhere.finalStatus(ended())).toBeUndefined();
    expect(elsewhere.noStatusReason()).toMatch(/s3a/);
    expect(await elsewhere.finalStatus(ended({ user: "bob" }))).toBeUndefined();
    expect(elsewhere.noStatusReason()).toBeUndefined();
  });
});

describe("the ApplicationMaster of a job", () => {
  const running = { id, user: me, state: "RUNNING", amHost: "n1", amRpcPort: 4001 } as const;
  const attempt = { currentAttemptId: `appattempt${id.slice(11)}_000002` };
  const access = formatClientAccess(clientAccess(identity));

  test("is reached by what its staging folder has, as long as it runs", async () => {
    stage({}, { [clientAccessFile]: access });
    const report = aReport({ ...running, ...attempt });
    expect(await applications.contact(report)).toMatchObject({ attempt: 2, host: "n1", port: 4001 });
    expect(await applications.contact({ ...report, state: "FINISHED" })).toBeUndefined();
    expect(await applications.contact({ ...report, amRpcPort: 0 })).toBeUndefined();
  });

  test("is reached by what was made for its submission, which nobody reads", async () => {
    const made = clientAccess(identity);
    applications.remember(made);
    expect(await applications.contact(aReport({ ...running, ...attempt }))).toMatchObject({ access: made });
  });

  test("cannot be asked without, and it is said why", async () => {
    expect(await applications.contact(aReport({ ...running, ...attempt }))).toBeUndefined();
    expect(applications.noContactReason(aReport(running))).toBe(
      "its staging folder, which has the credentials for reaching it, does not exist",
    );
    expect(applications.noContactReason(aReport({ user: "bob" }))).toMatch(/^it is bob's, and on a cluster without/);
  });
});

describe("what a job that has ended left in its staging folder", () => {
  test("goes, and where its checkpoints are stays known", async () => {
    stage({ checkpointDir: "file:///ckpt", carrier });
    manager.applications = [ended({ state: "FAILED", finalStatus: "FAILED" })];
    expect(await applications.checkpointDir(id)).toBe("file:///ckpt");
    expect(await applications.clean(id)).toBe("its staging folder is removed");
    expect(readdirSync(staging)).toEqual([`history-${me}`]);
    expect(await applications.checkpointDir(id)).toBe("file:///ckpt");
    expect(await applications.clean(id)).toBe("");
  });

  test("is its last status, where its ApplicationMaster wrote no other", async () => {
    const report = ended({
      state: "KILLED",
      finalStatus: "KILLED",
      currentAttemptId: `appattempt${id.slice(11)}_000001`,
    });
    manager.applications = [report];
    stage({}, left());
    await applications.clean(id);
    expect(await applications.finalStatus(report)).toMatchObject({ state: "killed" });
    keep();
    stage({}, left());
    await applications.clean(id);
    expect(await applications.finalStatus(report)).toMatchObject({ state: "succeeded" });
  });

  test("is its history, which is closed before", async () => {
    const location = path.join(folder, "history");
    const running = path.join(location, "intermediate", id);
    mkdirSync(running, { recursive: true });
    writeFileSync(path.join(running, historyFileInProgress), "");
    const settings = { history: { timeZone: "UTC", location: `file://${location}` } };
    stage(settings);
    manager.applications = [ended({ finishTimeMs: nowMs - 30_000 })];
    expect(await applications.clean(id)).toBe("");
    expect(readdirSync(running)).toEqual([historyFileInProgress]);

    manager.applications = [ended({ finishTimeMs: nowMs - 60_000 })];
    expect(await applications.clean(id)).toBe("its staging folder is removed");
    const [year, month, day] = new Date(nowMs - 60_000).toISOString().split(/[-T]/);
    const finished = path.join(location, "finished", year ?? "", month ?? "", day ?? "", id);
    expect(readdirSync(finished)).toEqual([expect.stringMatching(/-SUCCEEDED\.jsonl$/)]);
  });

  test("is swept with that of all others, and statuses of a month ago go with it", async () => {
    keep();
    const old = path.join(kept(), "application_1_0001.json");
    writeFileSync(old, "{}");
    const atS = (nowMs - 31 * DAY_MS) / 1_000;
    utimesSync(old, atS, atS);
    stage();
    manager.applications = [ended()];
    await applications.sweep();
    expect(readdirSync(staging)).toEqual([`history-${me}`]);
    expect(readdirSync(kept())).toEqual([`${id}.json`]);
  });

  test("stays while it runs", async () => {
    const own = stage();
    manager.applications = [aReport({ id, user: me, state: "RUNNING" })];
    await applications.sweep();
    expect(readFileSync(path.join(own, jobFileName), "utf8")).not.toBe("");
  });
});

test("a ResourceManager that is asked briefly is given up at once", async () => {
  const patience = cluster.patience;
  applications.askBriefly();
  expect(cluster.patience).not.toBe(patience);
});

test("a job ends for the reason that is given, and one that is not known cannot", async () => {
  manager.applications = [aReport({ id, user: me, state: "RUNNING" })];
  await applications.kill(id, "enough");
  expect(manager.killed).toEqual([{ id, reason: "enough" }]);
  manager.applications = [];
  await expect(applications.kill(id, "enough")).rejects.toMatchObject({ code: "APPLICATION_NOT_FOUND" });
});

test("whoever may not end a job is told whose it is", async () => {
  manager.applications = [aReport({ id, user: "bob", state: "RUNNING" })];
  manager.refusesKill = true;
  await expect(applications.kill(id, "enough")).rejects.toMatchObject({
    code: "ACCESS_DENIED",
    message: expect.stringMatching(new RegExp(`^${me} may not end this job: it is bob's`)),
  });
});

test("a queue is told by its path, with all below it", async () => {
  expect(await applications.queuesBelow("ml")).toEqual(["root.ml"]);
  expect(await applications.queuesBelow("root")).toEqual(["root", "root.default", "root.ml"]);
  await expect(applications.queuesBelow("mll")).rejects.toMatchObject({
    code: "UNKNOWN_QUEUE",
    message: "unknown queue: mll\n  The queues are root, default, ml",
  });
});

describe("the stored logs of a job", () => {
  async function logsOf(hadoop: Readonly<Record<string, string>>, fails?: Error) {
    const environment = { HADOOP_CONF_DIR: manager.configuration, HADOOP_USER_NAME: me };
    const there = await Cluster.open(recordedContext({ environment }), { hadoop });
    if (fails !== undefined) jest.spyOn(there.fileSystems, "locate").mockImplementation(() => raise(fails));
    const jobs = new YarnApplications(there, undefined, () => nowMs);
    const store = jobs.logStore(aReport({ id, user: "bob" }));
    jobs.close();
    const { pending, isAtHand } = store;
    return { pending, isAtHand, read: async () => await Readable.from(store.logs(() => true)).toArray() };
  }
  const raise = (error: Error): never => {
    throw error;
  };

  test("are waited for where NodeManagers upload them, and never at hand", async () => {
    const uploaded = await logsOf({ "yarn.log-aggregation-enable": "true" });
    expect(uploaded).toMatchObject({ pending: "waiting for the NodeManagers to upload the logs", isAtHand: false });
    expect((await logsOf({})).pending).toBeUndefined();
  });

  test.each([
    [{ "yarn.nodemanager.remote-app-log-dir": "s3a://bucket/logs" }, "s3a://bucket/logs/bob"],
    [{ "fs.defaultFS": "s3a://bucket/", "yarn.nodemanager.remote-app-log-dir": "/logs/" }, "s3a://bucket/logs/bob"],
  ])("lie elsewhere: %j", async (hadoop, place) => {
    await expect((await logsOf(hadoop)).read()).rejects.toMatchObject({
      code: "LOGS_ELSEWHERE",
      exitCode: 3,
      message: `The logs are in ${place}, a file system that tony-ts does not read\n  Hadoop's own client does: yarn logs -applicationId ${id}`,
    });
  });

  test("are their owner's alone, and it is said who else sees what", async () => {
    const denied = new FileSystemError("no", { code: "ACCESS_DENIED" });
    const logs = await logsOf({ "yarn.nodemanager.remote-app-log-dir": "/logs" }, denied);
    await expect(logs.read()).rejects.toMatchObject({
      code: "ACCESS_DENIED",
      exitCode: 3,
      message: expect.stringMatching(`^HDFS lets only bob read the stored logs of ${id} \\(/logs/bob\\)\n`),
    });
  });

  test("are told in the cluster's words when it does not answer", async () => {
    const away = new FileSystemError("connection refused", { code: "UNREACHABLE" });
    await expect((await logsOf({}, away)).read()).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^The NameNode \(WebHDFS\) does not answer: connection refused/),
    });
  });
});
