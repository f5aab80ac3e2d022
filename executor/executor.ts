import { resolve } from "node:path";
import type { ContainerTokens } from "../src/api/container-tokens.ts";
import type { ExecutorIdentity } from "../src/api/identity.ts";
import type { ExecutorReport, MasterCommand, MasterMessage } from "../src/api/messages.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import type { ExecutorRegistration } from "../src/job/execution.ts";
import { generationFiles } from "../src/job/launch/container-names.ts";
import { type StopReason, stopWords } from "../src/job/reasons/stops.ts";
import { decodeExecutorJob, type ExecutorJob } from "../src/job/stored/executor-job.ts";
import { formatTaskId } from "../src/job/task.ts";
import type { TaskLife } from "../src/journal/task-life.ts";
import type { Log } from "../src/log.ts";
import { awaitEnds } from "./api/ends.ts";
import { askFeed } from "./api/feed-calls.ts";
import { transactFor, watchFor } from "./api/store-calls.ts";
import { Carrier } from "./carrier/carrier.ts";
import { Gate } from "./carrier/gate.ts";
import { ExecutorEnd } from "./executor-end.ts";
import { ExecutorExit } from "./exit-codes.ts";
import { openFileSystems } from "./file-systems.ts";
import { Generations } from "./generation/generations.ts";
import { MasterLink, type Welcome } from "./master/master-link.ts";
import { StagingFolder } from "./master/staging-folder.ts";
import { LogTails } from "./monitoring/log-tails.ts";
import { earlierLogs, outputLogs } from "./output/output-files.ts";
import { ModelParameters } from "./preparation/model-parameters.ts";
import type { WorkFolder } from "./preparation/work-folder.ts";
import { Reports } from "./reports.ts";
import { Sessions } from "./sessions/sessions.ts";
import type { ExecutorSettings } from "./settings.ts";
import type { TaskTokens } from "./task-tokens.ts";

export interface ExecutorOptions {
  readonly settings: ExecutorSettings;
  readonly identity: ExecutorIdentity;
  readonly build: string;
  /** The container's, with the program's token file. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly tokens: TaskTokens;
  readonly containerTokens: Pick<ContainerTokens, "putBack">;
  readonly workFolder: WorkFolder;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** Milliseconds since this process began, which never run backwards. */
  readonly monotonicMs: () => number;
  /** Ends the process. */
  readonly end: (code: ExecutorExit) => void;
}

type StartChild = Extract<MasterCommand, { type: "start-child" }>;

/** How long to wait for the first ApplicationMaster, from which alone the job's own limit is known. */
const FIRST_ORPHAN_MS = 900_000;
/** The grace period until the job's own is known. */
const FIRST_GRACE_MS = 10_000;
const REPLACED_BY_JOURNAL: StopReason = {
  code: "replaced",
  why: "the journal says that its task lives on elsewhere",
};

/**
 * One task's executor. For each generation it opens ports, registers, starts the program when the gang is complete, and reports how it
 * runs and ends. Reports that were lost with a stream are sent again on the next one.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #link: MasterLink;
  readonly #tails: LogTails;
  readonly #sessions: Sessions;
  readonly #generations: Generations;
  readonly #gate = new Gate();
  readonly #reports: Reports;
  readonly #end: ExecutorEnd;
  #rejoinAddress: string | undefined;
  #job: ExecutorJob | undefined;
  /** Set after the first welcome, in a job whose executors copy checkpoints or output; `#carrierReady` resolves then. */
  #carrier: Carrier | undefined;
  #carrierReady: Promise<void> | undefined;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    const { settings, identity, build, environment, tokens, log, nowMs, random, monotonicMs } = options;
    const staging = new StagingFolder(settings.staging, tokens.held);
    const logs = outputLogs(settings);
    this.#generations = new Generations({
      settings,
      logs,
      environment,
      log,
      nowMs,
      random,
      master: () => this.#link.master,
      carrier: () => this.#carrier,
      bringBack: (checkpoint) => this.#bringBack(checkpoint),
      parameters: new ModelParameters({
        stagingUrl: settings.staging.stagingUrl,
        open: () => openFileSystems(settings.staging, tokens.held),
      }),
      openSession: (task, words) => this.#link.openSession(task, { type: "command", words }),
      storeFor: (generation) => ({
        transact: (call) => transactFor(() => this.#link, generation, call),
        watch: (wanted, signal) => watchFor(() => this.#link, wanted, signal),
      }),
      feedsFor: (generation) => ({
        feeds: () => this.#job?.spec.feeds ?? [],
        ask: (feed, call, gone) => askFeed(() => this.#link, { feed, generation, call }, gone),
        openFileSystems: () => openFileSystems(settings.staging, tokens.held),
        nowMs,
        log,
        resultsFolder: resolve(generationFiles(generation).results),
      }),
      awaitEnds: (roles, over) => awaitEnds(() => this.#link, roles, over),
      report: (generation, report, replaces) => this.#report(generation, report, replaces),
      prepared: () => this.#link.register(),
      suspendedMs: (generation) => this.#link.suspendedMs(generation),
      stopping: (reason) => this.#sessions.endAll(`the program is stopped: ${stopWords(reason)}`),
      stuck: () => options.end(ExecutorExit.stuck),
    });
    this.#reports = new Reports({
      send: (generation, report, replaces) => this.#link.report(generation, report, replaces),
      current: () => this.#generations.current,
      carried: () => this.#carrier?.news,
      nowMs,
    });
    this.#tails = new LogTails({
      task: formatTaskId(settings.task.role, settings.task.index),
      logs,
      earlierLogs: (task) => earlierLogs(settings.logFolder, task),
      send: (chunk) => this.#link.report(chunk.generation, { type: "log-chunk", chunk }),
      hasRoom: () => this.#link.hasRoom,
      generation: () => this.#generations.current.number,
    });
    this.#end = new ExecutorEnd({
      ...options,
      generations: this.#generations,
      reports: this.#reports,
      tails: this.#tails,
      link: () => this.#link,
      carrier: () => this.#carrier,
      graceMs: () => this.#graceMs,
    });
    this.#sessions = new Sessions({
      containerId: settings.containerId,
      workFolder: process.cwd(),
      openStream: () => this.#link.serveSession(),
      environment: () => this.#generations.current.environment,
      stacks: () => this.#generations.current.stacks(),
      log,
    });
    this.#link = new MasterLink({
      identity,
      build,
      master: { attempt: settings.attempt, address: settings.masterAddress },
      log,
      random,
      monotonicMs,
      limits: { orphanMs: FIRST_ORPHAN_MS, isolationMs: settings.isolationMs },
      generation: () => this.#generations.current.number,
      registration: () => this.#registration(),
      joined: (welcome) => this.#doing(this.#joined(welcome)),
      left: () => this.#left(),
      command: (message) => this.#obey(message),
      refused: (why) => this.#end.finish(ExecutorExit.ordered, { code: "refused", why }),
      lookIntoStaging: () => staging.look(this.#life),
      replaced: () => this.#end.replaced(ExecutorExit.replaced, REPLACED_BY_JOURNAL),
      gate: this.#gate,
      suspend: (generation) => this.#generations.find(generation)?.suspend(),
      resume: (generation) => this.#generations.find(generation)?.resume(),
      orphaned: (silentMs) => this.#end.finish(ExecutorExit.orphaned, { code: "orphaned", silentMs }),
    });
  }

  get link(): MasterLink {
    return this.#link;
  }

  /** @param openRejoinPort resolves with the address that is registered with the ApplicationMaster */
  async start(openRejoinPort: () => Promise<string>): Promise<void> {
    this.#link.start();
    const [address] = await Promise.all([openRejoinPort(), this.#generations.current.prepare()]);
    this.#rejoinAddress = address;
    this.#link.register();
  }

  /** SIGTERM */
  terminate(): Promise<void> {
    return this.#end.terminate();
  }

  get #life(): TaskLife {
    const { applicationId, containerId, task } = this.#options.settings;
    const { number: generation } = this.#generations.current;
    return { applicationId, task: formatTaskId(task.role, task.index), containerId, generation };
  }

  #report(generation: number, report: ExecutorReport, replaces?: string): void {
    const heard = report.type === "child-progress" ? this.#carrier?.heard(generation, report) : undefined;
    this.#reports.send(generation, heard ?? report, replaces);
    if (report.type === "child-started") this.#link.programStarted(generation);
    if (report.type === "child-exited") {
      this.#link.programEnded(generation);
      this.#tails.look();
      this.#sessions.endAll("the program has ended");
      this.#carrier?.programEnded(this.#generations.current.leftovers);
    }
  }

  #registration(): ExecutorRegistration | undefined {
    const { settings, monotonicMs } = this.#options;
    const { number, prepared, started, ports, child } = this.#generations.current;
    if (!prepared || this.#rejoinAddress === undefined) return undefined;
    const { progress } = this.#reports;
    return {
      task: formatTaskId(settings.task.role, settings.task.index),
      containerId: settings.containerId,
      generation: number,
      host: settings.host,
      port: started ? 0 : ports.task,
      ...(!started && settings.portNames.length > 0 && { ports: ports.named }),
      tensorboardPort: ports.tensorBoard,
      rejoinAddress: this.#rejoinAddress,
      upMs: Math.round(monotonicMs()),
      child,
      ...(progress !== undefined && { progress }),
    };
  }

  async #joined({ heartbeatIntervalMs, job }: Welcome): Promise<void> {
    this.#job = decodeExecutorJob(job);
    this.#carrierReady ??= this.#openCarrier(this.#job);
    this.#link.limits = this.#job.spec.timeouts;
    this.#reports.joined(heartbeatIntervalMs);
    await this.#carrierReady;
  }

  #left(): void {
    this.#reports.left();
    this.#tails.clear();
    this.#sessions.endAll("the ApplicationMaster is not reached");
  }

  #obey({ generation, body }: MasterMessage): void {
    if (body.type === "exit" && body.reason.code === "replaced") {
      this.#end.replaced(ExecutorExit.ordered, body.reason);
      return;
    }
    if (body.type === "prepare") this.#doing(this.#generations.prepare(generation, body.reason, this.#graceMs));
    else if (body.type === "start-child") this.#doing(this.#start(body));
    else if (body.type === "stop-child") this.#doing(this.#generations.stopChild(body));
    else if (body.type === "tell-place") this.#doing(this.#generations.tellPlace(generation));
    else if (body.type === "exit") this.#end.finish(ExecutorExit.ordered, body.reason, body.graceMs);
    else if (body.type === "make-room") this.#end.makeRoom(body.variables);
    else if (body.type === "acknowledge-exit") this.#generations.current.exitAcknowledged = true;
    else if (body.type === "signal-child") this.#generations.giveNotice(body);
    else if (body.type === "tail-log") this.#tails.request(body);
    else if (body.type === "serve-session") this.#sessions.serve(body.sessionId);
    else if (body.type === "end-session") this.#sessions.end(body.sessionId);
    else if (body.type === "replace-tokens") this.#doing(this.#options.tokens.renew(body.file));
    else if (body.type === "tail-credit") this.#tails.credit(body.tailId, body.bytes);
    // The link and the core have already handled these.
    else body.type satisfies "welcome" | "refuse" | "resume-child" | "unknown";
  }

  /** An error of the executor itself ends it: the ApplicationMaster then gets another container for the task. */
  #doing(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#options.log.error("failed", `${errorMessage(error)}.`);
      process.stderr.write(`tony-ts: ${errorMessage(error)}\n`);
      this.#end.finish(ExecutorExit.failed, { code: "executor-failed", error: errorMessage(error) });
    });
  }

  async #start(command: StartChild): Promise<void> {
    if (this.#job !== undefined) await this.#generations.start(this.#job, command);
  }

  async #bringBack(checkpoint: string): Promise<string> {
    await this.#carrierReady;
    return this.#carrier === undefined ? checkpoint : await this.#carrier.begin(checkpoint);
  }

  async #openCarrier({ spec, applicationId }: ExecutorJob): Promise<void> {
    if (spec.carrier === undefined) return;
    const { settings, tokens, log, nowMs, random } = this.#options;
    this.#carrier = new Carrier({
      spec: spec.carrier,
      checkpointDir: spec.checkpointDir,
      resumeFrom: spec.resumeFrom,
      isSearch: spec.search !== undefined,
      applicationId,
      task: settings.task,
      workFolder: process.cwd(),
      fileSystems: await openFileSystems(settings.staging, tokens.held),
      gate: this.#gate,
      log,
      nowMs,
      random,
      report: (generation, report) => this.#reports.send(generation, report, "progress"),
      transferred: (transfer) => this.#reports.send(this.#generations.current.number, { type: "transfer", transfer }),
    });
  }

  get #graceMs(): number {
    return this.#job?.spec.timeouts.stopGraceMs ?? FIRST_GRACE_MS;
  }
}
