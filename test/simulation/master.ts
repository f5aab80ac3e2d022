import { type Core, createCore } from "../../am/core/core.ts";
import { createLiveness, type Liveness } from "../../am/core/executors/liveness.ts";
import type { Effect, ExecutorCommand } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";
import { parseContainerDiagnostics } from "../../src/job/container-diagnostics.ts";
import { ExecutorModel } from "./executor-model.ts";
import type { World } from "./world.ts";

/** After a longer gap between its own signs of life the shell asks the ResourceManager first; see am/mailbox.ts. */
const LONGEST_GAP_MS = 5_000;

/** One attempt of the ApplicationMaster: the core, and a model of the shell that carries out what it decides. */
export class Master {
  readonly attempt: number;
  readonly core: Core;
  /** Its process is there, though perhaps stopped. */
  alive = true;
  readonly #world: World;
  readonly #liveness: Liveness;
  readonly #timers = new Map<string, number>();
  #timerCount = 0;
  #released: string[] = [];
  #askAtMs = 0;
  #pausedUntilMs = 0;
  /** What waits to be read, oldest first; the first is being read. */
  readonly #mailbox: Event[] = [];
  /** The ResourceManager does not answer it before. */
  #answeredAtMs = 0;

  constructor(world: World, attempt: number) {
    this.#world = world;
    this.attempt = attempt;
    this.core = createCore(world.spec, {
      applicationId: "application_1_0001",
      attempt,
      amHost: "node0",
      amContainerId: "container_1_0001_01_000000",
      startedAtMs: world.clock.nowMs,
      nodeHeartbeatMs: 1_000,
    });
    this.#liveness = createLiveness(world.spec.timeouts);
  }

  /** Registers; a later attempt is told what the one before left. */
  start(left?: Omit<Extract<Event, { type: "recovered" }>, "type">): void {
    this.deliver({ type: "nodes-changed", nodes: this.#world.yarn.views() });
    this.deliver({
      type: "am-registered",
      attempt: this.attempt,
      maximum: { memoryMiB: 1 << 20, vcores: 128, others: {} },
      counted: "all",
      resourceTypes: [],
    });
    if (left !== undefined) {
      this.deliver({ type: "recovered", ...left });
    }
    this.#heartbeat();
    this.#tick();
  }

  /**
   * Stops for a while, as under SIGSTOP. When that was long, it does nothing more if it was replaced meanwhile, however long the
   * ResourceManager takes to tell it so.
   */
  pause(durationMs: number, unansweredMs = 0): void {
    this.#world.trace(`! attempt ${this.attempt} is paused for ${durationMs / 1000} s`);
    this.#pausedUntilMs = this.#world.clock.nowMs + durationMs;
    this.#answeredAtMs = this.#pausedUntilMs + unansweredMs;
    if (durationMs > LONGEST_GAP_MS && this.#world.isFenced) {
      this.#world.clock.after(durationMs, () => {
        this.alive &&= this.isPresent;
      });
    }
  }

  /** The mailbox of the shell: one event at a time; a paused ApplicationMaster finds them when it wakes. */
  deliver(event: Event): void {
    const world = this.#world;
    if (world.isOver || !this.alive) {
      return;
    }
    this.#mailbox.push(event);
    if (this.#mailbox.length === 1) {
      this.#read();
    }
  }

  #read(): void {
    const world = this.#world;
    for (let event = this.#mailbox[0]; event !== undefined && !world.isOver && this.alive; event = this.#mailbox[0]) {
      if (this.#isPaused) {
        world.clock.after(this.#pausedUntilMs - world.clock.nowMs, () => this.#read());
        return;
      }
      world.trace(() => `» ${describe(event)}`);
      if (this.isPresent) {
        world.heard(event);
      }
      for (const effect of world.decide(this, event)) {
        this.#carryOut(effect);
      }
      this.#mailbox.shift();
    }
  }

  /** What comes over an executor's stream to this attempt. */
  fromNetwork(event: Event): void {
    if ("containerId" in event && event.type !== "executor-lost") {
      const executor = this.#world.executors.get(event.containerId);
      if (executor !== undefined) {
        this.heard(executor);
      }
    }
    this.deliver(event);
  }

  heard(executor: ExecutorModel): void {
    if (this.#isPaused || !this.alive) {
      return;
    }
    for (const event of this.#liveness.heard(executor.task, executor.containerId, this.#world.clock.nowMs)) {
      this.deliver(event);
    }
  }

  /** YARN has not started another attempt since. */
  get isPresent(): boolean {
    return this.#world.attempt === this.attempt;
  }

  get #isPaused(): boolean {
    return this.#world.clock.nowMs < this.#pausedUntilMs;
  }

  #carryOut(effect: Effect): void {
    const { clock, random, yarn, executors } = this.#world;
    switch (effect.type) {
      case "ask":
        this.#askAtMs = Math.max(this.#askAtMs, clock.nowMs + random.integer(1, 250));
        clock.after(this.#askAtMs - clock.nowMs, () => this.isPresent && yarn.ask(effect.asks));
        break;
      case "release":
        effect.containerIds.forEach(this.#liveness.forget);
        this.#released.push(...effect.containerIds);
        for (const id of effect.containerIds) {
          const container = yarn.containers.get(id);
          if (container !== undefined && this.isPresent) {
            container.surrendered = true;
          }
        }
        break;
      case "blacklist":
        yarn.avoid(effect.hosts);
        break;
      case "launch":
        for (const launch of effect.launches) {
          this.#launch(launch.containerId, launch.task, launch.generation);
        }
        break;
      case "stop-container":
        clock.after(random.integer(5, 300), () => {
          if (yarn.containers.get(effect.containerId)?.node.cut === undefined) {
            yarn.complete(effect.containerId, -105, "Container killed by the ApplicationMaster.");
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
        this.#world.ends(this, effect.outcome);
        clock.after(random.integer(10, 500), () => {
          if (this.isPresent) {
            yarn.finishApplication();
            this.deliver({ type: "unregistered" });
          }
        });
        break;
      case "exit":
        this.alive = false;
        this.#world.exited ||= this.isPresent;
        break;
      case "log":
        this.#world.trace(`  ${effect.level} ${effect.event}: ${effect.message}`);
        break;
      case "rejoin":
        for (const { containerId } of effect.executors) {
          executors.get(containerId)?.connect(random.integer(5, 1_000));
        }
        break;
      case "record":
      case "publish-status":
        break;
    }
  }

  #launch(containerId: string, task: string, generation: number): void {
    const { clock, random, yarn, executors, problems, faults } = this.#world;
    const container = yarn.containers.get(containerId);
    if (container === undefined) {
      problems.push(`launch of ${containerId}, which YARN never gave`);
      return;
    }
    clock.after(random.integer(5, 150), () => {
      const unreachable = container.state === "complete" || container.node.cut !== undefined;
      if (unreachable || random.chance(faults.launchFailures)) {
        this.#world.witness.incident(container.node.host);
        this.deliver({ type: "launch-failed", containerId, message: "connection refused", nodeAtFault: true });
        return;
      }
      container.state = "running";
      if (faults.lostLaunchAnswers > 0 && random.chance(faults.lostLaunchAnswers)) {
        this.#world.witness.incident(container.node.host);
        this.deliver({ type: "launch-failed", containerId, message: "no answer", nodeAtFault: true });
      } else {
        this.deliver({ type: "launch-succeeded", containerId });
      }
      clock.after(random.integer(100, 2_000), () => {
        if (container.state === "running") {
          executors.set(containerId, new ExecutorModel(this.#world, task, container, generation));
        }
      });
    });
  }

  /** Order within a stream is kept; a message to a broken one is lost. */
  #send(containerId: string, message: ExecutorCommand): void {
    const executor = this.#world.executors.get(containerId);
    if (executor?.isConnectedTo(this) === true) {
      executor.arrive(message);
    }
  }

  #setTimer(name: string, delayMs: number): void {
    const version = ++this.#timerCount;
    this.#timers.set(name, version);
    this.#world.clock.after(delayMs, () => {
      if (this.#timers.get(name) === version) {
        this.#timers.delete(name);
        this.deliver({ type: "timer-fired", name });
      }
    });
  }

  /** Each attempt writes where no later one does. */
  #write(sequence: number, snapshot: unknown): void {
    this.#world.clock.after(this.#world.random.integer(5, 150), () => {
      // What was under way as its writer died may be stored all the same, until the next attempt reads.
      if (this !== this.#world.master) {
        return;
      }
      if (this.#world.journalDown) {
        this.deliver({ type: "journal-failed", sequence, message: "NameNode in safe mode" });
        return;
      }
      this.#world.keepJournal(snapshot);
      this.deliver({ type: "journal-written", sequence });
    });
  }

  /** The allocate call. */
  #heartbeat(): void {
    const { clock, yarn, random, faults } = this.#world;
    if (!this.alive || this.#world.exited || yarn.finished) {
      return;
    }
    clock.after(yarn.isAsked ? 250 : 1_000, () => this.#heartbeat());
    if (this.#isPaused) {
      return;
    }
    if (!this.isPresent) {
      if (clock.nowMs >= this.#answeredAtMs) {
        this.deliver({ type: "resource-manager-shutdown", reason: "ApplicationAttemptNotFound" });
      }
      return;
    }
    for (const id of this.#released.splice(0)) {
      yarn.release(id);
    }
    const completed = yarn.pullCompleted();
    const allocated = yarn.allocated.splice(0);
    for (const { containerId } of allocated) {
      const container = yarn.containers.get(containerId);
      if (container?.state === "allocated") {
        container.state = "delivered";
      }
    }
    if (allocated.length > 0) {
      this.deliver({ type: "containers-allocated", containers: allocated });
      if (random.chance(faults.duplicates)) {
        clock.after(random.integer(10, 2_000), () =>
          this.deliver({ type: "containers-allocated", containers: allocated }),
        );
      }
    }
    for (const one of completed) {
      this.#liveness.forget(one.containerId);
      this.deliver({ type: "container-completed", ...one, diagnostics: parseContainerDiagnostics(one.diagnostics) });
    }
  }

  #tick(): void {
    if (!this.alive || this.#world.exited) {
      return;
    }
    this.#world.clock.after(1_000, () => this.#tick());
    if (!this.#isPaused) {
      for (const event of this.#liveness.tick(this.#world.clock.nowMs)) {
        this.deliver(event);
      }
    }
  }
}

function describe(event: Event): string {
  return JSON.stringify(event, (key, value: unknown) =>
    key === "exit" || key === "nodes" || key === "journal" ? "…" : value,
  );
}
