import { CONTAINER_TOLD_TO_END, isHung, timeLimitReason } from "../../am/core/failures/endings.ts";
import type { ExecutorCommand } from "../../am/core/state/effects.ts";
import type { ChildExit, ChildReport, Event } from "../../am/core/state/events.ts";
import { childExit } from "../support/child-exit.ts";
import type { Master } from "./master.ts";
import type { World } from "./world.ts";
import type { ModelContainer } from "./yarn.ts";

/** How a program ends when nothing comes between. */
export interface Program {
  /** Absent: it runs until it is stopped, as a parameter server does. */
  readonly runsForMs?: number;
}

/** A program that reports steps and then stood still. */
export interface Hang {
  readonly task: string;
  /** Its last step was reported. */
  readonly sinceMs: number;
  endedAtMs?: number;
  /** It was stopped because it hung. */
  noticed: boolean;
}

/** One executor and its program, as the ApplicationMaster meets them over a network that is slow and breaks. */
export class ExecutorModel {
  readonly task: string;
  readonly container: ModelContainer;
  generation: number;
  child: ChildReport = { state: "none" };
  /** Its stream to an attempt stands. */
  connected = false;
  alive = true;
  frozen = false;
  ending = false;
  /** Its node was cut off in its life. */
  wasCut = false;
  readonly #world: World;
  #master: Master;
  #port = 0;
  #life = 0;
  #stopping = false;
  /** The last report of the present program. */
  #progress: Extract<Event, { type: "child-progress" }> | undefined;
  #hang: Hang | undefined;
  readonly #missed: ExecutorCommand[] = [];
  readonly #unsent: Event[] = [];
  #link = 0;
  #lastArrivalMs = 0;
  #lastOrderMs = 0;

  constructor(world: World, task: string, container: ModelContainer, generation: number) {
    this.#world = world;
    this.#master = world.master;
    this.task = task;
    this.container = container;
    this.generation = generation;
    this.#port = world.nextPort();
    this.connect(0);
    this.#beat();
  }

  get containerId(): string {
    return this.container.given.containerId;
  }

  /** Nothing passes between it and the ApplicationMaster. */
  get #isCut(): boolean {
    return this.container.node.cut !== undefined;
  }

  isConnectedTo(master: Master): boolean {
    return this.connected && this.#master === master;
  }

  /** Opens a stream and says who it is. */
  connect(delayMs: number): void {
    const link = ++this.#link;
    this.#world.clock.after(delayMs, () => {
      if (!this.alive || link !== this.#link) {
        return;
      }
      const { master } = this.#world;
      if (this.#isCut || this.frozen || !master.alive || !master.isPresent) {
        this.connect(1_000);
        return;
      }
      this.#master = master;
      this.connected = true;
      this.#register();
      if (this.#progress !== undefined) {
        this.#send(this.#progress);
      }
    });
  }

  /** The stream breaks; whatever was under way in it is lost. */
  breakLink(reconnectMs: number): void {
    if (!this.connected) {
      return;
    }
    this.connected = false;
    this.#link++;
    this.#master.fromNetwork({
      type: "executor-lost",
      task: this.task,
      containerId: this.containerId,
      cause: "stream-broken",
    });
    if (this.alive) {
      this.connect(reconnectMs);
    }
  }

  /** Its ApplicationMaster died: it looks for the next attempt now and then, unless that one finds it first. */
  masterIsGone(): void {
    this.connected = false;
    this.#link++;
    if (this.alive) {
      this.connect(this.#world.random.integer(2_000, 30_000));
    }
  }

  /** Stopped by SIGSTOP and continued. */
  freezeFor(durationMs: number): void {
    this.frozen = true;
    this.#world.clock.after(durationMs, () => {
      this.frozen = false;
      for (const event of this.#unsent.splice(0)) {
        this.#send(event);
      }
      for (const message of this.#missed.splice(0)) {
        this.#receive(message);
      }
    });
  }

  /** SIGTERM from its node: it stops its program, says so and goodbye, and then the container is over. */
  toldToEnd(exitStatus: number, diagnostics: string): void {
    if (!this.alive || this.ending) {
      return;
    }
    this.ending = true;
    const ran = this.child.state === "running";
    if (this.#world.random.chance(0.3)) {
      this.endChild({ signal: "SIGTERM" });
    }
    this.endChild({ signal: "SIGTERM", stopReason: CONTAINER_TOLD_TO_END });
    this.#send({ type: "executor-lost", task: this.task, containerId: this.containerId, cause: "goodbye" });
    if (ran) {
      this.#world.peersLose(this);
    }
    this.#world.clock.after(this.#world.random.integer(60, 250), () => {
      this.die();
      this.#world.yarn.complete(this.containerId, exitStatus, diagnostics);
    });
  }

  /** Everything in the container dies at once. */
  die(): void {
    if (!this.alive) {
      return;
    }
    this.alive = false;
    if (this.child.state === "running") {
      this.#world.witness.ended(this, undefined, this.#world.clock.nowMs);
    }
    this.#endLife();
    if (this.container.node.alive) {
      this.breakLink(0);
    }
    this.connected = false;
  }

  /** A message of the ApplicationMaster on its way; the order within the stream is kept. */
  arrive(message: ExecutorCommand): void {
    const { clock, random } = this.#world;
    const link = this.#link;
    this.#lastOrderMs = Math.max(this.#lastOrderMs, clock.nowMs + random.integer(1, 50));
    clock.after(this.#lastOrderMs - clock.nowMs, () => {
      if (link === this.#link && !this.#isCut) {
        this.#receive(message);
      }
    });
  }

  #receive(message: ExecutorCommand): void {
    if (this.frozen) {
      this.#missed.push(message);
      return;
    }
    if (!this.alive || this.ending) {
      return;
    }
    switch (message.type) {
      case "prepare":
        if (message.generation > this.generation) {
          this.#stop("a new generation", () => this.#renew(message.generation));
        } else if (message.generation === this.generation) {
          this.#register();
        }
        break;
      case "start-child":
        if (message.generation === this.generation && this.child.state === "none") {
          this.#judgeCheckpoint(message.checkpoint);
          this.#start();
        }
        break;
      case "stop-child":
        if (message.generation === this.generation) {
          this.#stop(message.reason, () => {});
        }
        break;
      case "exit":
        this.ending = true;
        this.#stop(message.reason, () => this.#leave());
        break;
      case "signal-child":
        if (message.generation === this.generation && this.#world.random.chance(0.5)) {
          this.endChild({ signal: message.signal });
        }
        break;
      case "acknowledge-exit":
        break;
    }
  }

  /** The program ends by itself, or by something outside. */
  endChild(exit: Partial<ChildExit>): void {
    if (!this.alive || this.child.state !== "running") {
      return;
    }
    const whole = childExit(this.#world.clock.nowMs, exit);
    if (this.#hang !== undefined) {
      this.#hang.noticed = isHung(whole);
    }
    this.#endLife();
    this.child = { state: "exited", exit: whole };
    this.#world.programEnded(this, whole);
    this.#send({
      type: "child-exited",
      task: this.task,
      containerId: this.containerId,
      generation: this.generation,
      exit: whole,
    });
  }

  /** The program stands still from now on: it reports no step and does not end. */
  hang(): void {
    if (this.alive && this.child.state === "running" && this.#progress !== undefined && this.#hang === undefined) {
      this.#hang = { task: this.task, sinceMs: this.#progress.atMs, noticed: false };
      this.#world.hangs.push(this.#hang);
    }
  }

  /** A step now, and another one every quarter of the time in which one is due. */
  #reportSteps(life: number, step: number): void {
    const { clock, spec } = this.#world;
    const { progressMs } = spec.timeouts;
    if (progressMs === undefined || life !== this.#life || this.#hang !== undefined) {
      return;
    }
    const { task, containerId, generation } = this;
    const checkpoint = { path: checkpointPath(step, containerId), step, atMs: clock.nowMs };
    const news = step % 2 === 0 ? { checkpoint } : {};
    this.#progress = { type: "child-progress", task, containerId, generation, step, atMs: clock.nowMs, ...news };
    if (!this.frozen) {
      this.#send(this.#progress);
    }
    clock.after(progressMs / 4, () => this.#reportSteps(life, step + 1));
  }

  #register(): void {
    this.#send({
      type: this.#world.attempt > 1 ? "executor-reattached" : "executor-registered",
      task: this.task,
      containerId: this.containerId,
      generation: this.generation,
      host: this.container.node.host,
      port: this.child.state === "running" ? 0 : this.#port,
      tensorboardPort: 0,
      rejoinAddress: `${this.container.node.host}:${this.#port + 1}`,
      child: this.child,
    });
  }

  #renew(generation: number): void {
    if (generation <= this.generation) {
      return;
    }
    this.generation = generation;
    this.child = { state: "none" };
    this.#port = this.#world.nextPort();
    this.#world.clock.after(this.#world.random.integer(5, 200), () => {
      if (this.alive && this.connected && this.generation === generation) {
        this.#register();
      }
    });
  }

  /** What a program is told to go on from must be where it can read it. */
  #judgeCheckpoint(path: string): void {
    if (path.startsWith("/") && !path.startsWith(`/${this.containerId}/`)) {
      this.#world.problems.push(`${this.task} in ${this.containerId} is to go on from ${path}, which it cannot read`);
    }
  }

  #start(): void {
    const life = ++this.#life;
    const { clock, random } = this.#world;
    this.child = { state: "running", pid: life + 100, startedAtMs: clock.nowMs };
    this.#world.programStarted(this);
    this.#send({
      type: "child-started",
      task: this.task,
      containerId: this.containerId,
      generation: this.generation,
      pid: life + 100,
      atMs: clock.nowMs,
    });
    this.#reportSteps(life, 1);
    const { executionMs } = this.#world.spec.timeouts;
    if (executionMs !== undefined) {
      clock.after(executionMs, () => {
        if (life === this.#life) {
          this.#stop(timeLimitReason(this.#world), () => {});
        }
      });
    }
    const { runsForMs } = this.#world.programOf(this.task);
    if (runsForMs !== undefined) {
      clock.after(runsForMs + random.integer(0, 2_000), () => {
        if (life === this.#life && this.#hang === undefined) {
          this.endChild({});
        }
      });
    }
  }

  #stop(reason: string, then: () => void): void {
    if (this.child.state !== "running") {
      then();
      return;
    }
    if (this.#stopping) {
      this.#world.clock.after(this.#world.spec.timeouts.stopGraceMs, then);
      return;
    }
    this.#stopping = true;
    const { stopGraceMs } = this.#world.spec.timeouts;
    const life = this.#life;
    this.#world.clock.after(this.#world.random.integer(1, stopGraceMs), () => {
      this.#stopping = false;
      if (life === this.#life) {
        const { goodStops } = this.#world.faults;
        const signal = goodStops > 0 && this.#world.random.chance(goodStops) ? "" : "SIGTERM";
        this.endChild({ signal, exitCode: 0, stopReason: reason });
      }
      if (this.alive && !this.frozen) {
        then();
      }
    });
  }

  #leave(): void {
    this.#send({ type: "executor-lost", task: this.task, containerId: this.containerId, cause: "goodbye" });
    this.alive = false;
    this.connected = false;
    this.#world.containerExited(this.container, 0);
  }

  #beat(): void {
    if (!this.alive) {
      return;
    }
    if (this.connected && !this.frozen && !this.#isCut) {
      this.#master.heard(this);
    }
    this.#world.clock.after(this.#world.spec.timeouts.heartbeatIntervalMs, () => this.#beat());
  }

  #endLife(): void {
    this.#life++;
    this.#progress = undefined;
    if (this.#hang !== undefined) {
      this.#hang.endedAtMs = this.#world.clock.nowMs;
      this.#hang = undefined;
    }
  }

  #send(event: Event): void {
    if (this.frozen) {
      this.#unsent.push(event);
      return;
    }
    if (!this.connected || this.#isCut) {
      return;
    }
    const link = this.#link;
    const { clock, random } = this.#world;
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, clock.nowMs + random.integer(1, 50));
    clock.after(this.#lastArrivalMs - clock.nowMs, () => {
      if (link === this.#link || event.type === "executor-lost") {
        this.#master.fromNetwork(event);
      }
    });
    if (random.chance(this.#world.faults.duplicates)) {
      clock.after(random.integer(50, 500), () => {
        if (link === this.#link && this.#saysAgain(event)) {
          this.#master.fromNetwork(event);
        }
      });
    }
  }

  /** Streams repeat nothing: it is the executor that says again who it is, and then says what is true. */
  #saysAgain(event: Event): boolean {
    if (!("rejoinAddress" in event)) {
      return true;
    }
    return this.alive && event.generation === this.generation && event.child.state === this.child.state;
  }
}

/** Every second checkpoint is one that only its own container can read. */
function checkpointPath(step: number, containerId: string): string {
  return step % 4 === 0 ? `hdfs:///ckpt/${step}` : `/${containerId}/${step}`;
}
