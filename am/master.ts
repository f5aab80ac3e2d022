import { type ApplicationIdentity, readMasterIdentity } from "../src/api/identity.ts";
import { type MasterServer, startMasterServer } from "../src/api/master-server.ts";
import { TonyError } from "../src/errors.ts";
import { Configuration } from "../src/hadoop/conf/configuration.ts";
import { formatHostPort } from "../src/hadoop/conf/values.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import { configuredAuthentication } from "../src/hadoop/security/configured-credentials.ts";
import { containerCredentials } from "../src/hadoop/security/container-credentials.ts";
import type { Credentials } from "../src/hadoop/security/credentials.ts";
import type { NodeSnapshot } from "../src/job/cluster-nodes.ts";
import { masterExpiryKey, nodeHeartbeatKey, resourceManagerPrincipalKey } from "../src/job/handed-settings.ts";
import type { JobFile } from "../src/job/job-file.ts";
import type { JobOutcome, JobStatus } from "../src/job/status.ts";
import { listeningAddress } from "../src/listening-address.ts";
import type { Log } from "../src/log.ts";
import { buildId } from "../src/programs.ts";
import { logLimitsOf, type RotatingLog } from "../src/rotating-log.ts";
import { AttemptWatch } from "./attempt-watch.ts";
import { inTime } from "./bounded.ts";
import { ClientCalls, unknownTask } from "./client-calls.ts";
import { ClientRights } from "./client-rights.ts";
import { systemClock } from "./clock.ts";
import { type Core, createCore } from "./core/core.ts";
import { lastContainerOf, launchIn } from "./core/executors/launches.ts";
import { createLiveness, LIVENESS_TICK_MS } from "./core/executors/liveness.ts";
import type { Rejoin } from "./core/state/effects.ts";
import { statusOf } from "./core/status/status.ts";
import { executorCredentials, userTokens } from "./credentials.ts";
import { ExecutorLinks } from "./executor-links.ts";
import { FreshTokens, lookForTokensMs } from "./fresh-tokens.ts";
import { groupsOf } from "./groups.ts";
import { JobHistory } from "./history.ts";
import { earlierJournal, JournalWriter } from "./journal.ts";
import { KeytabTokens } from "./keytab/keytab-tokens.ts";
import { Launcher } from "./launcher.ts";
import { LogTails } from "./log-tails.ts";
import { makeScheduler } from "./make-scheduler.ts";
import { rejoin } from "./rejoin.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import { SessionRecords } from "./session-records.ts";
import { Sessions } from "./sessions.ts";
import type { MasterSettings } from "./settings.ts";
import { Shell } from "./shell.ts";
import { handleSignals } from "./signals.ts";
import { Staging } from "./staging.ts";
import { StatusFeed } from "./status-feed.ts";
import { TaskMetrics } from "./task-metrics.ts";

export interface MasterInput {
  readonly job: JobFile;
  /** The cluster's, at the submission. */
  readonly nodes: readonly NodeSnapshot[];
  /** What YARN gave this attempt. */
  readonly credentials: Credentials;
  readonly settings: MasterSettings;
  readonly log: Log;
  readonly ownLog: RotatingLog;
}

/** For how long slow readers and a file system that does not answer may each delay the job's end. */
const lastLogsMs = 5_000;
const lastReadersMs = 1_000;
const historyMs = 5_000;
const stagingMs = 10_000;

/** Builds the ApplicationMaster and registers it; from then on it is driven by events until it exits. */
export async function runMaster(input: MasterInput): Promise<void> {
  const master = new Master(input);
  handleSignals({
    terminate: (signal) => master.terminate(signal),
    defect: (error) => void master.shell.fail(error),
  });
  await master.start();
}

/** The parts of one ApplicationMaster, and how they are connected. */
class Master {
  readonly shell: Shell;
  readonly #input: MasterInput;
  readonly #identity: ApplicationIdentity;
  readonly #fileSystems: FileSystems;
  readonly #staging: Staging;
  readonly #journal: JournalWriter;
  readonly #core: Core;
  readonly #metrics = new TaskMetrics();
  readonly #tails = new LogTails({ lastContainerOf: (task) => lastContainerOf(this.#core.state, task) });
  readonly #sessions: Sessions;
  readonly #feed: StatusFeed;
  readonly #links: ExecutorLinks;
  readonly #scheduler: Scheduler;
  readonly #history: JobHistory;
  readonly #liveness: ReturnType<typeof createLiveness>;
  readonly #attemptWatch: AttemptWatch;
  readonly #tokens: FreshTokens;
  readonly #clientRights: ClientRights;
  #server: MasterServer | undefined;
  #launcher: Launcher | undefined;
  #isEnding = false;
  /** Set when the job ends, also when a bug ends it without the core. */
  #outcome: JobOutcome | undefined;
  /** From the job's end on: the write of its history. */
  #historyClosed: Promise<void> | undefined;

  constructor(input: MasterInput) {
    this.#input = input;
    const { job, nodes, credentials, settings, log } = input;
    const { attempt } = settings;
    const configuration = new Configuration().withValues(job.hadoop);
    this.#identity = readMasterIdentity(job.applicationId, credentials.secrets);
    this.#clientRights = new ClientRights({
      identity: this.#identity,
      user: job.user,
      spec: job.spec,
      realm: configuration.get(resourceManagerPrincipalKey)?.split("@")[1],
      groupsOf,
    });
    this.#tokens = new FreshTokens({
      given: credentials,
      clock: systemClock,
      log,
      replaced: () => this.#links.tokensReplaced(),
    });
    this.#fileSystems = new FileSystems({
      configuration,
      credentials: containerCredentials(configuration, { name: job.user }, this.#tokens.held),
      gateway: job.hdfsEndpoint,
    });
    const { fileSystem, path: folder } = this.#fileSystems.locate(job.stagingUrl);
    this.#staging = new Staging(fileSystem, folder);
    this.#scheduler = makeScheduler({ job, nodes, settings, configuration, credentials, log });
    const startedAtMs = systemClock.nowMs();
    this.#core = createCore(job.spec, {
      applicationId: job.applicationId,
      attempt,
      amHost: settings.host,
      amContainerId: settings.containerId,
      startedAtMs,
      nodeHeartbeatMs: configuration.getInteger(nodeHeartbeatKey) ?? 1_000,
    });
    this.#liveness = createLiveness(job.spec.timeouts);
    this.#attemptWatch = new AttemptWatch({
      attempt,
      expiryMs: configuration.getDurationMs(masterExpiryKey, "ms", 600_000),
      isolationMs: job.spec.timeouts.isolationMs,
      clock: systemClock,
      answeredAtMs: () => this.#scheduler.answeredAtMs,
      latestAttempt: () => this.#staging.latestAttempt(),
      over: (reason) => this.shell.post({ type: "resource-manager-shutdown", reason }),
    });
    this.#feed = new StatusFeed(() => this.#status(), systemClock);
    const { local } = settings;
    this.#history = new JobHistory(job, { fileSystems: this.#fileSystems, attempt, local, atMs: startedAtMs, log });
    this.#links = this.#makeLinks();
    this.#sessions = this.#makeSessions();
    this.#journal = new JournalWriter({ fileSystem, folder: this.#staging.journalFolder, attempt });
    this.shell = this.#makeShell();
  }

  /** Resolves when the attempt is registered and, if it is a later one, has read the earlier one's journal. */
  async start(): Promise<void> {
    const { job, settings, log } = this.#input;
    const { attempt, host } = settings;
    const port = await this.#serve();
    const address = formatHostPort({ host, port });
    this.#launcher = new Launcher({
      job,
      attempt,
      masterAddress: address,
      credentialsOf: (containerId) => executorCredentials(this.#tokens.held(), this.#identity, containerId),
      memoryMiBOf: (containerId) => this.#core.state.containers[containerId]?.resource.memoryMiB,
      memoryEnforced: !settings.local,
    });
    log.info("am-listening", `The ApplicationMaster listens on ${address}.`, { address });
    const { fileSystem } = this.#fileSystems.locate(job.stagingUrl);
    const journal = attempt > 1 ? earlierJournal(fileSystem, this.#staging.journalFolder, log) : undefined;
    const registration = await this.#scheduler.start({ host, port }, (event) => this.shell.post(event));
    this.#clientRights.tokenKey = registration.clientTokenKey;
    void this.#announce({ attempt, host, port });
    this.#watchAttempt();
    this.#watchTokens(fileSystem);
    if (attempt === 1) this.#history.begin(this.#status());
    if (journal !== undefined) {
      const { keptContainers } = registration;
      this.shell.post({ type: "recovered", ...(await journal), keptContainers });
    }
    this.#watch();
  }

  /** On a cluster that wants proofs, their life is limited. */
  #watchTokens(fileSystem: FileSystem): void {
    const { job, settings, log } = this.#input;
    const configuration = new Configuration().withValues(job.hadoop);
    if (settings.local || configuredAuthentication(configuration) === "simple") return;
    const file = { fileSystem, path: this.#staging.tokensFile };
    this.#tokens.watch(file, lookForTokensMs(this.#tokens.held()));
    if (job.keytab === undefined) return;
    const keytabTokens = new KeytabTokens({
      job,
      keytab: job.keytab,
      read: () => this.#staging.keytab(),
      held: this.#tokens.held,
      take: (tokens) => this.#tokens.take(tokens),
      log,
      now: () => systemClock.nowMs(),
    });
    void keytabTokens.run();
  }

  /** YARN will start another attempt, and the containers live on; with the local scheduler it means: end the job. */
  terminate(signal: string): void {
    if (this.#isEnding) return;
    if (this.#input.settings.local) {
      this.shell.post({ type: "stop-requested", reason: `killed by ${signal}` });
      return;
    }
    this.#input.log.warn("terminated", `The NodeManager ends this process (${signal}); the tasks' containers live on.`);
    this.shell.close();
    process.exit(143);
  }

  #makeLinks(): ExecutorLinks {
    return new ExecutorLinks({
      post: (event) => this.shell.post(event),
      heard: (containerId, task) => {
        for (const event of this.#liveness.heard(task, containerId, systemClock.nowMs())) this.shell.post(event);
      },
      forget: (containerId) => {
        this.#liveness.forget(containerId);
        this.#metrics.delete(containerId);
      },
      metrics: (...said) => this.#metrics.set(...said),
      tenantOf: (containerId) => launchIn(this.#core.state, containerId),
      variables: (launch) => this.#started.variables(launch),
      tokens: () => (this.#tokens.areReplaced ? userTokens(this.#tokens.held()) : undefined),
      tails: this.#tails,
    });
  }

  #makeSessions(): Sessions {
    const { job, log } = this.#input;
    const records = new SessionRecords({
      log,
      add: (event, task, containerId) => {
        const generation = launchIn(this.#core.state, containerId)?.generation ?? 0;
        const atMs = systemClock.nowMs();
        this.#history.add({ record: "event", ...event, atMs, generation, task, containerId });
      },
    });
    return new Sessions({
      clock: systemClock,
      records,
      unknownTask: (task) => unknownTask(job.spec, task),
      linkTo: (task) => this.#links.linkTo(task),
      taskIn: (containerId) => this.#links.taskIn(containerId),
    });
  }

  #makeShell(): Shell {
    return new Shell({
      clock: systemClock,
      core: this.#core,
      scheduler: this.#scheduler,
      links: this.#links,
      feed: this.#feed,
      journal: this.#journal,
      history: this.#history,
      launcher: { command: (launch) => this.#started.command(launch) },
      log: this.#input.log,
      rejoin: (executors) => void this.#rejoin(executors),
      beforeUnregister: (outcome) => this.#beforeUnregister(outcome),
      exit: (exitCode, cleanStaging) => this.#exit(exitCode, cleanStaging),
    });
  }

  get #started(): Launcher {
    if (this.#launcher === undefined)
      throw new TonyError("nothing is launched before the start", { code: "NOT_STARTED" });
    return this.#launcher;
  }

  async #serve(): Promise<number> {
    const { job, settings, ownLog } = this.#input;
    const { files: _files, node: _node, keytab: _keytab, ...executorJob } = job;
    const { spec } = job;
    this.#server = await startMasterServer({
      identity: this.#identity,
      attempt: settings.attempt,
      build: buildId(),
      heartbeatIntervalMs: spec.timeouts.heartbeatIntervalMs,
      job: executorJob,
      executors: this.#links,
      sessions: this.#sessions,
      door: this.#clientRights,
      clients: new ClientCalls({
        spec,
        feed: this.#feed,
        tails: this.#tails,
        ownLog,
        owner: job.user,
        stop: (reason) => this.shell.post({ type: "stop-requested", reason }),
      }),
      host: listeningAddress(settings.host),
      ...(spec.ports.am === undefined ? {} : { ports: spec.ports.am }),
      portKey: "tony.am.port-range",
      random: Math.random,
    });
    return this.#server.port;
  }

  /** Late clients, and executors that lost their connection, look there; all others know the address already. */
  async #announce(address: { readonly attempt: number; readonly host: string; readonly port: number }): Promise<void> {
    try {
      await this.#staging.announce(address);
    } catch (error) {
      this.#input.log.warn(
        "announce-failed",
        `The address could not be left in the staging folder: ${errorMessage(error)}`,
      );
    }
  }

  async #rejoin(executors: readonly Rejoin[]): Promise<void> {
    const { attempt, host } = this.#input.settings;
    const masterAddress = formatHostPort({ host, port: this.#server?.port ?? 0 });
    await rejoin(executors, { identity: this.#identity, build: buildId(), attempt, masterAddress });
  }

  /** From its registration on, also while the earlier attempt's journal cannot be read: executors find it by then. */
  #watchAttempt(): void {
    this.#attemptWatch.tick();
    systemClock.after(LIVENESS_TICK_MS, () => this.#watchAttempt());
  }

  #watch(): void {
    for (const event of this.#liveness.tick(systemClock.nowMs())) this.shell.post(event);
    this.#scheduler.show(progressOf(this.#core), this.#core.state.services[0]?.url);
    this.#feed.refresh();
    const { job, ownLog } = this.#input;
    void ownLog.rotate(logLimitsOf(job.spec), (work) => work());
    systemClock.after(LIVENESS_TICK_MS, () => this.#watch());
  }

  #status(): JobStatus {
    const decided = this.#metrics.addTo(statusOf(this.#core, systemClock.nowMs()));
    const status = { ...decided, waits: [...this.#scheduler.waits, ...decided.waits] };
    const outcome = this.#outcome;
    return outcome === undefined ? status : { ...status, state: outcome.result, waits: [], outcome };
  }

  /** The history is closed while the ResourceManager is being told: only our own exit waits for its file system. */
  async #beforeUnregister(outcome: JobOutcome): Promise<void> {
    this.#isEnding = true;
    this.#outcome = outcome;
    this.#sessions.endAll("the job has ended");
    this.#historyClosed = this.#bounded(historyMs, "closing the history", this.#closeHistory());
    await this.#bounded(lastLogsMs, "sending the last of the logs", this.#tails.endAll());
    this.#tails.abort();
  }

  #closeHistory(): Promise<void> {
    return this.#history.close(this.#status(), (task) => this.#metrics.useOf(task));
  }

  /** A step of the job's end: its failure is logged, and the end goes on. */
  async #bounded(limitMs: number, what: string, work: Promise<void>): Promise<void> {
    try {
      await inTime(limitMs, what, work);
    } catch (error) {
      this.#input.log.warn("ending", `Failed: ${what}: ${errorMessage(error)}`);
    }
  }

  async #exit(exitCode: number, cleanStaging: boolean): Promise<void> {
    this.#isEnding = true;
    const { log, settings } = this.#input;
    await this.#historyClosed;
    if (settings.local) {
      await this.#bounded(stagingMs, "writing status.json", this.#staging.keepResult(this.#status()));
    } else if (cleanStaging) {
      await this.#bounded(stagingMs, "removing the staging folder", this.#removeStaging());
    }
    await inTime(lastReadersMs, "closing the scheduler", this.#scheduler.close()).catch(() => {});
    await this.#server?.close(lastReadersMs);
    log.info("am-exits", `The ApplicationMaster exits with code ${exitCode}.`);
    process.exit(exitCode);
  }

  async #removeStaging(): Promise<void> {
    await this.#journal.settled();
    await this.#staging.remove();
  }
}

/** The share of the tasks that have ended. */
function progressOf({ spec, state }: Core): number {
  const ended = state.tasks.filter(({ phase }) => phase === "succeeded" || phase === "failed" || phase === "stopped");
  const all = spec.roles.reduce((sum, { instances }) => sum + instances, 0);
  return all === 0 ? 0 : ended.length / all;
}
