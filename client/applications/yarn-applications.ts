import { type ClientAccess, clientAccessFile } from "../../src/api/identity.ts";
import { TonyError, UserError } from "../../src/errors.ts";
import { sleep, within } from "../../src/hadoop/clock.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { parseAttemptId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport, QueueInfo } from "../../src/hadoop/yarn/records.ts";
import type { ApplicationFilter } from "../../src/hadoop/yarn/submission.ts";
import { EndedJobs } from "../../src/history/ended-jobs.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import { listWords } from "../../src/job/reasons/words.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import type { LogStore } from "../../src/logs/log-store.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { schedulerWords } from "../cluster/hadoop-configuration.ts";
import { StagingFolder, stagingRoot } from "../staging/staging-folder.ts";
import { sweepStaging } from "../staging/sweep.ts";
import { jobTokenKeeper } from "../tokens/job-token-keeper.ts";
import { closeAbandonedHistory } from "./abandoned-history.ts";
import { carriedTo, readJobFile, readLeftStatus } from "./abandoned-job.ts";
import { type Applications, hasEnded, type MasterContact } from "./applications.ts";
import { isRefused, killRefusal } from "./kill-refusal.ts";
import { MasterAccess } from "./master-access.ts";
import { parseJobStatus } from "./outcome.ts";
import { reportOfStatus } from "./report-status.ts";
import { WaitingReasons } from "./waiting-reasons.ts";
import { YarnLogStore } from "./yarn-log-store.ts";

/** An AM writes its last status within this time after its end, or never. */
const statusWrittenWithinMs = 3_000;
const lookAgainMs = 200;
/** How long the file system is asked how an application ended: without an answer the ResourceManager's word has to do. */
const statusAskedForMs = 20_000;
/** A message names at most so many. */
const mostQueues = 20;

/** Applications of a cluster, as its ResourceManager and their staging folders describe them. */
export class YarnApplications implements Applications {
  readonly user: string;
  readonly #cluster: Cluster;
  readonly #stagingDir: string | undefined;
  readonly #now: () => number;
  readonly #waits: WaitingReasons;
  readonly #access: MasterAccess;
  #root: Promise<LocatedPath> | undefined;
  #noStatusReason: string | undefined;

  /** @param stagingDir `tony.staging-dir`, where it is not the default */
  constructor(cluster: Cluster, stagingDir: string | undefined, now: () => number) {
    this.user = cluster.user;
    this.#cluster = cluster;
    this.#stagingDir = stagingDir;
    this.#now = now;
    this.#access = new MasterAccess({
      read: (id) => this.readStaged(id, clientAccessFile),
      ...(cluster.isSecured && { token: (id) => cluster.resourceManager.clientToken(id) }),
    });
    this.#waits = new WaitingReasons(cluster.resourceManager, now, () => schedulerWords(cluster.configuration));
  }

  /** A submission that this process just made: its secret need not be read again. */
  remember(access: ClientAccess): void {
    this.#access.remember(access);
  }

  askBriefly(): void {
    this.#cluster.askBriefly();
  }

  async report(id: string): Promise<ApplicationReport> {
    try {
      return this.#reachable(await this.#cluster.use(({ resourceManager }) => resourceManager.report(id)));
    } catch (error) {
      if (errorCode(error) !== "APPLICATION_NOT_FOUND") throw error;
      const kept = await this.#answered(this.#keptStatus(id)).catch(() => undefined);
      if (kept === undefined) throw notKnown(id);
      return reportOfStatus(kept, this.user);
    }
  }

  async reports(filter: ApplicationFilter): Promise<ApplicationReport[]> {
    const reports = await this.#cluster.use(({ resourceManager }) => resourceManager.reports(filter));
    return reports.map((report) => this.#reachable(report));
  }

  /** The paths of a queue and of all below it. @throws UserError (`UNKNOWN_QUEUE`) */
  readonly queuesBelow = async (name: string): Promise<readonly string[]> => {
    const below = { children: true, recursive: true } as const;
    const [queue, root] = await this.#cluster.use(({ resourceManager }) =>
      Promise.all([resourceManager.queue(name, below), resourceManager.queue("root", below)]),
    );
    if (queue === undefined) throw unknownQueue(name, root);
    return withDescendants(queue).map((one) => one.path || one.name);
  };

  #reachable(report: ApplicationReport): ApplicationReport {
    return { ...report, trackingUrl: this.#cluster.trackingUrl(report.trackingUrl) };
  }

  async waitingReason(report: ApplicationReport): Promise<DelayReason> {
    return this.#waits.reason(report);
  }

  explained(status: JobStatus): Promise<JobStatus> {
    return this.#waits.explained(status);
  }

  explainedSoon(status: JobStatus): JobStatus {
    return this.#waits.explainedSoon(status);
  }

  async contact(report: ApplicationReport): Promise<MasterContact | undefined> {
    const { amHost: host, amRpcPort: port, currentAttemptId, id } = report;
    if (host === undefined || port === undefined || port <= 0 || currentAttemptId === undefined) return undefined;
    if (hasEnded(report)) return undefined;
    const access = await this.#access.of(id, currentAttemptId);
    if (access === undefined) return undefined;
    return { attempt: parseAttemptId(currentAttemptId).attempt, host, port, access };
  }

  noContactReason({ user }: ApplicationReport): string {
    if (user !== this.user) {
      return this.#cluster.isSecured
        ? `it is ${user}'s, and its tony.application.acl.view does not let you`
        : `it is ${user}'s, and on a cluster without Kerberos nobody else can show who they are`;
    }
    return this.#access.whyNone(user);
  }

  async kill(id: string, reason: string): Promise<void> {
    try {
      await this.#cluster.use(({ resourceManager }) =>
        resourceManager.kill(id, { diagnostics: reason, timeoutMs: 10_000 }),
      );
    } catch (error) {
      throw isRefused(error) ? killRefusal(await this.report(id), this.user, error) : error;
    }
  }

  async finalStatus(report: ApplicationReport): Promise<JobStatus | undefined> {
    this.#noStatusReason = undefined;
    if (report.user !== this.user) return undefined;
    try {
      return await this.#answered(this.#lastStatus(report));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.#noStatusReason = error.message;
      return undefined;
    }
  }

  noStatusReason(): string | undefined {
    return this.#noStatusReason;
  }

  /** @throws UserError where the file system cannot be reached, or refuses us */
  async #answered<Found>(asked: Promise<Found>): Promise<Found> {
    const silent = new TonyError(`it was silent for ${statusAskedForMs / 1000} s`, { code: "TIMEOUT" });
    return await this.#cluster.use(async () => {
      if (!(await within(statusAskedForMs, asked))) throw silent;
      return await asked;
    });
  }

  async #lastStatus(report: ApplicationReport): Promise<JobStatus | undefined> {
    return (await this.#awaitedStatus(report)) ?? (await this.#leftStatus(report));
  }

  async #leftStatus(report: ApplicationReport): Promise<JobStatus | undefined> {
    return await readLeftStatus(await this.staging(report.id), report).catch(() => undefined);
  }

  async #awaitedStatus(report: ApplicationReport): Promise<JobStatus | undefined> {
    const giveUpAtMs = this.#now() + (this.#mayBeWriting(report) ? statusWrittenWithinMs : 0);
    try {
      for (;;) {
        const kept = await this.#keptStatus(report.id);
        if (kept !== undefined || this.#now() >= giveUpAtMs) return kept;
        await sleep(lookAgainMs);
      }
    } catch (error) {
      if (this.#cluster.explain(error) instanceof UserError) throw error;
      // The status cannot be read: as for a job that left none, there is only the ResourceManager's word.
      return undefined;
    }
  }

  async #keptStatus(id: string): Promise<JobStatus | undefined> {
    const kept = await (await this.#endedJobs()).find(id);
    return kept === undefined ? undefined : parseJobStatus(Buffer.from(kept));
  }

  /** An AM that has told the ResourceManager of its end writes its last status at the same time. */
  #mayBeWriting({ state, finishTimeMs }: ApplicationReport): boolean {
    return state === "FINISHED" && Math.abs(this.#now() - finishTimeMs) < statusWrittenWithinMs;
  }

  async checkpointDir(id: string): Promise<string | undefined> {
    try {
      return carriedTo(await readJobFile(await this.staging(id)));
    } catch {
      return await (await this.#endedJobs()).checkpointDir(id).catch(() => undefined);
    }
  }

  /** Keeps what is in no last state and is lost with the staging folder. */
  async #keepCheckpointDir(job: JobFile): Promise<void> {
    const address = carriedTo(job);
    if (address === undefined) return;
    const { applicationId } = job;
    const ended = await this.#endedJobs();
    if ((await ended.find(applicationId)) !== undefined) return;
    await ended.keepCheckpointDir(applicationId, address);
  }

  /** Keeps the status that would be lost with the staging folder. */
  async #keepLeftStatus({ applicationId }: JobFile): Promise<void> {
    const report = await this.report(applicationId);
    const left = await this.#leftStatus(report);
    if (left === undefined || (await this.#awaitedStatus(report)) !== undefined) return;
    await (await this.#endedJobs()).keepLeft(left);
  }

  async clean(id: string): Promise<string> {
    const staging = await this.staging(id);
    if (!(await this.#mayGo(staging))) return "";
    return (await staging.remove()) ? "its staging folder is removed" : "";
  }

  /**
   * Whether an ended application's staging folder is no longer needed. Only an AM that may still be closing the history keeps it; failures
   * here do not.
   */
  async #mayGo(staging: StagingFolder): Promise<boolean> {
    const job = await readJobFile(staging).catch(() => undefined);
    if (job === undefined) return true;
    await this.#keepCheckpointDir(job).catch(() => undefined);
    await this.#keepLeftStatus(job).catch(() => undefined);
    const how = { reportOf: (id: string) => this.report(id), nowMs: this.#now() };
    return await closeAbandonedHistory(job, this.#cluster.fileSystems, how).catch(() => true);
  }

  keepTokens(id: string, sinceMs: number): () => void {
    const keeper = jobTokenKeeper(this.#cluster, () => this.staging(id), sinceMs, this.#now);
    void keeper?.run();
    return () => keeper?.stop();
  }

  /** The staging folder of an application, whether it exists or not. */
  async staging(id: string): Promise<StagingFolder> {
    return StagingFolder.of(await this.#stagingRoot(), id);
  }

  async sweep(): Promise<void> {
    const { resourceManager } = this.#cluster;
    const ended = async (id: string) => hasEnded(await resourceManager.report(id));
    const mayGo = (staging: StagingFolder) => this.#mayGo(staging);
    await sweepStaging(await this.#stagingRoot(), { hasEnded: ended, mayGo }, this.#now());
    await (await this.#endedJobs()).prune(this.#now());
  }

  async fileSystems(): Promise<FileSystems> {
    return this.#cluster.fileSystems;
  }

  logStore(report: ApplicationReport): LogStore {
    return new YarnLogStore(this.#cluster, report);
  }

  close(): void {
    this.#cluster.close();
  }

  async #endedJobs(): Promise<EndedJobs> {
    return new EndedJobs(await this.#stagingRoot(), this.user);
  }

  #stagingRoot(): Promise<LocatedPath> {
    this.#root ??= stagingRoot(this.#cluster.fileSystems, { stagingDir: this.#stagingDir });
    return this.#root;
  }

  async readStaged(id: string, name: string): Promise<Buffer> {
    return await (await this.staging(id)).read(name);
  }
}

function withDescendants(queue: QueueInfo): QueueInfo[] {
  return [queue, ...queue.children.flatMap(withDescendants)];
}

function unknownQueue(name: string, root: QueueInfo | undefined): UserError {
  const others = root === undefined ? [] : withDescendants(root).map((one) => one.name);
  return new UserError(`unknown queue: ${name}\n  The queues are ${listWords(others, mostQueues)}`, {
    code: "UNKNOWN_QUEUE",
  });
}

/** The ResourceManager's own message names a Java class. */
function notKnown(id: string): TonyError {
  const message = `The ResourceManager does not know ${id}: it is not submitted yet, belongs to another cluster, or ended too long ago (tony-ts list --all)`;
  return new TonyError(message, { code: "APPLICATION_NOT_FOUND" });
}
