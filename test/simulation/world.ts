import { type Core, createCore } from "../../am/core/core.ts";
import type { Effect, ExecutorCommand } from "../../am/core/effects.ts";
import type { ChildExit, Event } from "../../am/core/events.ts";
import { createInvariants, type Invariants } from "../../am/core/invariants.ts";
import { createLiveness, type Liveness } from "../../am/core/liveness.ts";
import { parseContainerDiagnostics } from "../../src/job/container-diagnostics.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { Clock } from "./clock.ts";
import { ExecutorModel, type Program } from "./executor-model.ts";
import type { Random } from "./random.ts";
import { type ModelContainer, Yarn } from "./yarn.ts";

/** How unkind the world is, beyond the faults that happen once. */
export interface Weather {
  /** Chance that a message comes twice, much later the second time. */
  readonly duplicates: number;
  readonly surplus: number;
  readonly launchFailures: number;
  readonly completionDelayMs: number;
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
}

/** Everything around the core: a cluster, a network, executors with their programs, and the shell that carries out effects. */
export class World {
  readonly clock = new Clock();
  readonly random: Random;
  readonly spec: JobSpec;
  readonly yarn: Yarn;
  readonly faults: Weather;
  readonly executors = new Map<string, ExecutorModel>();
  readonly problems: string[] = [];
  /** How often each task's program was started. */
  readonly starts = new Map<string, number>();
  attempt = 1;
  core: Core;
  /** Nothing passes between the ApplicationMaster and executors. */
  networkCut = false;
  journalDown = false;
  /** The journal is kept only where it may be read. */
  mayCrash = false;
  outcome: JobOutcome | undefined;
  exited = false;
  steps = 0;
  acceptsStreams = true;
  readonly #options: WorldOptions;
  readonly #startedAtMs: number;
  #liveness: Liveness;
  #invariants: Invariants;
  #timers = new Map<string, number>();
  #timerCount = 0;
  #released: string[] = [];
  #pausedUntilMs = 0;
  #port = 20_000;
  #journal: string | undefined;
  #askAtMs = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.random = options.random;
    this.spec = options.spec;
    this.faults = options.weather;
    this.yarn = new Yarn(this.clock, options.random, options.nodes, options.nodeCapacityMiB);
    this.yarn.surplusChance = options.weather.surplus;
    this.yarn.completionDelayMs = options.weather.completionDelayMs;
    this.yarn.onComplete = (container) => this.executors.get(container.given.containerId)?.die();
    this.#startedAtMs = this.clock.nowMs;
    this.core = this.#newCore();
    this.#liveness = createLiveness(this.spec.timeouts);
    this.#invariants = createInvariants(this.spec);
  }

  start(): void {
    this.clock.after(10, () => {
      this.deliver({ type: "nodes-changed", nodes: this.yarn.views() });
      this.#register();
      this.#heartbeat(this.attempt);
      this.#tick(this.attempt);
    });
  }

  /** Runs until the ApplicationMaster has ended, nothing happens any more, or the time is up. */
  run(limitMs: number): void {
    const endMs = this.clock.nowMs + limitMs;
    while (!this.exited && this.problems.length === 0 && this.clock.nowMs < endMs && this.clock.advance()) {}
  }

  nextPort(): number {
    this.#port += 2;
    return this.#port;
  }

  programOf(task: string): Program {
    return this.#options.programs(task);
  }

  trace(line: string): void {
    this.#options.trace?.(`${String((this.clock.nowMs - this.#startedAtMs) / 1000).padStart(9)} ${line}`);
  }

  /** What comes over the executors' streams; lost while the network is cut. */
  fromNetwork(event: Event): void {
    if (!this.networkCut && this.acceptsStreams) {
      if ("containerId" in event && event.type !== "executor-lost") {
        const executor = this.executors.get(event.containerId);
        if (executor !== undefined) {
          this.heard(executor);
        }
      }
      this.deliver(event);
    }
  }

  heard(executor: ExecutorModel): void {
    if (this.networkCut || this.#isPaused()) {
      return;
    }
    for (const event of this.#liveness.heard(executor.task, executor.containerId, this.clock.nowMs)) {
      this.deliver(event);
    }
  }

  /** The mailbox of the shell: one event at a time; a paused ApplicationMaster finds them when it wakes. */
  deliver(event: Event): void {
    if (this.exited || this.problems.length > 0 || !this.acceptsStreams) {
      return;
    }
    if (this.#isPaused()) {
      this.clock.after(this.#pausedUntilMs - this.clock.nowMs, () => this.deliver(event));
      return;
    }
    if (this.#options.trace !== undefined) {
      this.trace(`» ${describe(event)}`);
    }
    this.steps++;
    let effects = this.core.step(event, this.clock.nowMs);
    if (this.#options.mutation !== undefined) {
      effects = this.#options.mutation(effects, this.core, event);
    }
    for (const problem of this.#invariants.check(this.core.state, effects)) {
      this.problems.push(problem);
    }
    for (const effect of effects) {
      this.#carryOut(effect);
    }
  }

  /** The ApplicationMaster stops for a while, as under SIGSTOP. */
  pause(durationMs: number): void {
    this.trace(`! ApplicationMaster paused for ${durationMs / 1000} s`);
    this.#pausedUntilMs = this.clock.nowMs + durationMs;
  }

  /** The ApplicationMaster dies; YARN starts another attempt some seconds later and keeps the containers that run. */
  crash(): void {
    if (this.exited || this.yarn.finished || !this.acceptsStreams) {
      return;
    }
    this.trace("! ApplicationMaster dies");
    this.attempt++;
    this.#timers.clear();
    this.#released = [];
    this.#pausedUntilMs = 0;
    this.acceptsStreams = false;
    this.yarn.forgetAsks();
    for (const executor of this.executors.values()) {
      executor.masterIsGone();
    }
    for (const [id, container] of this.yarn.containers) {
      if (container.state === "allocated" || container.state === "delivered") {
        this.yarn.complete(id, -100, "Container released by the ResourceManager");
      }
    }
    this.yarn.allocated = [];
    this.clock.after(this.random.integer(1_000, 10_000), () => this.#recover());
  }

  #recover(): void {
    const journal: unknown = this.#journal === undefined ? undefined : JSON.parse(this.#journal);
    this.core = this.#newCore();
    this.#liveness = createLiveness(this.spec.timeouts);
    if (journal === undefined) {
      this.#invariants = createInvariants(this.spec);
    }
    this.acceptsStreams = true;
    const kept = [...this.yarn.containers.values()].filter(({ state }) => state === "running");
    this.deliver({ type: "nodes-changed", nodes: this.yarn.views() });
    this.#register();
    this.deliver({ type: "recovered", journal, keptContainers: kept.map(({ given }) => given) });
    this.#heartbeat(this.attempt);
    this.#tick(this.attempt);
  }

  #register(): void {
    this.deliver({
      type: "am-registered",
      attempt: this.attempt,
      maximum: { memoryMiB: 1 << 20, vcores: 128, others: {} },
      resourceTypes: [],
    });
  }

  containerExited(container: ModelContainer, exitStatus: number): void {
    this.clock.after(this.random.integer(5, 50), () => this.yarn.complete(container.given.containerId, exitStatus, ""));
  }

  programStarted(executor: ExecutorModel): void {
    this.trace(`  program of ${executor.task} generation ${executor.generation} starts in ${executor.containerId}`);
    this.starts.set(executor.task, (this.starts.get(executor.task) ?? 0) + 1);
    for (const other of this.executors.values()) {
      if (other !== executor && other.alive && other.task === executor.task && other.child.state === "running") {
        if (other.generation === executor.generation) {
          this.problems.push(`two programs of ${executor.task} run in generation ${executor.generation}`);
        }
      }
    }
  }

  /** Peers of a gang's task that ended badly lose their connections to it. */
  programEnded(executor: ExecutorModel, exit: ChildExit): void {
    const what = exit.signal === "" ? `exit ${exit.exitCode}` : exit.signal;
    this.trace(`  program of ${executor.task} generation ${executor.generation} ends: ${what}`);
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

  #isInGang(executor: ExecutorModel): boolean {
    const role = this.spec.roles.find(({ name }) => executor.task.startsWith(`${name}:`));
    return role?.restartPolicy === "gang" && role.tracking !== "sidecar" && this.spec.distributedMode === "gang";
  }

  #newCore(): Core {
    return createCore(this.spec, {
      applicationId: "application_1_0001",
      attempt: this.attempt,
      amHost: "node0",
      amContainerId: "container_1_0001_01_000000",
      startedAtMs: this.clock.nowMs,
      nodeHeartbeatMs: 1_000,
    });
  }

  #isPaused(): boolean {
    return this.clock.nowMs < this.#pausedUntilMs;
  }

  #carryOut(effect: Effect): void {
    const { clock, random } = this;
    switch (effect.type) {
      case "ask":
        this.#askAtMs = Math.max(this.#askAtMs, clock.nowMs + random.integer(1, 250));
        clock.after(this.#askAtMs - clock.nowMs, () => this.yarn.ask(effect.asks));
        break;
      case "release":
        effect.containerIds.forEach(this.#liveness.forget);
        this.#released.push(...effect.containerIds);
        for (const id of effect.containerIds) {
          const container = this.yarn.containers.get(id);
          if (container !== undefined) {
            container.surrendered = true;
          }
        }
        break;
      case "blacklist":
        this.yarn.avoid(effect.hosts);
        break;
      case "launch":
        for (const launch of effect.launches) {
          this.#launch(launch.containerId, launch.task, launch.generation);
        }
        break;
      case "stop-container":
        clock.after(random.integer(5, 300), () => {
          if (!this.networkCut) {
            this.yarn.complete(effect.containerId, -105, "Container killed by the ApplicationMaster.");
          }
        });
        break;
      case "send":
        this.#send(effect.to.containerId, effect.message);
        break;
      case "set-timer":
        this.#setTimer(effect.name, effect.delayMs);
        break;
      case "clear-timer":
        this.#timers.delete(effect.name);
        break;
      case "journal":
        this.#write(effect.sequence, effect.snapshot);
        break;
      case "unregister":
        this.outcome = effect.outcome;
        this.#checkContainers();
        this.#unregister(this.attempt);
        break;
      case "exit":
        this.exited = true;
        break;
      case "log":
        this.trace(`  ${effect.level} ${effect.event}: ${effect.message}`);
        break;
      case "rejoin":
        for (const { containerId } of effect.executors) {
          this.executors.get(containerId)?.connect(random.integer(5, 1_000));
        }
        break;
      case "record":
      case "publish-status":
        break;
    }
  }

  #unregister(attempt: number): void {
    this.clock.after(this.random.integer(10, 500), () => {
      if (attempt === this.attempt) {
        this.yarn.finishApplication();
        this.deliver({ type: "unregistered" });
      }
    });
  }

  #launch(containerId: string, task: string, generation: number): void {
    const { clock, random } = this;
    const container = this.yarn.containers.get(containerId);
    if (container === undefined) {
      this.problems.push(`launch of ${containerId}, which YARN never gave`);
      return;
    }
    clock.after(random.integer(5, 150), () => {
      if (container.state === "complete" || random.chance(this.faults.launchFailures)) {
        this.deliver({ type: "launch-failed", containerId, message: "connection refused", nodeAtFault: true });
        return;
      }
      container.state = "running";
      this.deliver({ type: "launch-succeeded", containerId });
      clock.after(random.integer(100, 2_000), () => {
        if (container.state === "running") {
          this.executors.set(containerId, new ExecutorModel(this, task, container, generation));
        }
      });
    });
  }

  /** Order within a stream is kept; a message to a broken one is lost. */
  #send(containerId: string, message: ExecutorCommand): void {
    const executor = this.executors.get(containerId);
    if (executor === undefined || !executor.connected || this.networkCut) {
      return;
    }
    executor.arrive(message);
  }

  #setTimer(name: string, delayMs: number): void {
    const version = ++this.#timerCount;
    const { attempt } = this;
    this.#timers.set(name, version);
    this.clock.after(delayMs, () => {
      if (this.#timers.get(name) === version && attempt === this.attempt) {
        this.#timers.delete(name);
        this.deliver({ type: "timer-fired", name });
      }
    });
  }

  #write(sequence: number, snapshot: unknown): void {
    const { attempt } = this;
    this.clock.after(this.random.integer(5, 150), () => {
      if (attempt !== this.attempt) {
        return;
      }
      if (this.journalDown) {
        this.deliver({ type: "journal-failed", sequence, message: "NameNode in safe mode" });
        return;
      }
      this.#journal = this.mayCrash ? JSON.stringify(snapshot) : undefined;
      this.deliver({ type: "journal-written", sequence });
    });
  }

  /** The allocate call. */
  #heartbeat(attempt: number): void {
    if (attempt !== this.attempt || this.exited || this.yarn.finished) {
      return;
    }
    const delayMs = this.yarn.isAsked ? 250 : 1_000;
    this.clock.after(delayMs, () => this.#heartbeat(attempt));
    if (this.#isPaused()) {
      return;
    }
    for (const id of this.#released.splice(0)) {
      this.yarn.release(id);
    }
    const completed = this.yarn.completed.splice(0);
    const allocated = this.yarn.allocated.splice(0);
    for (const { containerId } of allocated) {
      const container = this.yarn.containers.get(containerId);
      if (container?.state === "allocated") {
        container.state = "delivered";
      }
    }
    if (allocated.length > 0) {
      this.deliver({ type: "containers-allocated", containers: allocated });
      if (this.random.chance(this.faults.duplicates)) {
        this.clock.after(this.random.integer(10, 2_000), () =>
          this.deliver({ type: "containers-allocated", containers: allocated }),
        );
      }
    }
    for (const one of completed) {
      this.#liveness.forget(one.containerId);
      this.deliver({ type: "container-completed", ...one, diagnostics: parseContainerDiagnostics(one.diagnostics) });
    }
  }

  #tick(attempt: number): void {
    if (attempt !== this.attempt || this.exited) {
      return;
    }
    this.clock.after(1_000, () => this.#tick(attempt));
    if (!this.#isPaused()) {
      for (const event of this.#liveness.tick(this.clock.nowMs)) {
        this.deliver(event);
      }
    }
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

function describe(event: Event): string {
  return JSON.stringify(event, (key, value: unknown) =>
    key === "exit" || key === "nodes" || key === "journal" ? "…" : value,
  );
}
