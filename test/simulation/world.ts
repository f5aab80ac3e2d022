import type { Core } from "../../am/core/core.ts";
import { createInvariants, type Invariants } from "../../am/core/invariants.ts";
import { isSnapshot } from "../../am/core/journal/journal.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import type { ChildExit, Event } from "../../am/core/state/events.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { ApplicationService } from "./application-service.ts";
import { VirtualClock } from "./clock.ts";
import { ExecutorModel, type Hang, type Program } from "./executor-model.ts";
import { checkContainers, checkDurability, isInGang } from "./ground-truth.ts";
import { JournalStore } from "./journal-store.ts";
import { Master } from "./master.ts";
import { NodeService } from "./node-service.ts";
import { OverlapWatch } from "./overlap.ts";
import type { Random } from "./random.ts";
import type { Call } from "./scheduler.ts";
import { WaitWatch } from "./wait-watch.ts";
import type { Weather } from "./weather.ts";
import { Witness } from "./witness.ts";
import { type ModelContainer, obeysYarn, Yarn } from "./yarn.ts";

/** A changed core, to prove that its fault is noticed. */
export type Mutation = (effects: Effect[], core: Core, event: Event) => Effect[];

/** A planted fault: what executors that hear no ApplicationMaster fail to do. */
export type ExecutorFault = "suspend nothing" | "do not read the journal";

export interface WorldOptions {
  readonly spec: JobSpec;
  readonly random: Random;
  readonly nodes: number;
  readonly nodeCapacityMiB: number;
  readonly weather: Weather;
  readonly programs: (task: string) => Program;
  /** How many attempts YARN grants. */
  readonly attempts: number;
  readonly trace?: (line: string) => void;
  readonly mutation?: Mutation;
  /** A second core, ever again rebuilt from its JSON, must decide as the first one does. */
  readonly doubled?: boolean;
  /** Default true; false plants the fault that an attempt acts without asking whether it was replaced while it stood still. */
  readonly fenced?: boolean;
  readonly executorFault?: ExecutorFault;
}

/** Turns of the microtask queue in which whatever waited for a promise has run, and what waited for that. */
const TURNS = 10;

/** Everything around the core: a cluster, a network, executors with their programs, and one attempt of the ApplicationMaster after another. */
export class World {
  readonly applicationId = "application_1_0001";
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly spec: JobSpec;
  readonly yarn: Yarn;
  readonly resourceManager: ApplicationService;
  readonly nodeManagers: NodeService;
  readonly journal: JournalStore;
  readonly faults: Weather;
  readonly executors = new Map<string, ExecutorModel>();
  readonly problems: string[] = [];
  readonly witness: Witness;
  readonly overlap: OverlapWatch;
  /** How often each task's program was started. */
  readonly starts = new Map<string, number>();
  readonly hangs: Hang[] = [];
  /** Programs that were stopped for the time they took. */
  overTime = 0;
  /** What YARN said of containers that the journal takes for the job's still: nobody says it again to the next attempt. */
  lostWords = 0;
  /** How often an executor that reached nobody suspended its program. */
  suspensions = 0;
  /** Attempts that ended, and were not to. */
  surrenders = 0;
  /** The last one that was started. */
  master: Master;
  outcome: JobOutcome | undefined;
  exited = false;
  /** YARN has ended the application, for its attempts are used up. */
  givenUp = false;
  steps = 0;
  readonly #options: WorldOptions;
  readonly #startedAtMs: number;
  #invariants: Invariants;
  readonly #waits = new WaitWatch();
  #port = 20_000;
  #isSettling = false;

  constructor(options: WorldOptions) {
    const { random, spec, weather } = options;
    this.#options = options;
    this.random = random;
    this.spec = spec;
    this.witness = new Witness(spec);
    this.overlap = new OverlapWatch(this);
    this.faults = weather;
    this.journal = new JournalStore(this.applicationId);
    this.yarn = new Yarn(this.clock, random, options.nodes, options.nodeCapacityMiB);
    this.yarn.surplusChance = weather.surplus;
    this.yarn.completionDelayMs = weather.completionDelayMs;
    this.yarn.onComplete = (container) => {
      // What YARN counts as over runs on where its node cannot be told.
      if (obeysYarn(container.node)) {
        this.executors.get(container.given.containerId)?.die();
      }
    };
    for (const node of this.yarn.nodes) {
      node.skewMs = weather.skewMs === 0 ? 0 : random.integer(-weather.skewMs, weather.skewMs);
    }
    this.resourceManager = new ApplicationService(this.yarn);
    this.nodeManagers = new NodeService({
      clock: this.clock,
      random,
      yarn: this.yarn,
      refusals: weather.launchFailures,
      losesAnswer: (call) => this.losesAnswer(call),
      run: (container, { environment }) => this.#run(container, environment),
      vacate: ({ given }) => this.executors.get(given.containerId)?.die(),
      failed: ({ node }) => this.witness.incident(node.host),
    });
    this.#startedAtMs = this.clock.nowMs;
    this.master = this.#newMaster();
    this.#invariants = createInvariants(this.spec);
  }

  start(): void {
    this.clock.after(10, () => this.master.start());
  }

  get core(): Core {
    return this.master.core;
  }

  get isDoubled(): boolean {
    return this.#options.doubled === true;
  }

  get isFenced(): boolean {
    return this.#options.fenced !== false;
  }

  get executorsSuspend(): boolean {
    return this.#options.executorFault !== "suspend nothing";
  }

  get executorsRead(): boolean {
    return this.#options.executorFault !== "do not read the journal";
  }

  get isOver(): boolean {
    return this.exited || this.problems.length > 0;
  }

  /** Runs until the ApplicationMaster has ended, nothing happens any more, or the time is up. */
  async run(limitMs: number): Promise<void> {
    const endMs = this.clock.nowMs + limitMs;
    while (!this.isOver && this.clock.nowMs < endMs && this.clock.advance()) {
      while (this.#isSettling) {
        this.#isSettling = false;
        for (let turn = 0; turn < TURNS; turn++) {
          await undefined;
        }
      }
    }
  }

  /** A promise was settled: what waits for it is to run before the time goes on. */
  settled(): void {
    this.#isSettling = true;
  }

  nextPort(): number {
    this.#port += 2;
    return this.#port;
  }

  programOf(task: string): Program {
    return this.#options.programs(task);
  }

  trace(line: string | (() => string)): void {
    const time = () => String((this.clock.nowMs - this.#startedAtMs) / 1000).padStart(9);
    this.#options.trace?.(`${time()} ${typeof line === "string" ? line : line()}`);
  }

  losesAnswer(call: Call): boolean {
    const { lostNodeAnswers, lostAnswers } = this.faults;
    const chance = call === "start" || call === "restart" || call === "stop" ? lostNodeAnswers : lostAnswers;
    return chance > 0 && this.random.chance(chance);
  }

  /** To the present attempt; to nobody while there is none. */
  deliver(event: Event): void {
    this.master.deliver(event);
  }

  /** What a core makes of an event. The world after a replaced attempt's deeds is judged, not that attempt. */
  decide(master: Master, event: Event, nowMs: number): readonly Effect[] {
    const { core, isPresent } = master;
    if (this.isOver) {
      return [];
    }
    this.steps++;
    this.trace(() => `» ${describe(event)}`);
    if (isPresent) {
      this.#heard(event);
    }
    if (event.type === "containers-allocated") {
      this.yarn.delivered(event.containers);
    }
    const effects = core.step(event, nowMs);
    if (!isPresent) {
      return effects;
    }
    const changed = this.#options.mutation?.(effects, core, event) ?? effects;
    this.#noteReleases(changed);
    const concernsContainers = event.type === "containers-allocated" || event.type === "recovered";
    this.problems.push(
      ...this.#invariants.check(core.state, changed),
      ...checkDurability(this.journal, changed),
      ...(concernsContainers ? checkContainers(this) : []),
      ...this.#waits.check(master, nowMs),
    );
    return changed;
  }

  /** The present attempt reads something. */
  #heard(event: Event): void {
    const isRegistration = event.type === "executor-registered" || event.type === "executor-rejoined";
    if (this.core.state.outcome !== undefined) {
      return;
    }
    if (event.type === "child-exited" || (isRegistration && event.child.state === "exited")) {
      this.witness.told(event, this.clock.nowMs);
    }
  }

  #noteReleases(effects: readonly Effect[]): void {
    for (const effect of effects) {
      for (const id of effect.type === "release" ? effect.containerIds : []) {
        const container = this.yarn.containers.get(id);
        if (container !== undefined) {
          container.surrendered = true;
        }
      }
    }
  }

  /** What the next attempt reads. */
  readJournal(): unknown {
    const journal = this.journal.read();
    if (isSnapshot(journal, this.applicationId)) {
      const held = Object.values(journal.containers).filter(({ phase }) => phase === "held" || phase === "terminating");
      this.lostWords += held.filter(({ id }) => this.yarn.settled.has(id)).length;
    }
    if (journal === undefined) {
      this.#invariants = createInvariants(this.spec);
    }
    return journal;
  }

  /** The job's end is being told to YARN. */
  ends({ isPresent }: Master, outcome: JobOutcome): void {
    if (isPresent) {
      this.outcome = outcome;
      this.problems.push(...checkContainers(this));
    }
  }

  /** An attempt's process has ended by itself. */
  masterExited(master: Master, cleanStaging: boolean): void {
    if (cleanStaging && !this.resourceManager.hasEnd) {
      this.problems.push("the staging folder is removed before the ResourceManager has taken the end");
    }
    if (!master.isPresent) {
      return;
    }
    if (this.yarn.finished) {
      this.exited = true;
    } else {
      this.surrenders++;
      this.#masterEnded();
    }
  }

  /** The ApplicationMaster dies; YARN starts another attempt some seconds later and keeps the containers that run. */
  crash(): void {
    const { master } = this;
    if (this.#isPastEnd || !master.process.alive || !master.isPresent) {
      return;
    }
    this.trace("! ApplicationMaster dies");
    master.process.kill();
    this.#masterEnded();
  }

  #masterEnded(): void {
    for (const executor of this.executors.values()) {
      executor.masterIsGone();
    }
    this.#replace(this.random.integer(1_000, 10_000));
  }

  /** It stops for longer than YARN waits, and goes on beside the attempt that was started instead. */
  pauseBeyondExpiry(): void {
    const { master } = this;
    const expiryMs = this.random.integer(10_000, 15_000);
    master.pause(expiryMs + this.random.integer(0, 20_000), this.random.integer(0, 30_000));
    this.clock.after(expiryMs, () => {
      if (this.#isPastEnd || !master.process.alive || !master.isPresent) {
        return;
      }
      for (const executor of this.executors.values()) {
        executor.connect(this.random.integer(2_000, 30_000));
      }
      this.#replace(this.random.integer(500, 2_000));
    });
  }

  get #isPastEnd(): boolean {
    return this.exited || this.yarn.finished;
  }

  #replace(delayMs: number): void {
    if (this.resourceManager.attempt >= this.#options.attempts) {
      this.trace("! YARN ends the application: its attempts are used up");
      this.givenUp = true;
      this.exited = true;
      this.yarn.finishApplication();
      return;
    }
    this.resourceManager.nextAttempt();
    this.clock.after(delayMs, () => {
      this.master = this.#newMaster();
      this.master.start();
    });
  }

  #newMaster(): Master {
    const { skewMs } = this.faults;
    const { attempt } = this.resourceManager;
    return new Master(this, attempt, skewMs === 0 ? 0 : this.random.integer(-skewMs, skewMs));
  }

  #run(container: ModelContainer, { TASK = "", GENERATION = "" }: Readonly<Record<string, string>>): void {
    const executor = new ExecutorModel(this, TASK, container, Number(GENERATION));
    this.executors.set(executor.containerId, executor);
  }

  containerExited(container: ModelContainer, exitStatus: number): void {
    this.clock.after(this.random.integer(5, 50), () => this.yarn.complete(container.given.containerId, exitStatus, ""));
  }

  programStarted(executor: ExecutorModel): void {
    this.trace(`  program of ${executor.task} generation ${executor.generation} starts in ${executor.containerId}`);
    this.starts.set(executor.task, (this.starts.get(executor.task) ?? 0) + 1);
    this.witness.started(executor);
    this.overlap.started(executor);
    if (this.witness.startsOf(executor) > 1) {
      this.problems.push(`${executor.task} runs twice in generation ${executor.generation}`);
    }
  }

  /** Its executor reaches nobody. */
  suspended(executor: ExecutorModel): void {
    this.trace(`  program of ${executor.task} in ${executor.containerId} is suspended`);
    this.suspensions++;
  }

  resumed(executor: ExecutorModel): void {
    this.trace(`  program of ${executor.task} in ${executor.containerId} goes on`);
    this.overlap.runs(executor);
  }

  /** Peers of a gang's task that ended badly lose their connections to it. */
  programEnded(executor: ExecutorModel, exit: ChildExit): void {
    const what = exit.signal === "" ? `exit ${exit.exitCode}` : exit.signal;
    this.trace(`  program of ${executor.task} generation ${executor.generation} ends: ${what}`);
    const ranTooLong = exit.stopReason?.code === "ran-too-long";
    this.overTime += Number(ranTooLong);
    this.witness.ended(executor, exit, this.clock.nowMs);
    if (isProgramsFault(exit) || ranTooLong) {
      this.programsFault(executor, true);
    }
    if ((exit.exitCode !== 0 || exit.signal !== "") && exit.stopReason === undefined) {
      this.peersLose(executor);
    }
  }

  /** Something that its program is to pay for. */
  programsFault(executor: ExecutorModel, ran: boolean, isCertain = ran): void {
    const { task, generation } = executor;
    this.witness.programCause({ task, generation, isMember: isInGang(this, executor), isCertain }, ran);
  }

  /** @param how where the executor lives on, nothing tells such a failure of its peers from one of their own */
  peersLose(executor: ExecutorModel, how?: "severed"): void {
    if (!isInGang(this, executor)) {
      return;
    }
    for (const peer of this.executors.values()) {
      if (peer !== executor && peer.generation === executor.generation && this.random.chance(0.6)) {
        if (isInGang(this, peer)) {
          const generation = peer.generation;
          this.clock.after(this.random.integer(10, 800), () => {
            if (peer.generation === generation) {
              if (how === "severed" && peer.child.state === "running") {
                this.programsFault(peer, true, false);
              }
              peer.endChild({ exitCode: 1, peerConnectionLost: true, errorSummary: "Connection closed by peer" });
            }
          });
        }
      }
    }
  }
}

const MACHINE_SIGNALS: readonly string[] = ["SIGBUS", "SIGILL"];

/** It ended badly by itself, or was ended because it hung. */
function isProgramsFault(exit: ChildExit): boolean {
  const failed = exit.exitCode !== 0 || (exit.signal !== "" && !MACHINE_SIGNALS.includes(exit.signal));
  return exit.stopReason?.code === "hung" || (failed && exit.stopReason === undefined && !exit.peerConnectionLost);
}

function describe(event: Event): string {
  return JSON.stringify(event, (key, value: unknown) =>
    key === "exit" || key === "nodes" || key === "journal" ? "…" : value,
  );
}
