import { AttemptWatch } from "../../am/attempt-watch.ts";
import { type Core, createCore } from "../../am/core/core.ts";
import { launchIn } from "../../am/core/executors/launches.ts";
import { createLiveness, LIVENESS_TICK_MS, type Liveness } from "../../am/core/executors/liveness.ts";
import type { Launch, Rejoin } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";
import { ExecutorLinks } from "../../am/executors/executor-links.ts";
import { LogTails } from "../../am/executors/log-tails.ts";
import type { Registration } from "../../am/scheduler/scheduler.ts";
import { Shell } from "../../am/shell.ts";
import type { MasterAddress } from "../../executor/core/master.ts";
import type { Log } from "../../src/log.ts";
import { doubled } from "./double.ts";
import { isReachable } from "./node.ts";
import { Process } from "./process.ts";
import { ModelScheduler } from "./scheduler.ts";
import type { Stream } from "./stream.ts";
import type { World } from "./world.ts";

const JOURNAL_READ_AGAIN_MS = 3_000;
/** How often an executor of the previous attempt is called, and the pause after a call that failed at once. */
const MOST_CALLS = 3;
const CALLED_AGAIN_MS = 2_000;

/** One attempt of the ApplicationMaster: its core, shell, links and liveness are the product's own, in a process of the model. */
export class Master {
  readonly attempt: number;
  readonly process: Process;
  readonly core: Core;
  readonly links: ExecutorLinks;
  readonly #world: World;
  readonly #shell: Shell;
  readonly #scheduler: ModelScheduler;
  readonly #liveness: Liveness;
  readonly #attemptWatch: AttemptWatch;
  /** By container. */
  readonly #streams = new Map<string, Stream>();
  /** Whether it is registered and has left its address in the staging folder. */
  #isAnnounced = false;
  /** Whether it reaches neither the ResourceManager nor HDFS. */
  isCutOff = false;
  /** Until then no answer of the ResourceManager reaches it. */
  #unansweredUntilMs = 0;

  constructor(world: World, attempt: number, skewMs: number) {
    this.#world = world;
    this.attempt = attempt;
    this.process = new Process(world.clock, skewMs);
    const identity = {
      applicationId: world.applicationId,
      attempt,
      amHost: "node0",
      amContainerId: "container_1_0001_01_000000",
      startedAtMs: this.process.nowMs(),
      nodeHeartbeatMs: 1_000,
    };
    this.core = world.isDoubled
      ? doubled(createCore(world.spec, identity), identity, world.problems)
      : createCore(world.spec, identity, { textOf: (snapshot) => world.journal.textOf(snapshot) });
    this.#liveness = createLiveness(world.spec.timeouts);
    this.#scheduler = new ModelScheduler({
      attempt,
      process: this.process,
      random: world.random,
      application: world.application,
      resourceManager: world.resourceManager,
      nodeManagers: world.nodeManagers,
      isReached: () => !this.isCutOff,
      losesAnswer: (call) => world.clock.nowMs < this.#unansweredUntilMs || world.losesAnswer(call),
      settled: () => world.settled(),
    });
    this.links = this.#makeLinks();
    this.#shell = this.#makeShell();
    this.#attemptWatch = this.#makeAttemptWatch();
  }

  /** Registers. A later attempt takes over what the one before left. */
  start(): void {
    const address = { host: "node0", port: 1 };
    void this.#scheduler
      .start(address, (event) => this.#hear(event))
      .then((registration) => {
        this.#isAnnounced = true;
        this.#watchAttempt();
        return this.attempt === 1 ? this.#beginWatch() : this.#takeOver(registration);
      });
  }

  /** An event reaches it from outside. */
  deliver(event: Event): void {
    this.process.reach(() => this.#shell.post(event));
  }

  /**
   * Stands still for a while, as under SIGSTOP. If it does not ask whether it was replaced meanwhile, and the ResourceManager is slow to say so,
   * it goes on acting.
   */
  pause(durationMs: number, unansweredMs = 0): void {
    this.#world.trace(`! attempt ${this.attempt} is paused for ${durationMs / 1000} s`);
    this.#unansweredUntilMs = this.#world.clock.nowMs + durationMs + unansweredMs;
    this.process.stopFor(durationMs);
  }

  /** When it last acted again after it had stood still, by its own clock: it had to ask the ResourceManager first. */
  get wokeAtMs(): number {
    return Math.max(this.process.wokeAtMs, this.#scheduler.confirmedAtMs);
  }

  get address(): MasterAddress {
    return { attempt: this.attempt, address: `node0:${this.attempt}` };
  }

  /** When a container opens a second stream, the earlier one is over. */
  takes(stream: Stream): void {
    this.#streams.get(stream.containerId)?.end("replaced");
    this.#streams.set(stream.containerId, stream);
  }

  /** Whether YARN has started no other attempt since. */
  get isPresent(): boolean {
    return this.#world.resourceManager.attempt === this.attempt;
  }

  /** Whether it may have containers that it was not told about, because the answer to its registration was lost. */
  get isUnheard(): boolean {
    return this.#scheduler.isUnheard;
  }

  /** Whether executors find it. */
  get isServing(): boolean {
    return this.process.alive && this.isPresent && this.#isAnnounced;
  }

  #takeOver({ keptContainers }: Registration): void {
    if (this.#world.journal.isDown) {
      this.process.after(JOURNAL_READ_AGAIN_MS, () => this.#takeOver({ attempt: this.attempt, keptContainers }));
      return;
    }
    const journal = this.#world.attempts.readJournal();
    this.#shell.post({ type: "recovered", keptContainers, ...(journal === undefined ? {} : { journal }) });
    this.#beginWatch();
  }

  #hear(event: Event): void {
    const { random, weather, clock } = this.#world;
    this.#shell.post(event);
    if (event.type === "containers-allocated" && random.chance(weather.duplicates)) {
      clock.after(random.integer(10, 2_000), () => this.deliver(event));
    }
  }

  #makeAttemptWatch(): AttemptWatch {
    const world = this.#world;
    return new AttemptWatch({
      attempt: this.attempt,
      isolationMs: world.spec.timeouts.isolationMs,
      get expiryMs() {
        return world.masterExpiryMs;
      },
      clock: this.process,
      answeredAtMs: () => this.#scheduler.answeredAtMs,
      latestAttempt: async () => {
        world.settled();
        if (this.isCutOff || world.journal.isDown) {
          throw new Error("the NameNode does not answer");
        }
        return world.attempts.present.attempt;
      },
      over: (reason) => world.planted.mastersGiveWay && this.#shell.post({ type: "resource-manager-shutdown", reason }),
    });
  }

  #watchAttempt(): void {
    this.#shell.tick();
    this.#attemptWatch.tick();
    this.process.after(LIVENESS_TICK_MS, () => this.#watchAttempt());
  }

  #beginWatch(): void {
    this.#liveness.begin(this.process.nowMs());
    this.#watch();
  }

  #watch(): void {
    this.#shell.tick();
    for (const event of this.#liveness.tick(this.process.nowMs())) {
      this.#shell.post(event);
    }
    this.process.after(LIVENESS_TICK_MS, () => this.#watch());
  }

  #makeLinks(): ExecutorLinks {
    return new ExecutorLinks({
      post: (event) => this.#shell.post(event),
      heard: (containerId, task) => {
        for (const event of this.#liveness.heard(task, containerId, this.process.nowMs())) {
          this.#shell.post(event);
        }
      },
      forget: (containerId) => this.#liveness.forget(containerId),
      metrics: () => {},
      progress: () => {},
      tails: new LogTails({ lastContainerOf: () => undefined, spokenName: (task) => task }),
      tenantOf: (containerId) => launchIn(this.core.state, containerId),
      tokens: () => undefined,
      variables: variablesOf,
    });
  }

  #makeShell(): Shell {
    const world = this.#world;
    return new Shell({
      clock: this.process,
      core: { step: (event, nowMs) => world.decide(this, event, nowMs) },
      scheduler: world.planted.isFenced ? this.#scheduler : unfenced(this.#scheduler),
      links: this.links,
      feed: { changed: () => {}, finish: () => {} },
      journal: { write: (sequence, snapshot, part) => this.#write(sequence, snapshot, part) },
      history: { add: () => {} },
      launcher: { command: commandOf },
      checkpoints: { remove: async () => {} },
      log: this.#log(),
      stoodStill: (gapMs) => {
        this.#liveness.stoodStill(gapMs, this.process.nowMs());
        this.#attemptWatch.stoodStill();
      },
      rejoin: (executors) => this.#rejoin(executors),
      beforeUnregister: async (outcome) => {
        world.ends(this, outcome);
        world.settled();
      },
      exit: async (_exitCode, cleanStaging) => {
        this.process.kill();
        world.attempts.exited(this, cleanStaging);
      },
    });
  }

  /**
   * Calls executors as often as am/executors/rejoin.ts does. An executor that none of the calls reaches can find this attempt only through the
   * staging folder.
   */
  #rejoin(executors: readonly Rejoin[]): void {
    const { random, weather, clock, attempts } = this.#world;
    for (const { containerId } of executors) {
      let failures = 0;
      while (failures < MOST_CALLS && random.chance(weather.failedDials)) {
        failures++;
      }
      if (failures === MOST_CALLS) {
        attempts.vainCalls++;
      } else {
        clock.after(failures * CALLED_AGAIN_MS + random.integer(5, 1_000), () => this.#call(containerId));
      }
    }
  }

  #call(containerId: string): void {
    const executor = this.#world.executors.get(containerId);
    if (this.isServing && executor !== undefined && isReachable(executor.container.node, this.attempt)) {
      executor.connection.called(this);
    }
  }

  /**
   * Each attempt writes where no later one does. What was under way when it died may still be stored, whole or in part, until the next one
   * reads.
   */
  #write(sequence: number, snapshot: string, part?: string): Promise<void> {
    const { clock, random, journal, weather } = this.#world;
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void): void =>
        this.process.reach(() => {
          this.#world.settled();
          settle();
        });
      clock.after(random.integer(5, 150), () => {
        if (this !== this.#world.master) {
          return;
        }
        if (journal.isDown || this.isCutOff) {
          answer(() => reject(new Error("NameNode in safe mode")));
          return;
        }
        journal.keepPart(sequence, part);
        if (!this.process.alive && random.chance(weather.tornWrites)) {
          this.#world.trace("! its last entry in the journal is torn");
          journal.tear(this.attempt, sequence, snapshot, random.integer(0, 99) / 100);
          return;
        }
        journal.keep(snapshot);
        const isLost = random.chance(weather.lostJournalAnswers);
        answer(() => (isLost ? reject(new Error("no answer")) : resolve()));
      });
    });
  }

  #log(): Log {
    const write = (level: string) => (event: string, message: string) => {
      this.#world.trace(() => `  ${level} ${event}: ${message}`);
      if (event === "defect") {
        this.#world.problems.push(message);
      }
    };
    const log: Log = {
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      with: () => log,
    };
    return log;
  }
}

/** A planted fault: it goes on acting without asking whether it was replaced. */
function unfenced(scheduler: ModelScheduler): ModelScheduler {
  scheduler.confirm = async () => true;
  return scheduler;
}

function variablesOf({ task, generation }: Launch): Record<string, string> {
  return { TASK: task, GENERATION: String(generation) };
}

function commandOf(launch: Launch) {
  const { containerId } = launch;
  const environment = variablesOf(launch);
  return { containerId, environment, commands: [], files: [], credentials: new Uint8Array(0) };
}
