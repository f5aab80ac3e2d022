import path from "node:path";
import type { ExecutorReport, MasterCommand } from "../../src/api/messages.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { generationFiles } from "../../src/job/launch/container-names.ts";
import { type StopReason, stopWords } from "../../src/job/reasons/stops.ts";
import { taskPlaceOf } from "../../src/job/stacks.ts";
import type { ExecutorJob } from "../../src/job/stored/executor-job.ts";
import type { Log } from "../../src/log.ts";
import type { AwaitEnds } from "../api/ends.ts";
import type { TaskFeeds } from "../api/feeds.ts";
import type { TaskStore } from "../api/kv.ts";
import { socketFolder, socketPath, TaskApi } from "../api/task-api.ts";
import type { Carrier } from "../carrier/carrier.ts";
import type { MasterAddress } from "../core/master.ts";
import { MemorySampler } from "../monitoring/memory-sampler.ts";
import type { OutputLogs } from "../output/output-files.ts";
import { type ModelParameters, partInParameters } from "../preparation/model-parameters.ts";
import { readKernelUnits } from "../processes/proc-fs.ts";
import type { StopOrder } from "../program/program.ts";
import { RemoteShell, type RemoteShellOptions } from "../remote-shell/remote-shell.ts";
import type { ExecutorSettings } from "../settings.ts";
import { Generation } from "./generation.ts";
import { planProgram } from "./plan-program.ts";

type StartChild = Extract<MasterCommand, { type: "start-child" }>;
type StopChild = Extract<MasterCommand, { type: "stop-child" }>;
type SignalChild = Extract<MasterCommand, { type: "signal-child" }>;

export interface GenerationsOptions {
  readonly settings: ExecutorSettings;
  readonly logs: OutputLogs;
  /** The container's. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly master: () => MasterAddress;
  readonly carrier: () => Pick<Carrier, "settle" | "abandonStart"> | undefined;
  /** Downloads the checkpoint. @returns the path that the program is given. Rejects when it cannot be downloaded */
  readonly bringBack: (checkpoint: string) => Promise<string>;
  readonly parameters: ModelParameters;
  /** Runs a command in another task. */
  readonly openSession: RemoteShellOptions["open"];
  /** The job's key-value store, for this life of the task. */
  readonly storeFor: (generation: number) => TaskStore;
  /** Its feeds, for this life of the task. */
  readonly feedsFor: (generation: number) => TaskFeeds;
  readonly awaitEnds: AwaitEnds;
  readonly report: (generation: number, report: ExecutorReport, replaces?: string) => void;
  /** The current generation can be registered, or registered again. */
  readonly prepared: () => void;
  /** How long the program of a generation was suspended, as far as the ApplicationMaster has not been told. */
  readonly suspendedMs: (generation: number) => number;
  /** A program is about to be stopped. */
  readonly stopping: (reason: StopReason) => void;
  /** A process of a program survives SIGKILL. */
  readonly stuck: () => void;
}

/** The generations of one executor, each with its program: the next one is prepared when the program of the last one is stopped. */
export class Generations {
  readonly #options: GenerationsOptions;
  readonly #sampler = new MemorySampler(readKernelUnits());
  #current: Generation;
  #previous: Generation | undefined;
  /** The generation that was last ordered to start. */
  #begun = 0;

  constructor(options: GenerationsOptions) {
    this.#options = options;
    this.#current = this.#open(options.settings.generation);
  }

  get current(): Generation {
    return this.#current;
  }

  /** The generation of that number, where its program may still run. */
  find(number: number): Generation | undefined {
    return [this.#current, this.#previous].find((generation) => generation?.number === number);
  }

  /** Changes to that generation: the program of the one before is stopped, and what it saved is uploaded, before ports are opened. */
  async prepare(number: number, why: string, graceMs: number): Promise<void> {
    const { log, prepared, carrier } = this.#options;
    const previous = this.#current;
    if (number === previous.number) {
      // A new ApplicationMaster has not received the registration yet: nothing is stopped.
      prepared();
      return;
    }
    const next = this.#open(number);
    this.#current = next;
    this.#previous = previous;
    log.info("preparing", `Preparing for generation ${number}: ${why}.`, { generation: number });
    await this.#stop(previous, { graceMs, reason: { code: "generation-ended", why } });
    await carrier()?.settle({ last: false });
    await previous.releasePorts();
    this.#previous = undefined;
    await next.prepare();
    if (this.#current === next) prepared();
    else await next.releasePorts();
  }

  /** Starts the current generation's program; a second order does nothing. */
  async start(job: ExecutorJob, command: StartChild): Promise<void> {
    const generation = this.#current;
    // The order was repeated while the checkpoint is still being downloaded.
    if (this.#begun >= generation.number) return;
    this.#begun = generation.number;
    const { settings, environment, master, openSession } = this.#options;
    const { checkpoint, unusable } = await this.#bringBack(generation, command.checkpoint);
    const { parameters } = this.#options;
    const part = partInParameters(job.spec, settings.task);
    const modelParameters = part === "is told" ? await parameters.read() : undefined;
    const { attempt, address } = master();
    const api = await this.#openApi(generation);
    const plan = await planProgram({
      settings,
      environment,
      job,
      command,
      master: { attempt, address },
      generation: generation.number,
      ports: generation.ports,
      workFolder: process.cwd(),
      checkpoint,
      modelParameters,
      apiSocket: api?.socket,
    });
    const { hosts, hostsFolder } = plan;
    const remoteShell = hosts && (await RemoteShell.open({ folder: hostsFolder, hosts, open: openSession }));
    await generation.start({
      ...plan,
      ...(unusable !== undefined && { unusable }),
      ...(remoteShell && { remoteShell }),
      ...(api && { api }),
      ...(part === "tells" && { keepParameters: (output: string) => parameters.keep(output) }),
    });
  }

  /** Reports where the program of that generation stands; nothing where that is not known. */
  async tellPlace(number: number): Promise<void> {
    const generation = this.#current;
    const place = generation.number === number ? taskPlaceOf((await generation.stacks()) ?? []) : undefined;
    if (place !== undefined) this.#options.report(number, { type: "child-place", ...place });
  }

  /** Ends the current generation's program; with `dumpStacks` it writes its stacks first. */
  async stopChild({ graceMs, reason, dumpStacks }: StopChild): Promise<void> {
    const generation = this.#current;
    if (dumpStacks === true) {
      this.#options.log.warn("hung", `The program is stopped, it ${stopWords(reason)}.`);
      await generation.dumpStacks(reason);
    }
    await this.#stop(generation, { graceMs, reason });
  }

  /** Ends the current generation's program and every process it left. */
  async stop(order: StopOrder): Promise<void> {
    await this.#stop(this.#current, order);
  }

  /** Tells the current generation's program, by its file and a signal, that its container will be taken back. */
  giveNotice({ signal, reason, notice }: SignalChild): void {
    if (!isSignal(signal) || !this.#current.notice(notice)) return;
    this.#options.log.info("signal", `Sending ${signal} to the program: ${reason}.`, { signal });
    this.#current.signal(signal);
  }

  /** Kills every program without waiting for its end. */
  kill(reason: StopReason): void {
    for (const generation of [this.#previous, this.#current]) void generation?.stop({ graceMs: 0, reason });
  }

  async #stop(generation: Generation, order: StopOrder): Promise<void> {
    const { log, stuck, carrier, stopping } = this.#options;
    stopping(order.reason);
    carrier()?.abandonStart();
    if (await generation.stop(order)) return;
    log.error(
      "stuck",
      "A process of the program survives SIGKILL: the executor exits so that the NodeManager ends the container.",
    );
    stuck();
  }

  #open(number: number): Generation {
    const { settings, logs, log, nowMs, random, report, suspendedMs } = this.#options;
    return new Generation({
      number,
      settings,
      logs,
      sampler: this.#sampler,
      log: log.with({ generation: number }),
      nowMs,
      random,
      report: (news, replaces) => report(number, news, replaces),
      suspendedMs: () => suspendedMs(number),
    });
  }

  /** Some file systems support no sockets: the program can do without. */
  async #openApi(generation: Generation): Promise<TaskApi | undefined> {
    const { number } = generation;
    const workFolder = process.cwd();
    try {
      return await TaskApi.open({
        folder: socketFolder(workFolder, number),
        socket: socketPath(workFolder, number, process.pid),
        progressFile: path.join(workFolder, generationFiles(number).progress),
        start: () => generation.told,
        advice: () => generation.advice,
        saved: () => generation.saved(),
        store: this.#options.storeFor(number),
        feeds: this.#options.feedsFor(number),
        awaitEnds: this.#options.awaitEnds,
      });
    } catch (error) {
      this.#options.log.warn("no-task-api", `TONY_API is not set, as no socket can be made: ${errorMessage(error)}.`);
      return undefined;
    }
  }

  /**
   * A checkpoint that cannot be downloaded is no error when the program has been stopped meanwhile. A damaged one is damaged on every
   * machine: then the program is not started, and no other container is asked for.
   */
  async #bringBack(generation: Generation, checkpoint: string): Promise<{ checkpoint: string; unusable?: string }> {
    try {
      return { checkpoint: await this.#options.bringBack(checkpoint) };
    } catch (error) {
      if (generation.isStopped) return { checkpoint: "" };
      if (errorCode(error) === "CHECKPOINT_UNUSABLE") return { checkpoint: "", unusable: errorMessage(error) };
      throw error;
    }
  }
}

function isSignal(name: string): name is NodeJS.Signals {
  return /^SIG(TERM|INT|HUP|QUIT|USR1|USR2|CONT|STOP|KILL|ABRT)$/.test(name);
}
