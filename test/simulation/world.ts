import type { Core } from "../../am/core/core.ts";
import { timeLimitReason } from "../../am/core/failures/endings.ts";
import { createInvariants, type Invariants } from "../../am/core/invariants.ts";
import { isSnapshot, type Snapshot } from "../../am/core/journal/journal.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import type { ChildExit, Event } from "../../am/core/state/events.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { Clock } from "./clock.ts";
import type { ExecutorModel, Hang, Program } from "./executor-model.ts";
import { Master } from "./master.ts";
import type { Random } from "./random.ts";
import { Witness } from "./witness.ts";
import { type ModelContainer, type ModelNode, Yarn } from "./yarn.ts";

/** How unkind the world is, beyond the faults that happen once. */
export interface Weather {
  /** Chance that a message comes twice, much later the second time. */
  readonly duplicates: number;
  readonly surplus: number;
  readonly launchFailures: number;
  readonly completionDelayMs: number;
  /** Chance that a container runs although the answer to its start was lost. */
  readonly lostLaunchAnswers: number;
  /** Chance that a program which is told to stop exits 0. */
  readonly goodStops: number;
}

/** A changed core, to prove that its fault is noticed. */
export type Mutation = (effects: Effect[], core: Core, event: Event) => Effect[];

export interface WorldOptions {
  readonly spec: JobSpec;
  readonly random: Random;
  readonly nodes: number;
  readonly nodeCapacityMiB: number;
  readonly weather: Weather;
  readonly programs: (task: string) => Program;
  readonly trace?: (line: string) => void;
  readonly mutation?: Mutation;
  /** Default true; false plants the fault that an attempt acts without asking whether it was replaced while it stood still. */
  readonly fenced?: boolean;
}

/** Everything around the core: a cluster, a network, executors with their programs, and one attempt of the ApplicationMaster after another. */
export class World {
  readonly clock = new Clock();
  readonly random: Random;
  readonly spec: JobSpec;
  readonly yarn: Yarn;
  readonly faults: Weather;
  readonly executors = new Map<string, ExecutorModel>();
  readonly problems: string[] = [];
  readonly witness: Witness;
  /** How often each task's program was started. */
  readonly starts = new Map<string, number>();
  readonly hangs: Hang[] = [];
  /** Programs that were stopped for the time they took. */
  overTime = 0;
  /** What YARN said of containers that the journal takes for the job's still: nobody says it again to the next attempt. */
  lostWords = 0;
  /** The number of the attempt that YARN has, or is about to start. */
  attempt = 1;
  /** The last one that was started. */
  master: Master;
  journalDown = false;
  /** The journal is kept only where it may be read. */
  mayCrash = false;
  outcome: JobOutcome | undefined;
  exited = false;
  steps = 0;
  readonly #options: WorldOptions;
  readonly #startedAtMs: number;
  #invariants: Invariants;
  #port = 20_000;
  #journal: string | undefined;
  #stored: Pick<Snapshot, "lastGeneration" | "outcome"> = { lastGeneration: 0, outcome: undefined };

  constructor(options: WorldOptions) {
    this.#options = options;
    this.random = options.random;
    this.spec = options.spec;
    this.witness = new Witness(options.spec);
    this.faults = options.weather;
    this.yarn = new Yarn(this.clock, options.random, options.nodes, options.nodeCapacityMiB);
    this.yarn.surplusChance = options.weather.surplus;
    this.yarn.completionDelayMs = options.weather.completionDelayMs;
    this.yarn.onComplete = (container) => {
      // What YARN counts as over runs on where its node cannot be told.
      if (container.node.cut !== "whole") {
        this.executors.get(container.given.containerId)?.die();
      }
    };
    this.#startedAtMs = this.clock.nowMs;
    this.master = new Master(this, this.attempt);
    this.#invariants = createInvariants(this.spec);
  }

  start(): void {
    this.clock.after(10, () => this.master.start());
  }

  get core(): Core {
    return this.master.core;
  }

  get isFenced(): boolean {
    return this.#options.fenced !== false;
  }

  get isOver(): boolean {
    return this.exited || this.problems.length > 0;
  }

  /** Runs until the ApplicationMaster has ended, nothing happens any more, or the time is up. */
  run(limitMs: number): void {
    const endMs = this.clock.nowMs + limitMs;
    while (!this.isOver && this.clock.nowMs < endMs && this.clock.advance()) {}
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

  /** To the present attempt; to nobody while there is none. */
  deliver(event: Event): void {
    this.master.deliver(event);
  }

  /** The present attempt reads something. */
  heard(event: Event): void {
    if (this.core.state.outcome !== undefined) {
      return;
    }
    const isExit = event.type === "child-exited";
    const isRegistration = event.type === "executor-registered" || event.type === "executor-reattached";
    if (isExit || (isRegistration && event.child.state === "exited")) {
      this.witness.told(event, this.clock.nowMs);
    }
  }

  /** What a core makes of an event. The world after a replaced attempt's deeds is judged, not that attempt. */
  decide({ core, isPresent }: Master, event: Event): readonly Effect[] {
    this.steps++;
    const effects = core.step(event, this.clock.nowMs);
    if (!isPresent) {
      return effects;
    }
    const changed = this.#options.mutation?.(effects, core, event) ?? effects;
    this.problems.push(...this.#invariants.check(core.state, changed), ...this.#checkDurability(changed));
    return changed;
  }

  /** What a later attempt would read. */
  keepJournal(snapshot: unknown): void {
    this.#journal = this.mayCrash ? JSON.stringify(snapshot) : undefined;
    if (isSnapshot(snapshot, this.core.state.applicationId)) {
      this.#stored = { lastGeneration: snapshot.lastGeneration, outcome: snapshot.outcome };
    }
  }

  /** Nothing that must be known to a later attempt is done before the journal holds it, whatever the core believes of its journal. */
  #checkDurability(effects: readonly Effect[]): string[] {
    return effects.flatMap((effect) => {
      if (effect.type !== "send" || (effect.message.type !== "prepare" && effect.message.type !== "start-child")) {
        return [];
      }
      const { type, generation } = effect.message;
      return generation > this.#stored.lastGeneration
        ? [
            `${effect.to.task} is told to ${type} in generation ${generation}, the journal holds ${this.#stored.lastGeneration}`,
          ]
        : [];
    });
  }

  /** The job's end is being told to YARN. */
  ends({ isPresent }: Master, outcome: JobOutcome): void {
    if (isPresent) {
      this.outcome = outcome;
      this.#checkContainers();
    }
  }

  /** The ApplicationMaster dies; YARN starts another attempt some seconds later and keeps the containers that run. */
  crash(): void {
    const { master } = this;
    if (this.exited || this.yarn.finished || !master.alive || !master.isPresent) {
      return;
    }
    this.trace("! ApplicationMaster dies");
    master.alive = false;
    for (const executor of this.executors.values()) {
      executor.masterIsGone();
    }
    this.#replace(this.random.integer(1_000, 10_000));
  }

  /** A node's network is cut, whole or from the ApplicationMaster only, and joined again. */
  cut(node: ModelNode, how: "whole" | "from the ApplicationMaster", durationMs: number): void {
    node.cut = how;
    const there = () => [...this.executors.values()].filter(({ container, alive }) => alive && container.node === node);
    this.witness.incident(node.host);
    for (const executor of there()) {
      executor.wasCut = true;
      // Nobody says that the connection is gone: peers find out by waiting.
      this.clock.after(this.random.integer(10_000, 60_000), () => {
        if (node.cut !== undefined && executor.child.state === "running") {
          this.peersLose(executor);
        }
      });
      if (this.random.chance(0.5)) {
        this.clock.after(this.random.integer(0, 10_000), () => executor.breakLink(1_000));
      }
    }
    const expiryMs = this.random.integer(10_000, 60_000);
    if (how === "whole" && expiryMs < durationMs) {
      this.clock.after(expiryMs, () => this.yarn.loseNode(node));
    }
    this.clock.after(durationMs, () => {
      node.cut = undefined;
      node.alive = true;
      for (const executor of there()) {
        if (executor.container.state === "complete") {
          executor.die();
        } else {
          executor.breakLink(this.random.integer(1, 5_000));
        }
      }
    });
  }

  /** It stops for longer than YARN waits, and goes on beside the attempt that was started instead. */
  pauseBeyondExpiry(): void {
    const { master } = this;
    const expiryMs = this.random.integer(10_000, 15_000);
    master.pause(expiryMs + this.random.integer(0, 20_000), this.random.integer(0, 30_000));
    this.clock.after(expiryMs, () => {
      if (this.exited || this.yarn.finished || !master.alive || !master.isPresent) {
        return;
      }
      for (const executor of this.executors.values()) {
        executor.connect(this.random.integer(2_000, 30_000));
      }
      this.#replace(this.random.integer(500, 2_000));
    });
  }

  /** Only what runs is kept for the next attempt (AbstractYarnScheduler: RMContainerState.RUNNING). */
  #replace(delayMs: number): void {
    this.attempt++;
    this.yarn.newAttempt();
    for (const [id, container] of this.yarn.containers) {
      if (container.state === "allocated" || container.state === "delivered") {
        this.yarn.complete(id, -100, "Container released by the ResourceManager");
      }
    }
    this.yarn.allocated = [];
    this.clock.after(delayMs, () => {
      const journal: unknown = this.#journal === undefined ? undefined : JSON.parse(this.#journal);
      if (isSnapshot(journal, this.core.state.applicationId)) {
        const held = Object.values(journal.containers).filter(({ phase }) => phase === "held" || phase === "leaving");
        this.lostWords += held.filter(({ id }) => this.yarn.settled.has(id)).length;
      }
      if (journal === undefined) {
        this.#invariants = createInvariants(this.spec);
      }
      const kept = [...this.yarn.containers.values()].filter(({ state }) => state === "running");
      this.master = new Master(this, this.attempt);
      this.master.start({ journal, keptContainers: kept.map(({ given }) => given) });
    });
  }

  containerExited(container: ModelContainer, exitStatus: number): void {
    this.clock.after(this.random.integer(5, 50), () => this.yarn.complete(container.given.containerId, exitStatus, ""));
  }

  programStarted(executor: ExecutorModel): void {
    this.trace(`  program of ${executor.task} generation ${executor.generation} starts in ${executor.containerId}`);
    this.starts.set(executor.task, (this.starts.get(executor.task) ?? 0) + 1);
    this.witness.started(executor);
    this.#checkOverlap(executor);
    if (this.witness.startsOf(executor) > 1) {
      this.problems.push(`${executor.task} runs twice in generation ${executor.generation}`);
    }
  }

  /** Peers of a gang's task that ended badly lose their connections to it. */
  programEnded(executor: ExecutorModel, exit: ChildExit): void {
    const what = exit.signal === "" ? `exit ${exit.exitCode}` : exit.signal;
    this.trace(`  program of ${executor.task} generation ${executor.generation} ends: ${what}`);
    this.overTime += Number(exit.stopReason === timeLimitReason(this));
    this.witness.ended(executor, exit, this.clock.nowMs);
    if ((exit.exitCode !== 0 || exit.signal !== "") && exit.stopReason === "") {
      this.peersLose(executor);
    }
  }

  peersLose(executor: ExecutorModel): void {
    if (!this.#isInGang(executor)) {
      return;
    }
    for (const peer of this.executors.values()) {
      if (peer !== executor && peer.generation === executor.generation && this.random.chance(0.6)) {
        if (this.#isInGang(peer)) {
          const generation = peer.generation;
          this.clock.after(this.random.integer(10, 800), () => {
            if (peer.generation === generation) {
              peer.endChild({ exitCode: 1, peerConnectionLost: true, errorSummary: "Connection closed by peer" });
            }
          });
        }
      }
    }
  }

  /** Programs of two generations of the gang never run side by side. */
  #checkOverlap(executor: ExecutorModel): void {
    if (!this.#isInGang(executor)) {
      return;
    }
    for (const other of this.executors.values()) {
      if (
        other.alive &&
        !other.wasCut &&
        other.child.state === "running" &&
        other.generation < executor.generation &&
        this.#isInGang(other)
      ) {
        this.problems.push(
          `${executor.task} starts in generation ${executor.generation}, ${other.task} still runs in ${other.generation}`,
        );
      }
    }
  }

  #isInGang(executor: ExecutorModel): boolean {
    const role = this.spec.roles.find(({ name }) => executor.task.startsWith(`${name}:`));
    return role?.restartPolicy === "gang" && role.tracking !== "sidecar" && this.spec.distributedMode === "gang";
  }

  /** What YARN has given to the ApplicationMaster is either in its books or given back. */
  #checkContainers(): void {
    for (const [id, { state, surrendered }] of this.yarn.containers) {
      if (
        (state === "delivered" || state === "running") &&
        !surrendered &&
        this.core.state.containers[id] === undefined
      ) {
        this.problems.push(`container ${id} is leaked: YARN has it, the core knows nothing of it`);
      }
    }
  }
}
