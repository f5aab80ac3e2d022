import { type ApplicationIdentity, readMasterIdentity } from "../src/api/identity.ts";
import { TonyError } from "../src/errors.ts";
import { groupsOf } from "../src/groups.ts";
import { sleep, wallClock } from "../src/hadoop/clock.ts";
import { Configuration } from "../src/hadoop/conf/configuration.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import { configuredAuthentication } from "../src/hadoop/security/configured-credentials.ts";
import { containerCredentials } from "../src/hadoop/security/container-credentials.ts";
import type { Credentials } from "../src/hadoop/security/credentials.ts";
import type { NodeSnapshot } from "../src/job/cluster-nodes.ts";
import { gpusOf } from "../src/job/gpus.ts";
import { idleRemedy, idleWords } from "../src/job/idle.ts";
import { spokenNameIn } from "../src/job/search/trial-tasks.ts";
import { countTasks, type JobSpec } from "../src/job/spec.ts";
import type { JobStatus } from "../src/job/status.ts";
import { masterExpiryKey, nodeHeartbeatKey, webLoginKey } from "../src/job/stored/handed-settings.ts";
import type { JobFile } from "../src/job/stored/job-file.ts";
import { parseTaskId } from "../src/job/task.ts";
import type { Log } from "../src/log.ts";
import { withRates } from "../src/page/relative-rates.ts";
import { logLimitsOf, type RotatingLog } from "../src/rotating-log.ts";
import { AttemptWatch } from "./attempt-watch.ts";
import { ClientCalls, unknownTask } from "./clients/client-calls.ts";
import { ClientRights, localNames } from "./clients/client-rights.ts";
import { JobStore } from "./clients/job-store.ts";
import { SessionRecords } from "./clients/session-records.ts";
import { Sessions } from "./clients/sessions.ts";
import { StatusFeed } from "./clients/status-feed.ts";
import { type Core, createCore } from "./core/core.ts";
import { endOf, lastContainerOf, launchIn, lifeInGang, lifeOf } from "./core/executors/launches.ts";
import { createLiveness, LIVENESS_TICK_MS } from "./core/executors/liveness.ts";
import { feedShape } from "./core/feeds/feed-file.ts";
import { droppedTasks } from "./core/gang/trial-checkpoints.ts";
import { begun, trialOf, trialToPropose } from "./core/policies/trials.ts";
import { endsOf } from "./core/status/ends.ts";
import { searchFiles, trialLines } from "./core/status/search-files.ts";
import { progressOf, statusOf } from "./core/status/status.ts";
import { readStoreFile, type StoreFile } from "./core/store/store-file.ts";
import { ExecutorLinks } from "./executors/executor-links.ts";
import { foundShape } from "./executors/growing-input.ts";
import { JobFeeds } from "./executors/job-feeds.ts";
import { JobSeries } from "./executors/job-series.ts";
import { Launcher } from "./executors/launcher.ts";
import { LogTails } from "./executors/log-tails.ts";
import { TaskEnds } from "./executors/task-ends.ts";
import { TaskMetrics } from "./executors/task-metrics.ts";
import { Idleness } from "./idleness.ts";
import { JobEnd } from "./job-end.ts";
import { makeScheduler } from "./make-scheduler.ts";
import { MasterEndpoint } from "./master-endpoint.ts";
import { Outlets } from "./notices/outlets.ts";
import { JobPage } from "./page/job-page.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import { Optuna } from "./search/optuna.ts";
import type { MasterSettings } from "./settings.ts";
import { Shell } from "./shell.ts";
import { handleSignals } from "./signals.ts";
import { Stillness } from "./stillness.ts";
import { DroppedCheckpoints } from "./storage/dropped-checkpoints.ts";
import { eventFiles } from "./storage/event-files.ts";
import { JobHistory } from "./storage/history.ts";
import { earlierJournal, JournalWriter } from "./storage/journal.ts";
import { KeptSeries } from "./storage/kept-series.ts";
import { SealedJournal } from "./storage/sealed-journal.ts";
import { SearchResults } from "./storage/search-results.ts";
import { Staging } from "./storage/staging.ts";
import { removeUnfinishedUploads } from "./storage/unfinished-uploads.ts";
import { executorCredentials, userTokens } from "./tokens/credentials.ts";
import { FreshTokens } from "./tokens/fresh-tokens.ts";
import { renewTokens } from "./tokens/token-renewal.ts";

export interface MasterInput {
  readonly job: JobFile;
  /** The cluster's nodes at the submission. */
  readonly nodes: readonly NodeSnapshot[];
  /** The credentials that YARN gave this attempt. */
  readonly credentials: Credentials;
  readonly settings: MasterSettings;
  readonly log: Log;
  readonly ownLog: RotatingLog;
}

/** A NodeManager sends SIGKILL 250 ms after SIGTERM, unless configured otherwise (`yarn.nodemanager.sleep-delay-before-sigkill.ms`). */
const LEAVE_WITHIN_MS = 200;

/** Builds the ApplicationMaster and registers it; from then on events drive it until it exits. */
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
  readonly #checkpoints: DroppedCheckpoints;
  readonly #core: Core;
  readonly #metrics = new TaskMetrics();
  readonly #series: JobSeries;
  readonly #keptSeries: KeptSeries;
  readonly #stillness = new Stillness();
  readonly #idleness: Idleness;
  readonly #tails = new LogTails({
    lastContainerOf: (task) => lastContainerOf(this.#core.state, task),
    spokenName: (task) => spokenNameIn(this.#core.spec, task),
  });
  readonly #sessions: Sessions;
  readonly #storeJournal: SealedJournal<StoreFile>;
  readonly #store: JobStore;
  /** Everything that is journaled until the end. */
  readonly #journals: { settled(): Promise<void> }[] = [];
  readonly #feeds: JobFeeds;
  readonly #ends = new TaskEnds(
    (task, roles) => endsOf(this.#core, task, roles),
    () => this.#core.spec.roles.map(({ name }) => name),
  );
  readonly #feed: StatusFeed;
  readonly #links: ExecutorLinks;
  readonly #scheduler: Scheduler;
  readonly #history: JobHistory;
  readonly #liveness: ReturnType<typeof createLiveness>;
  readonly #attemptWatch: AttemptWatch;
  readonly #tokens: FreshTokens;
  readonly #clientRights: ClientRights;
  readonly #clients: ClientCalls;
  readonly #endpoint: MasterEndpoint;
  readonly #end: JobEnd;
  readonly #searchResults: SearchResults;
  readonly #optuna: Optuna | undefined;
  readonly #outlets: Outlets;
  #launcher: Launcher | undefined;
  readonly #page: JobPage | undefined;
  /** Where YARN's proxy finds the page. */
  #pageUrl: string | undefined;

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
      localNameOf: localNames(configuration),
      tokenKey: () => this.#scheduler.clientTokenKey,
      groupsOf,
    });
    this.#tokens = new FreshTokens({
      given: credentials,
      clock: wallClock,
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
    const startedAtMs = wallClock.nowMs();
    const identity = {
      applicationId: job.applicationId,
      attempt,
      amHost: settings.host,
      amContainerId: settings.containerId,
      startedAtMs,
      nodeHeartbeatMs: configuration.getInteger(nodeHeartbeatKey) ?? 1_000,
    };
    this.#core = createCore(job.spec, identity, { defects: "log" });
    this.#series = new JobSeries(job.spec, startedAtMs);
    this.#liveness = createLiveness(job.spec.timeouts);
    this.#outlets = this.#makeOutlets();
    this.#idleness = idlenessOf(job.spec, () => this.#sessions.anyCommand);
    this.#attemptWatch = new AttemptWatch({
      attempt,
      expiryMs: configuration.getDurationMs(masterExpiryKey, "ms", 600_000),
      isolationMs: job.spec.timeouts.isolationMs,
      clock: wallClock,
      answeredAtMs: () => this.#scheduler.answeredAtMs,
      latestAttempt: () => this.#staging.latestAttempt(),
      over: (reason) => this.shell.post({ type: "resource-manager-shutdown", reason }),
    });
    this.#feed = new StatusFeed(() => this.#status(), wallClock);
    const { local } = settings;
    this.#history = new JobHistory(job, { fileSystems: this.#fileSystems, attempt, local, atMs: startedAtMs, log });
    this.#checkpoints = new DroppedCheckpoints({ ...job, fileSystems: this.#fileSystems, log });
    this.#links = this.#makeLinks();
    this.#sessions = this.#makeSessions();
    this.#journal = new JournalWriter({ fileSystem, folder: this.#staging.journalFolder, attempt });
    this.#storeJournal = new SealedJournal({
      fileSystem,
      folder: this.#staging.storeFolder,
      attempt,
      decode: readStoreFile,
    });
    const { applicationId } = job;
    const [series, staging] = [this.#series, this.#staging];
    this.#keptSeries = new KeptSeries({ applicationId, attempt, series, staging, clock: wallClock, log });
    this.#journals.push(this.#journal, this.#storeJournal, this.#keptSeries);
    this.#store = new JobStore({
      attempt,
      clock: wallClock,
      journal: this.#storeJournal,
      log,
      lifeOf: (task) => lifeOf(this.#core.state, task),
      knowsLives: () => this.#core.state.phase !== "starting",
    });
    this.#feeds = this.#makeFeeds(fileSystem);
    this.#page = this.#makePage(configuration);
    this.#clients = this.#makeClients();
    this.#endpoint = this.#makeEndpoint();
    this.#searchResults = this.#makeSearchResults();
    this.#optuna = this.#makeOptuna();
    this.#end = this.#makeEnd();
    this.shell = this.#makeShell();
  }

  /** Resolves when the attempt is registered and, if it is a later one, has read the earlier one's journal. */
  async start(): Promise<void> {
    const { job, settings, log } = this.#input;
    const { attempt, local } = settings;
    const hostPort = await this.#endpoint.open();
    this.#launcher = new Launcher({
      job,
      attempt,
      masterAddress: this.#endpoint.address,
      credentialsOf: (containerId) => executorCredentials(this.#tokens.held(), this.#identity, containerId),
      memoryMiBOf: (containerId) => this.#core.state.containers[containerId]?.resource.memoryMiB,
      outletVariables: await this.#outlets.variables(() => this.#status()),
      memoryEnforced: !local,
    });
    const { fileSystem } = this.#fileSystems.locate(job.stagingUrl);
    const journal = attempt > 1 ? earlierJournal(fileSystem, this.#staging.journalFolder, log) : undefined;
    this.#pageUrl = local ? undefined : await this.#page?.open();
    const address = { ...hostPort, ...(this.#pageUrl !== undefined && { trackingUrl: this.#pageUrl }) };
    const registration = await this.#scheduler.start(address, (event) => this.shell.post(event));
    void this.#endpoint.announce();
    this.#watchAttempt();
    if (!local) renewTokens({ job, tokens: this.#tokens, staging: this.#staging, fileSystem, log });
    if (attempt === 1) this.#history.begin(this.#status(), this.#pageUrl && this.#page?.key);
    if (journal !== undefined) {
      void this.#keptSeries.recover();
      this.#feeds.recover();
      const { keptContainers } = registration;
      this.shell.post({ type: "recovered", ...(await journal), keptContainers });
    }
    this.#liveness.begin(wallClock.nowMs());
    this.#watch();
    this.#searchResults.begin();
  }

  /** YARN will start another attempt, and the containers live on; with the local scheduler the signal means that the job is to end. */
  terminate(signal: string): void {
    if (this.#end.hasBegun) return;
    if (this.#input.settings.local) {
      const told = this.#staging.killReason().catch(() => `killed by ${signal}`);
      void told.then((reason) => this.shell.post({ type: "stop-requested", reason }));
      return;
    }
    this.#input.log.warn("terminated", `The NodeManager ends this process (${signal}); the tasks' containers live on.`);
    this.shell.close();
    const left = this.#staging.leave(this.#status()).catch(() => undefined);
    void Promise.race([left, sleep(LEAVE_WITHIN_MS)]).finally(() => process.exit(143));
  }

  #makePage(configuration: Configuration): JobPage | undefined {
    const { job, settings, log } = this.#input;
    if (job.spec.am.page === false) return undefined;
    const isSecured = configuredAuthentication(configuration) === "kerberos";
    const knowsViewers = isSecured && configuration.get(webLoginKey) === "kerberos";
    return new JobPage({
      job,
      settings,
      log,
      isSecured,
      identity: this.#identity,
      ...(knowsViewers && { maySee: (user: string) => this.#clientRights.mayDo(user, "view") }),
      series: this.#series,
      history: this.#history,
      readLog: (...wanted) => this.#clients.readLog(...wanted),
      status: () => this.#status(),
      clock: wallClock,
    });
  }

  #makeLinks(): ExecutorLinks {
    return new ExecutorLinks({
      post: (event) => this.shell.post(event),
      heard: (containerId, task) => {
        for (const event of this.#liveness.heard(task, containerId, wallClock.nowMs())) this.shell.post(event);
      },
      forget: (containerId) => {
        this.#liveness.forget(containerId);
        this.#metrics.delete(containerId);
        this.#idleness.forget(containerId);
      },
      metrics: (...said) => {
        const [, task, metrics] = said;
        const nowMs = wallClock.nowMs();
        this.#metrics.set(...said);
        this.#idleness.heard(...said, nowMs);
        this.#series.used(task, metrics, nowMs);
      },
      progress: (task, progress) => this.#series.reached(task, progress, wallClock.nowMs()),
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
        const atMs = wallClock.nowMs();
        this.#history.add({ record: "event", ...event, atMs, generation, task, containerId });
        this.#idleness.othersRan();
      },
    });
    return new Sessions({
      clock: wallClock,
      records,
      unknownTask: (task) => unknownTask(job.spec, task),
      spokenName: (task) => spokenNameIn(job.spec, task),
      linkTo: (task) => this.#links.linkTo(task),
      taskIn: (containerId) => this.#links.taskIn(containerId),
      tenantOf: (containerId) => launchIn(this.#core.state, containerId)?.task,
    });
  }

  #makeShell(): Shell {
    return new Shell({
      clock: wallClock,
      core: this.#core,
      scheduler: this.#scheduler,
      links: this.#links,
      feed: {
        changed: () => {
          this.#feed.changed();
          this.#store.look();
          this.#endpoint.look();
          this.#feeds.look();
          this.#ends.look();
          this.#optuna?.look();
        },
        finish: (outcome) => {
          this.#page?.ended();
          this.#feed.finish(outcome);
        },
      },
      journal: this.#journal,
      history: this.#history,
      launcher: { command: (launch) => this.#started.command(launch) },
      checkpoints: this.#checkpoints,
      log: this.#input.log,
      stoodStill: (gapMs) => {
        this.#liveness.stoodStill(gapMs, wallClock.nowMs());
        this.#attemptWatch.stoodStill();
      },
      rejoin: (executors) => void this.#endpoint.callBack(executors),
      beforeUnregister: (outcome) => this.#end.begin(outcome),
      exit: (exitCode, cleanStaging) => this.#exit(exitCode, cleanStaging),
    });
  }

  #makeFeeds(fileSystem: FileSystem): JobFeeds {
    const { job, settings, log } = this.#input;
    const { state } = this.#core;
    const journalIn = <Content>(folder: string, decode: (content: unknown) => Content) => {
      const journal = new SealedJournal({ fileSystem, folder, attempt: settings.attempt, decode });
      this.#journals.push(journal);
      return journal;
    };
    return new JobFeeds({
      feeds: job.spec.feeds ?? [],
      tasks: countTasks(job.spec),
      inputs: job.feeds ?? {},
      fileSystems: this.#fileSystems,
      clock: wallClock,
      log,
      journalOf: (feed) => journalIn(this.#staging.feedFolder(feed), (content) => feedShape(content, "")),
      inputJournalOf: (feed) => journalIn(this.#staging.feedInputFolder(feed), (content) => foundShape(content, "")),
      lifeOf: (task) => lifeInGang(state, task),
      endOf: (task, generation) => endOf(state, task, generation),
      knowsLives: () => state.phase !== "starting",
    });
  }

  #makeEndpoint(): MasterEndpoint {
    const { job, settings, log } = this.#input;
    return new MasterEndpoint({
      job,
      settings,
      log,
      identity: this.#identity,
      executors: this.#links,
      sessions: this.#sessions,
      feeds: this.#feeds,
      ends: this.#ends,
      door: this.#clientRights,
      staging: this.#staging,
      clients: this.#clients,
    });
  }

  #makeClients(): ClientCalls {
    const { job, ownLog } = this.#input;
    const page = this.#page;
    return new ClientCalls({
      spec: job.spec,
      feed: this.#feed,
      tails: this.#tails,
      store: this.#store,
      ownLog,
      owner: job.user,
      ...(page && { askPage: (path: string) => page.ask(path) }),
      stop: (reason) => this.shell.post({ type: "stop-requested", reason }),
    });
  }

  #makeOutlets(): Outlets {
    const { job, credentials, log } = this.#input;
    const rateOf = (task: string) => this.#series.rateOf(task);
    return new Outlets({ job, secrets: credentials.secrets, rateOf, clock: wallClock, log });
  }

  #makeEnd(): JobEnd {
    const { job, settings, log } = this.#input;
    return new JobEnd({
      log,
      local: settings.local,
      status: () => this.#status(),
      closeHistory: () =>
        this.#history.close(this.#status(), {
          useOf: (task) => this.#metrics.useOf(task),
          encodeSeries: (...job) => this.#series.encode(...job),
        }),
      storeTrials: () => this.#searchResults.end(),
      endFeeds: () => this.#feeds.end(),
      lastNotices: (limitMs) => this.#outlets.end(this.#status(), limitMs),
      removeCheckpoints: () => this.#checkpoints.remove(droppedTasks(this.#core)),
      removeUnfinishedUploads: () => removeUnfinishedUploads(job.spec, job.applicationId, this.#fileSystems),
      sessions: this.#sessions,
      tails: this.#tails,
      journals: this.#journals,
      staging: this.#staging,
      scheduler: this.#scheduler,
      endpoint: this.#endpoint,
    });
  }

  #makeSearchResults(): SearchResults {
    const { job, settings } = this.#input;
    const { search } = job.spec;
    const shared =
      search?.outputDir === undefined ? [] : [`${search.outputDir.replace(/\/+$/, "")}/${job.applicationId}`];
    return new SearchResults({
      clock: wallClock,
      // The last status is left before the end, because a SIGKILL leaves no time for it.
      ...(search && { leave: () => this.#staging.leaveWhole(this.#status()) }),
      folders: search === undefined ? [] : settings.local ? [...shared, job.stagingUrl] : shared,
      fileSystems: this.#fileSystems,
      lines: () => trialLines(this.#core, this.#status()),
      files: () => {
        const status = this.#status();
        const files = searchFiles(this.#core, status);
        if (search === undefined || files === undefined) return [];
        return [files, eventFiles(search, trialLines(this.#core, status), this.#core.state.startedAtMs)];
      },
    });
  }

  #makeOptuna(): Optuna | undefined {
    const { search } = this.#input.job.spec;
    if (search?.optunaPython === undefined) return undefined;
    return new Optuna({
      search,
      command: [search.optunaPython, "-c", search.optunaProgram ?? ""],
      clock: wallClock,
      log: this.#input.log,
      wanted: () => trialToPropose(this.#core),
      trials: () => begun(this.#core).map(trialOf),
      post: (event) => this.shell.post(event),
    });
  }

  get #started(): Launcher {
    if (this.#launcher === undefined)
      throw new TonyError("nothing is launched before the start", { code: "NOT_STARTED" });
    return this.#launcher;
  }

  /** Runs from the registration on, even while the earlier attempt's journal cannot be read: executors connect by then. */
  #watchAttempt(): void {
    this.shell.tick();
    this.#attemptWatch.tick();
    wallClock.after(LIVENESS_TICK_MS, () => this.#watchAttempt());
  }

  #watch(): void {
    this.shell.tick();
    for (const event of this.#liveness.tick(wallClock.nowMs())) this.shell.post(event);
    const { job, settings, ownLog, log } = this.#input;
    this.#scheduler.show(progressOf(this.#core), shownAddress(job.spec, this.#pageUrl, this.#core.state.services));
    this.#feed.refresh();
    const still = this.#stillness.look(wallClock.nowMs(), () => this.#status());
    if (still !== undefined) log.warn("nothing-changes", still);
    const idle = this.#idleness.look(wallClock.nowMs(), () => this.#status());
    if (idle !== undefined) log.warn("tasks-idle", `${idleWords(idle)} → ${idleRemedy(job.applicationId)}`);
    this.#outlets.look(() => this.#status());
    this.#optuna?.look();
    if (!settings.local) this.#keptSeries.look();
    void ownLog.rotate(logLimitsOf(job.spec), (work) => work());
    wallClock.after(LIVENESS_TICK_MS, () => this.#watch());
  }

  #status(): JobStatus {
    const measured = this.#metrics.addTo(statusOf(this.#core, wallClock.nowMs()));
    const decided = withRates(measured, (task) => this.#series.rateOf(task));
    const { job, settings } = this.#input;
    const { submittedAtMs } = settings;
    const { distributedMode } = job.spec;
    const status = {
      ...this.#idleness.addTo(decided),
      ...(distributedMode === "fcfs" && { distributedMode }),
      ...(submittedAtMs !== undefined && { submittedAtMs }),
      ...this.#feeds.status(),
      waits: [...this.#scheduler.waits, ...decided.waits, ...(this.#optuna?.waits ?? [])],
    };
    const { outcome } = this.#end;
    if (outcome === undefined) return status;
    const { idle: _idle, ...ended } = status;
    return { ...ended, state: outcome.result, waits: [], outcome };
  }

  async #exit(exitCode: number, cleanStaging: boolean): Promise<void> {
    this.#optuna?.stop();
    await this.#end.complete(cleanStaging);
    this.#input.log.info("am-exits", `The ApplicationMaster exits with code ${exitCode}.`);
    process.exit(exitCode);
  }
}

/**
 * What the application's link leads to: TensorBoard, as with TonY, where the job has one and does not ask for its page. YARN's proxy may fetch
 * nothing but HTTPS (`application-https.policy=STRICT`): where the page is served over HTTPS, the link leads to it.
 */
function shownAddress(
  { am }: JobSpec,
  pageUrl: string | undefined,
  [service]: readonly { readonly url: string }[],
): string | undefined {
  return am.page === true || pageUrl?.startsWith("https:") ? (pageUrl ?? service?.url) : (service?.url ?? pageUrl);
}

function idlenessOf({ roles, gpuTypes, timeouts }: JobSpec, othersRun: () => boolean): Idleness {
  const gpus = new Map(roles.map(({ name, resource }) => [name, gpusOf(resource.others, gpuTypes)]));
  const hasGpus = [...gpus.values()].some((count) => count > 0);
  return new Idleness({
    afterMs: timeouts.idleMs,
    metricsIntervalMs: timeouts.metricsIntervalMs,
    // Called for each sample of each task.
    gpusOf: (task) => (hasGpus ? (gpus.get(parseTaskId(task)?.role ?? "") ?? 0) : 0),
    othersRun,
  });
}
