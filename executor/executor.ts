import type { ExecutorIdentity } from "../src/api/identity.ts";
import type { ExecutorReport, MasterCommand, MasterMessage, Metrics } from "../src/api/messages.ts";
import { within } from "../src/hadoop/clock.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import type { ContainerToldToEnd, ExecutorRegistration } from "../src/job/execution.ts";
import { decodeExecutorJob, type ExecutorJob } from "../src/job/executor-job.ts";
import { formatTaskId } from "../src/job/task.ts";
import type { TaskLife } from "../src/journal/task-life.ts";
import type { Log } from "../src/log.ts";
import { Carrier } from "./carrier/carrier.ts";
import { Gate } from "./carrier/gate.ts";
import { ExecutorExit } from "./exit-codes.ts";
import { openFileSystems } from "./file-systems.ts";
import { Generation } from "./generation.ts";
import { LogTails } from "./hooks/log-tails.ts";
import { MemorySampler } from "./hooks/memory-sampler.ts";
import { MasterLink, type Welcome } from "./master-link.ts";
import { planProgram } from "./plan-program.ts";
import { readKernelUnits } from "./proc-fs.ts";
import type { StopOrder } from "./program.ts";
import type { ExecutorSettings } from "./settings.ts";
import { StagingFolder } from "./staging-folder.ts";

export interface ExecutorOptions {
  readonly settings: ExecutorSettings;
  readonly identity: ExecutorIdentity;
  readonly build: string;
  /** The container's. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** Milliseconds that never run backwards. */
  readonly monotonicMs: () => number;
  /** Ends the process. */
  readonly end: (code: ExecutorExit) => void;
}

type StartChild = Extract<MasterCommand, { type: "start-child" }>;
type StopChild = Extract<MasterCommand, { type: "stop-child" }>;
type Service = Extract<ExecutorReport, { type: "service" }>;
type Progress = Extract<ExecutorReport, { type: "progress" }>;

/** A NodeManager gives 250 ms from TERM to KILL: the program is given this much of it, and everything is over by the limit. */
const TERMINATION_GRACE_MS = 100;
const TERMINATION_LIMIT_MS = 140;
/** A goodbye that cannot be sent in this time is not. */
const GOODBYE_LIMIT_MS = 1_000;
/** Before the job is known. */
const FIRST_GRACE_MS = 10_000;

/**
 * One task's executor. It is prepared for a generation (ports), registers, starts the program when the gang is complete, and tells the
 * ApplicationMaster of it; then it is prepared for the next one, or told to end. What the link has lost it is told again on joining anew.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #link: MasterLink;
  readonly #tails: LogTails;
  readonly #sampler = new MemorySampler(readKernelUnits());
  #generation: Generation;
  /** The one before, which may still be stopping. */
  #previous: Generation | undefined;
  /** Closed while neither an ApplicationMaster nor the staging folder is reached: nobody knows whose task this is. */
  readonly #gate = new Gate();
  #rejoinAddress: string | undefined;
  #job: ExecutorJob | undefined;
  /** There from the first welcome on, in a job that has something carried; `#carrierReady` says when. */
  #carrier: Carrier | undefined;
  #carrierReady: Promise<void> | undefined;
  /** The generation whose start was begun last. */
  #begun = 0;
  #service: Service | undefined;
  #progress: Progress | undefined;
  #heartbeats: NodeJS.Timeout | undefined;
  #metricsSent: Metrics | undefined;
  #ending = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    const { settings, identity, build, log, random, monotonicMs } = options;
    const staging = new StagingFolder(settings.staging);
    this.#generation = this.#newGeneration(settings.generation);
    this.#tails = new LogTails({
      logFolder: settings.logFolder,
      send: (chunk) => this.#link.report(chunk.generation, { type: "log-chunk", chunk }),
      generation: () => this.#generation.number,
    });
    this.#link = new MasterLink({
      identity,
      build,
      master: { attempt: settings.attempt, address: settings.masterAddress },
      log,
      random,
      monotonicMs,
      generation: () => this.#generation.number,
      registration: () => this.#registration(),
      joined: (welcome) => this.#doing(this.#joined(welcome)),
      left: () => this.#left(),
      command: (message) => this.#obey(message),
      refused: (reason) => this.#finish(ExecutorExit.ordered, `the ApplicationMaster refused it: ${reason}`),
      lookIntoStaging: () => staging.look(this.#life),
      reached: () => this.#goOn("the staging folder says that the container is still its task's"),
      replaced: () => this.#replaced(ExecutorExit.replaced, "the journal says that its task lives on elsewhere"),
      isolated: (silentMs) => this.#isolated(silentMs),
      orphaned: (silentMs) => this.#orphaned(silentMs),
    });
  }

  get link(): MasterLink {
    return this.#link;
  }

  /** @param openRejoinPort resolves with the address that the ApplicationMaster is told */
  async start(openRejoinPort: () => Promise<string>): Promise<void> {
    this.#link.start();
    const [address] = await Promise.all([openRejoinPort(), this.#generation.prepare()]);
    this.#rejoinAddress = address;
    this.#link.register();
  }

  /** SIGTERM: everything ends within what a NodeManager gives it. */
  async terminate(): Promise<void> {
    const reason: ContainerToldToEnd = "the container was told to end (SIGTERM)";
    this.#ending = true;
    this.#options.log.warn("terminated", "The container was told to end.");
    const order = { graceMs: TERMINATION_GRACE_MS, reason, groupTold: true };
    await within(TERMINATION_LIMIT_MS, this.#stopAndSayGoodbye(order));
    this.#generation.kill();
    this.#options.end(ExecutorExit.terminated);
  }

  #newGeneration(number: number): Generation {
    const { settings, log, nowMs, random } = this.#options;
    return new Generation({
      number,
      settings,
      sampler: this.#sampler,
      log: log.with({ generation: number }),
      nowMs,
      random,
      report: (report, replaces) => this.#reportOf(number, report, replaces),
    });
  }

  get #life(): TaskLife {
    const { applicationId, containerId, task } = this.#options.settings;
    const { number: generation } = this.#generation;
    return { applicationId, task: formatTaskId(task.role, task.index), containerId, generation };
  }

  #reportOf(generation: number, report: ExecutorReport, replaces?: string): void {
    if (report.type === "service") this.#service = report;
    if (report.type === "progress") {
      this.#reportProgress(generation, this.#carrier?.heard(generation, report) ?? report);
      return;
    }
    this.#link.report(generation, report, replaces);
    if (report.type === "child-exited") {
      this.#tails.look();
      this.#carrier?.programEnded();
    }
  }

  /** The last one is repeated on a new stream; one of an earlier generation is not. */
  #reportProgress(generation: number, report: Progress): void {
    if (generation === this.#generation.number) this.#progress = report;
    this.#link.report(generation, report, "progress");
  }

  #registration(): ExecutorRegistration | undefined {
    const { settings } = this.#options;
    const { number, prepared, started, ports, child } = this.#generation;
    if (!prepared || this.#rejoinAddress === undefined) return undefined;
    return {
      task: formatTaskId(settings.task.role, settings.task.index),
      containerId: settings.containerId,
      generation: number,
      host: settings.host,
      port: started ? 0 : ports.task,
      tensorboardPort: ports.tensorBoard,
      rejoinAddress: this.#rejoinAddress,
      child,
    };
  }

  async #joined({ heartbeatIntervalMs, job }: Welcome): Promise<void> {
    this.#job = decodeExecutorJob(job);
    this.#carrierReady ??= this.#openCarrier(this.#job);
    this.#link.limits = this.#job.spec.timeouts;
    this.#metricsSent = undefined;
    clearInterval(this.#heartbeats);
    this.#heartbeats = setInterval(() => this.#beat(), heartbeatIntervalMs);
    this.#beat();
    const { number, exit, exitAcknowledged } = this.#generation;
    const unsaid = [exit && !exitAcknowledged ? ({ type: "child-exited", exit } as const) : undefined];
    for (const report of [...unsaid, this.#service, this.#progress ?? this.#carrier?.news]) {
      if (report !== undefined) this.#link.report(number, report);
    }
    await this.#carrierReady;
  }

  #left(): void {
    clearInterval(this.#heartbeats);
    this.#tails.clear();
  }

  #beat(): void {
    const { number, metrics } = this.#generation;
    const news = metrics !== undefined && metrics !== this.#metricsSent ? { metrics } : {};
    this.#metricsSent = metrics;
    this.#link.report(number, { type: "heartbeat", sentAtMs: this.#options.nowMs(), ...news }, "heartbeat");
  }

  #obey({ generation, body }: MasterMessage): void {
    if (this.#ending) return;
    if (body.type === "exit" && body.replaced === true) {
      this.#replaced(ExecutorExit.ordered, body.reason);
      return;
    }
    if (!isAboutLogs(body)) this.#gate.open();
    if (body.type === "prepare") this.#doing(this.#prepare(generation, body.reason));
    else if (body.type === "start-child") this.#doing(this.#start(this.#generation, body));
    else if (body.type === "stop-child") this.#doing(this.#stopChild(this.#generation, body));
    else if (body.type === "exit") this.#finish(ExecutorExit.ordered, body.reason, body.graceMs);
    else if (body.type === "resume-child") this.#resumed();
    else if (body.type === "acknowledge") this.#generation.exitAcknowledged = true;
    else if (body.type === "signal-child") this.#signal(body.signal, body.reason);
    else if (body.type === "tail-log") this.#tails.request(body);
    else if (body.type === "tail-credit") this.#tails.credit(body.tailId, body.bytes);
  }

  /** A fault of our own in carrying out a command ends the executor: the ApplicationMaster then gets another container. */
  #doing(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#options.log.error("failed", `${errorMessage(error)}.`);
      process.stderr.write(`tony-ts: ${errorMessage(error)}\n`);
      this.#finish(ExecutorExit.failed, errorMessage(error));
    });
  }

  async #prepare(number: number, reason: string): Promise<void> {
    const previous = this.#generation;
    if (number === previous.number) {
      // A new ApplicationMaster has not heard our registration yet: nothing is stopped.
      this.#link.register();
      return;
    }
    const next = this.#newGeneration(number);
    this.#generation = next;
    this.#previous = previous;
    this.#service = undefined;
    this.#progress = undefined;
    this.#options.log.info("preparing", `Preparing for generation ${number}: ${reason}.`, { generation: number });
    await this.#stop(previous, { graceMs: this.#graceMs, reason });
    await this.#carrier?.settle({ last: false });
    await previous.releasePorts();
    this.#previous = undefined;
    await next.prepare();
    if (this.#generation === next) this.#link.register();
    else await next.releasePorts();
  }

  async #start(generation: Generation, command: StartChild): Promise<void> {
    if (this.#job === undefined) return;
    // Said again while its folders are still being made ready.
    if (this.#begun >= generation.number) return;
    this.#begun = generation.number;
    const { settings, environment } = this.#options;
    const checkpoint = await this.#bringBack(generation, command.checkpoint);
    const { attempt, address } = this.#link.master;
    await generation.start(
      planProgram({
        settings,
        environment,
        job: this.#job,
        command,
        master: { attempt, address },
        generation: generation.number,
        ports: generation.ports,
        workFolder: process.cwd(),
        checkpoint,
      }),
    );
    if (this.#gate.isClosed) generation.suspend();
  }

  /** What the program is told to go on from, as it can read it. Throws when that cannot be had, unless the program is not wanted any more. */
  async #bringBack(generation: Generation, checkpoint: string): Promise<string> {
    await this.#carrierReady;
    if (this.#carrier === undefined) return checkpoint;
    try {
      return await this.#carrier.begin(checkpoint);
    } catch (error) {
      if (generation.isStopped || this.#ending) return "";
      throw error;
    }
  }

  async #openCarrier({ spec, applicationId }: ExecutorJob): Promise<void> {
    if (spec.carrier === undefined) return;
    const { settings, log, nowMs, random } = this.#options;
    this.#carrier = new Carrier({
      spec: spec.carrier,
      checkpointDir: spec.checkpointDir,
      applicationId,
      task: settings.task,
      workFolder: process.cwd(),
      fileSystems: await openFileSystems(settings.staging),
      gate: this.#gate,
      log,
      nowMs,
      random,
      report: (generation, report) => this.#reportProgress(generation, report),
      transferred: (transfer) => this.#link.report(this.#generation.number, { type: "transfer", transfer }),
    });
  }

  async #stopChild(generation: Generation, { graceMs, reason, dumpStacks }: StopChild): Promise<void> {
    if (dumpStacks === true) {
      this.#options.log.warn("hung", `The program is stopped, it ${reason}.`);
      await generation.dumpStacks(reason);
    }
    await this.#stop(generation, { graceMs, reason });
  }

  async #stop(generation: Generation, order: StopOrder): Promise<void> {
    this.#carrier?.abandonStart();
    if (await generation.stop(order)) return;
    this.#options.log.error("stuck", "A process of the program survives KILL; the container must go.");
    this.#options.end(ExecutorExit.stuck);
  }

  #signal(signal: string, reason: string): void {
    this.#options.log.info("signal", `Sending ${signal} to the program: ${reason}.`, { signal });
    if (isSignal(signal)) this.#generation.signal(signal);
  }

  /** Its task may live on elsewhere by now: nothing of it may be written until somebody says that it does not. */
  #isolated(silentMs: number): void {
    const seconds = Math.round(silentMs / 1000);
    const who = `Neither the ApplicationMaster nor the staging folder was reached for ${seconds} s`;
    this.#gate.close(`${who} (tony.task.isolation-timeout).`);
    this.#previous?.suspend();
    const what = this.#generation.suspend() ? "the program is suspended" : "nothing is brought up";
    this.#options.log.warn("isolated", `${who}: ${what} until one of them is (tony.task.isolation-timeout).`);
  }

  #goOn(why: string): void {
    this.#gate.open();
    if (this.#generation.resume()) this.#options.log.info("resumed", `The program goes on: ${why}.`);
  }

  #resumed(): void {
    this.#goOn("the ApplicationMaster says that the container is still its task's");
    this.#generation.suspensionKnown();
  }

  /** Whatever is written from here on could meet what the task writes elsewhere. */
  #replaced(code: ExecutorExit, reason: string): void {
    this.#carrier?.giveUp(reason);
    for (const generation of [this.#previous, this.#generation]) void generation?.stop({ graceMs: 0, reason });
    this.#finish(code, reason, 0);
  }

  #orphaned(silentMs: number): void {
    const seconds = Math.round(silentMs / 1000);
    const reason = `no ApplicationMaster for ${seconds} s (tony.task.orphan-timeout)`;
    this.#finish(ExecutorExit.orphaned, reason);
  }

  #finish(code: ExecutorExit, reason: string, graceMs = this.#graceMs): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#options.log.info("ending", `The executor ends: ${reason}.`);
    void this.#stopAndSayGoodbye({ graceMs, reason }).then(
      () => this.#options.end(code),
      () => this.#options.end(ExecutorExit.failed),
    );
  }

  async #stopAndSayGoodbye(order: StopOrder): Promise<void> {
    await this.#stop(this.#generation, order);
    await this.#carrier?.settle({ last: true });
    clearInterval(this.#heartbeats);
    this.#tails.finish();
    await within(GOODBYE_LIMIT_MS, this.#link.close(order.reason));
  }

  get #graceMs(): number {
    return this.#job?.spec.timeouts.stopGraceMs ?? FIRST_GRACE_MS;
  }
}

/** What says nothing of the task itself. */
function isAboutLogs({ type }: MasterCommand): boolean {
  return type === "tail-log" || type === "tail-credit";
}

function isSignal(name: string): name is NodeJS.Signals {
  return /^SIG(TERM|INT|HUP|QUIT|USR1|USR2|CONT|STOP|KILL|ABRT)$/.test(name);
}
