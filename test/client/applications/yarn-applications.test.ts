import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { YarnApplications } from "../../../client/applications/yarn-applications.ts";
import { YarnLogStore } from "../../../client/applications/yarn-log-store.ts";
import { Cluster } from "../../../client/cluster/cluster.ts";
import { clientAccess, clientAccessFile, formatClientAccess, tokenAccess } from "../../../src/api/identity.ts";
import { CodedError } from "../../../src/hadoop/errors.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import { writeTokenFile } from "../../../src/hadoop/security/token-file.ts";
import type { ApplicationFilter } from "../../../src/hadoop/yarn/submission.ts";
import { historyFileInProgress } from "../../../src/history/layout.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { jobFileName, leftStatusFileName } from "../../../src/job/stored/stored-job.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { anExecutorJob, identity } from "../../support/api.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { javaUtf, type WrittenRecord, writeTFile } from "../../support/tfile-writer.ts";
import { aDelegationToken } from "../../support/tokens.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, role } from "../job-status.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { aNode } from "../submission/stand-in-cluster.ts";
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

  test("is unknown where its last status cannot be looked for either", async () => {
    const elsewhere = new YarnApplications(cluster, "s3a://bucket/staging", () => nowMs);
    await expect(elsewhere.report(id)).rejects.toMatchObject({ code: "APPLICATION_NOT_FOUND" });
  });

  test("is another than one that it does not tell of now", async () => {
    keep();
    jest.spyOn(cluster.resourceManager, "report").mockRejectedValue(new CodedError("silent", { code: "RPC_TIMEOUT" }));
    await expect(applications.report(id)).rejects.toMatchObject({ name: "UserError", code: "RPC_TIMEOUT" });
  });

  test("is unknown where none is, in words of ours", async () => {
    await expect(applications.report(id)).rejects.toMatchObject({
      code: "APPLICATION_NOT_FOUND",
      message: expect.stringMatching(/^The ResourceManager does not know .* ended too long ago/),
    });
  });
});

test("an application's page is reached by way of the ResourceManager that told of it", async () => {
  jest.spyOn(cluster, "trackingUrl").mockImplementation((url) => `${url}?by=active`);
  const other = "application_1_0002";
  manager.has({ id, state: "RUNNING", trackingUrl: "http://rm1/a" }, { id: other, trackingUrl: "http://rm1/b" });
  expect((await applications.report(id)).trackingUrl).toBe("http://rm1/a?by=active");
  const told = async (filter: ApplicationFilter) =>
    (await applications.reports(filter)).map(({ trackingUrl }) => trackingUrl);
  expect(await told({})).toEqual(["http://rm1/a?by=active", "http://rm1/b?by=active"]);
  expect(await told({ states: ["RUNNING"] })).toEqual(["http://rm1/a?by=active"]);
});

describe("the last status of a job", () => {
  test("that has just ended is waited for: its ApplicationMaster writes it meanwhile", async () => {
    const asked = applications.finalStatus(ended({ finishTimeMs: nowMs - 2_999 }));
    await sleep(300);
    keep();
    expect(await asked).toMatchObject({ state: "succeeded" });
  });

  test.each([
    ["ended before", { finishTimeMs: nowMs - 3_000 }],
    ["ended by a clock that is far ahead", { finishTimeMs: nowMs + 60_000 }],
    ["was killed just now", { state: "KILLED", finalStatus: "KILLED", finishTimeMs: nowMs - 1_000 }],
  ] as const)("that %s is not waited for", async (_how, changes) => {
    expect(await applications.finalStatus(ended(changes))).toBeUndefined();
    expect(applications.noStatusReason()).toBeUndefined();
  });

  test("cannot be read while the file system is silent, which is said", async () => {
    keep();
    const { fileSystem } = cluster.fileSystems.locate(`file://${staging}`);
    jest.spyOn(fileSystem, "open").mockRejectedValue(new FileSystemError("silent", { code: "UNREACHABLE" }));
    expect(await applications.finalStatus(ended())).toBeUndefined();
    expect(applications.noStatusReason()).toMatch(/^The NameNode \(WebHDFS\) does not answer: silent\n/);
  });

  test("that cannot be understood is none", async () => {
    mkdirSync(kept(), { recursive: true });
    writeFileSync(path.join(kept(), `${id}.json`), "{}");
    expect(await applications.finalStatus(ended())).toBeUndefined();
    expect(applications.noStatusReason()).toBeUndefined();
  });

  test("is what its ApplicationMaster wrote at the end, whatever lies in the staging folder", async () => {
    stage({}, left());
    keep();
    const currentAttemptId = `appattempt${id.slice(11)}_000001`;
    expect(await applications.finalStatus(ended({ currentAttemptId }))).toMatchObject({
      state: "succeeded",
      outcome: { endedAtMs: nowMs - 5_000 },
    });
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
    const { currentAttemptId: _, ...early } = report;
    expect(await applications.contact(early)).toBeUndefined();
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

  test("is reached on a secure cluster by a token for it, and by nobody whom its job does not let", async () => {
    const tokens = path.join(folder, "tokens");
    writeFileSync(tokens, writeTokenFile({ tokens: [aDelegationToken(1, 2)], secrets: new Map() }));
    const environment = { HADOOP_CONF_DIR: manager.configuration, HADOOP_TOKEN_FILE_LOCATION: tokens };
    const hadoop = { "hadoop.security.authentication": "kerberos" };
    const secured = await Cluster.open(recordedContext({ environment }), { hadoop });
    const token = { identifier: Uint8Array.of(1), password: Uint8Array.of(2), kind: "YARN_CLIENT_TOKEN", service: "" };
    jest.spyOn(secured.resourceManager, "clientToken").mockResolvedValue(token);
    const there = new YarnApplications(secured, `file://${staging}`, () => nowMs);
    const expected = { attempt: 2, access: tokenAccess(id, token) };
    expect(await there.contact(aReport({ ...running, ...attempt }))).toMatchObject(expected);
    expect(there.noContactReason(aReport({ user: "bob" }))).toBe(
      "it is bob's, and its tony.application.acl.view does not let you",
    );
    there.close();
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

  test("tells nothing of checkpoints that its last status does not", async () => {
    keep();
    stage({ checkpointDir: "file:///ckpt", carrier });
    manager.applications = [ended()];
    await applications.clean(id);
    expect(readdirSync(kept())).toEqual([`${id}.json`]);
  });

  test.each<[string, () => void]>([
    ["its job cannot be read", () => mkdirSync(path.join(staging, id), { recursive: true })],
    [
      "nothing can be kept of it",
      () => {
        stage({ checkpointDir: "file:///ckpt", carrier }, left());
        writeFileSync(kept(), "");
      },
    ],
    [
      "its history cannot be reached",
      () => void stage({ history: { timeZone: "UTC", location: "s3a://bucket/history" } }),
    ],
  ])("goes where %s", async (_why, leave) => {
    leave();
    manager.applications = [ended({ currentAttemptId: `appattempt${id.slice(11)}_000001` })];
    expect(await applications.clean(id)).toBe("its staging folder is removed");
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
  const silent = new CodedError("silent", { code: "RPC_TIMEOUT" });
  const kill = jest.spyOn(cluster.resourceManager, "kill").mockRejectedValueOnce(silent);
  await expect(applications.kill(id, "enough")).rejects.toMatchObject({ code: "RPC_TIMEOUT" });
  expect(kill).toHaveBeenLastCalledWith(id, { diagnostics: "enough", timeoutMs: 10_000 });
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
  manager.queues = ["team.small.night", ...Array.from({ length: 20 }, (_, index) => `q${index}`)];
  expect(await applications.queuesBelow("team")).toEqual(["root.team", "root.team.small", "root.team.small.night"]);
  await expect(applications.queuesBelow("mll")).rejects.toThrow(/, q15 and 4 more$/);
});

test("why a job waits is asked of its ResourceManager", async () => {
  let atMs = nowMs;
  const asked = new YarnApplications(cluster, `file://${staging}`, () => atMs);
  expect(await asked.waitingReason(aReport({ state: "NEW" }))).toEqual({ code: "application-being-stored" });
  const starting = aReport({
    diagnostics: "[x] AM container is launched, waiting for AM container to Register with RM",
  });
  expect(await asked.waitingReason(starting)).toEqual({ code: "am-starting" });
  atMs += 20_000;
  expect(await asked.waitingReason(starting)).toEqual({
    code: "am-not-registered",
    looksAt: expect.stringMatching(/^yarn\.resourcemanager\.scheduler\.address .* = 127\.0\.0\.1:\d+$/),
  });

  manager.nodes = [aNode("n1", { used: { memoryMiB: 8_192, vcores: 0, others: {} } })];
  const ask = { memoryMiB: 4_096, vcores: 1, others: {} };
  const reason = { code: "containers", role: "worker", missing: 1, instances: 1, ask: "" } as const;
  const waits = [waitOf({ reason, delays: [{ code: "not-given", nodes: 1 }], sinceMs: 0 })];
  const status = aJobStatus({ roles: [{ ...role("worker", 1), ...ask, allocated: 0, registered: 0 }], waits });
  const short = { waits: [{ delays: [{ code: "nodes-short", short: ["memory"] }, { code: "held-by" }] }] };
  expect(await asked.explained(status)).toMatchObject(short);
  expect(asked.explainedSoon(status)).toMatchObject(short);
});

test("the folder of all jobs is looked for once, on the cluster's file systems, which are left with the cluster", async () => {
  expect(await applications.fileSystems()).toBe(cluster.fileSystems);
  const locate = jest.spyOn(cluster.fileSystems, "locate");
  await applications.staging(id);
  await applications.staging("application_1_0002");
  expect(locate).toHaveBeenCalledTimes(1);
  const close = jest.spyOn(cluster, "close");
  applications.close();
  expect(close).toHaveBeenCalledTimes(1);
});

test("the tokens of a job that is followed are replaced, and a person is told where that fails", async () => {
  const environment = { HADOOP_CONF_DIR: manager.configuration, HADOOP_USER_NAME: me };
  const context = recordedContext({ environment });
  const secured = Object.assign(await Cluster.open(context), { isSecured: true });
  const there = new YarnApplications(secured, `file://${staging}`, () => nowMs);
  const stop = there.keepTokens(id, 0);
  const told = "The job's delegation tokens have ended, and there are no new ones yet: ";
  await context.err.waitFor(told);
  stop();
  expect(context.err.text).toContain(told);
  there.close();
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
      cause: denied,
      message: expect.stringMatching(`^HDFS lets only bob read the stored logs of ${id} \\(/logs/bob\\)\n`),
    });
  });

  test("are those of the containers that are wanted, of the job's owner, whoever asks", async () => {
    const record = (container: string): WrittenRecord => {
      const value = Buffer.concat([javaUtf("stdout"), javaUtf("2"), Buffer.from("hi")]);
      return { key: javaUtf(container), chunks: [value] };
    };
    const place = path.join(folder, "logs/bob/bucket-logs-tfile", id.slice(-4), id);
    mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, "n1_8041"), writeTFile([[record("container_1"), record("container_2")]]));
    const hadoop = { "fs.defaultFS": "file:///home", "yarn.nodemanager.remote-app-log-dir": `file://${folder}/logs` };
    const there = new YarnLogStore(
      Object.assign(cluster, { configuration: cluster.configuration.withValues(hadoop) }),
      aReport({ id, user: "bob" }),
    );
    const found: string[] = [];
    for await (const { containerId, content } of there.logs((container) => container === "container_2"))
      found.push(`${containerId}: ${await text(content)}`);
    expect(found).toEqual(["container_2: hi"]);
  });

  test("are told in the cluster's words when it does not answer", async () => {
    const away = new FileSystemError("connection refused", { code: "UNREACHABLE" });
    await expect((await logsOf({}, away)).read()).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^The NameNode \(WebHDFS\) does not answer: connection refused/),
    });
  });
});
