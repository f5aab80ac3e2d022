import type { ChildExit } from "../../am/core/state/events.ts";
import type { StagingNews } from "../../executor/core/master.ts";
import { decodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import type { MasterMessage } from "../../src/api/messages.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { StopReason } from "../../src/job/reasons/stops.ts";
import { isReplaced } from "../../src/journal/task-life.ts";
import type { ModelContainer } from "./application.ts";
import { nobodysFault, programsFault } from "./causes.ts";
import { isJoiner } from "./ground-truth.ts";
import { MasterConnection } from "./master-connection.ts";
import { reachesOthers } from "./node.ts";
import { ModelProgram, type Report } from "./program.ts";
import { peersLose } from "./program-ends.ts";
import type { World } from "./world.ts";

/**
 * When a node has told a container to end: how long the container may outlive its program, whose end is reported first.
 */
export const LONGEST_ENDING_MS = 250;

/** One executor, as the ApplicationMaster meets it over a network that is slow and breaks. */
export class ExecutorModel {
  readonly task: string;
  readonly container: ModelContainer;
  readonly program: ModelProgram;
  readonly connection: MasterConnection;
  generation: number;
  /** The generation of the gang that its program has joined; its own generation where it started with the gang. */
  gangGeneration: number;
  alive = true;
  frozen = false;
  /** When it last went on after it had stood still. */
  thawedAtMs = 0;
  /** Whether its node was cut off during its life. */
  wasCut = false;
  readonly #world: World;
  #ending = false;
  #noticedAtMs = 0;
  #port: number;

  constructor(world: World, task: string, container: ModelContainer, generation: number) {
    this.#world = world;
    this.task = task;
    this.container = container;
    this.generation = generation;
    this.gangGeneration = generation;
    this.#port = world.nextPort();
    this.program = new ModelProgram(world, this);
    this.connection = new MasterConnection(world, this, {
      obey: (message) => this.#obey(message),
      look: () => this.#lookIntoStaging(),
      replaced: () => this.#replaced({ code: "replaced", why: "the journal says so" }),
      suspend: () => this.#suspend(),
      resume: () => this.#resume(),
      orphaned: (silentMs) => this.#finish({ code: "orphaned", silentMs }),
    });
    this.connection.begin();
  }

  get containerId(): string {
    return this.container.given.containerId;
  }

  /** Whether its program was told that its container is about to end. */
  get isNoticed(): boolean {
    return this.#noticedAtMs > 0;
  }

  /** Whether its program has started and not ended. */
  get hasProgram(): boolean {
    return this.alive && this.program.isRunning;
  }

  /** Whether its program does something: it has neither ended nor stands still. */
  get isProgramActive(): boolean {
    return this.hasProgram && !this.program.isSuspended;
  }

  /** The time by its machine's clock. */
  get nowMs(): number {
    return this.#world.clock.nowMs + this.container.node.skewMs;
  }

  /** Who it is, and what its program does. */
  registration(): ExecutorRegistration {
    const { host } = this.container.node;
    return {
      task: this.task,
      containerId: this.containerId,
      generation: this.generation,
      host,
      port: this.program.isRunning ? 0 : this.#port,
      tensorboardPort: 0,
      rejoinAddress: `${host}:${this.#port + 1}`,
      child: this.program.report,
      ...(this.program.progress !== undefined && { progress: this.program.progress }),
    };
  }

  /** Reports something about its program. */
  report(report: Report): void {
    this.connection.report(report);
  }

  /** Its program ends by itself, or by something outside. */
  endChild(exit: Partial<ChildExit>): void {
    this.program.end(exit);
  }

  /** Stopped by SIGSTOP, and continued later. */
  freezeFor(durationMs: number): void {
    this.frozen = true;
    this.#world.clock.after(durationMs, () => {
      this.frozen = false;
      this.thawedAtMs = this.#world.clock.nowMs;
      this.connection.goOn();
    });
  }

  /** SIGTERM from its node: it stops its program, reports that and says goodbye, and then the container is over. */
  toldToEnd(exitStatus: number, diagnostics: string): void {
    if (!this.alive || this.#ending) {
      return;
    }
    this.#beginEnding();
    const ran = this.program.isRunning;
    programsFault(this.#world, this, ran);
    if (this.#world.random.chance(0.3)) {
      this.endChild({ signal: "SIGTERM" });
    }
    this.endChild({ signal: "SIGTERM", stopReason: { code: "container-terminated" } });
    this.connection.goodbye();
    if (ran) {
      peersLose(this.#world, this);
    }
    this.#world.clock.after(this.#world.random.integer(60, LONGEST_ENDING_MS), () => {
      this.die();
      this.#world.endContainer(this, exitStatus, diagnostics);
    });
  }

  /** Everything in the container dies at once. */
  die(): void {
    if (!this.alive) {
      return;
    }
    this.alive = false;
    this.program.die();
    this.connection.die();
  }

  /** Obeys an order of its ApplicationMaster. */
  #obey({ generation, body }: MasterMessage): void {
    if (!this.alive) {
      return;
    }
    switch (body.type) {
      case "prepare":
        if (generation > this.generation) {
          this.program.stop({ code: "generation-ended", why: body.reason }, () => this.#renew(generation));
        } else {
          this.connection.register();
        }
        break;
      case "start-child":
        if (this.program.child.state === "none") {
          this.#judgeCheckpoint(body.checkpoint);
          this.gangGeneration = this.#generationOf(body.clusterSpec, generation);
          this.program.start();
        }
        break;
      case "stop-child":
        this.program.stop(body.reason, () => {});
        break;
      case "exit":
        if (body.reason.code === "replaced") {
          this.#replaced(body.reason);
        } else {
          this.#finish(body.reason);
        }
        break;
      case "acknowledge-exit":
        this.program.exitAcknowledged();
        break;
      case "make-room":
        this.#makeRoom(body.variables);
        break;
      case "signal-child":
        if (this.#noticedAtMs !== body.notice.atMs && this.#world.random.chance(0.5)) {
          nobodysFault(this.#world, this);
          this.endChild({ signal: body.signal });
        }
        this.#noticedAtMs = body.notice.atMs;
        break;
      default:
        break;
    }
  }

  #finish(reason: StopReason): void {
    this.#beginEnding();
    this.program.stop(reason, () => this.#leave());
  }

  #beginEnding(): void {
    this.#ending = true;
    this.connection.endingBegins();
  }

  #generationOf(clusterSpec: Uint8Array, own: number): number {
    const isJoining = isJoiner(this.#world.spec, this.task);
    return (isJoining ? decodeClusterSpec(clusterSpec).gangGeneration : undefined) ?? own;
  }

  #renew(generation: number): void {
    if (generation <= this.generation) {
      return;
    }
    this.generation = generation;
    this.gangGeneration = generation;
    this.program.renew();
    this.#port = this.#world.nextPort();
    this.#world.clock.after(this.#world.random.integer(5, 200), () => {
      if (this.alive && this.connection.isOpen && this.generation === generation) {
        this.connection.register();
      }
    });
  }

  /** A checkpoint from which a program is told to go on must be where the program can read it. */
  #judgeCheckpoint(path: string): void {
    if (path.startsWith("/") && !path.startsWith(`/${this.containerId}/`)) {
      this.#world.problems.push(`${this.task} in ${this.containerId} is to go on from ${path}, which it cannot read`);
    }
  }

  #makeRoom(variables: Readonly<Record<string, string>>): void {
    this.#beginEnding();
    this.program.stop({ code: "generation-ended", why: "its container is another task's" }, () => {
      this.connection.goodbye();
      this.alive = false;
      this.#world.madeRoom(this.container, variables);
    });
  }

  #leave(): void {
    this.connection.goodbye();
    this.alive = false;
    this.#world.containerExited(this.container, 0);
  }

  /** Before anything is written, no program has run. A torn entry says nothing. */
  #lookIntoStaging(): Pick<StagingNews, "isReplaced"> | undefined {
    const { journal, applicationId, planted } = this.#world;
    if (!reachesOthers(this.container.node) || journal.isDown) {
      return undefined;
    }
    const { task, containerId, generation } = this;
    try {
      const { newest } = journal;
      const isGone = newest !== undefined && isReplaced(newest, { applicationId, task, containerId, generation });
      return { isReplaced: isGone && planted.executorsRead };
    } catch {
      return undefined;
    }
  }

  #suspend(): void {
    if (this.#world.planted.executorsSuspend) {
      this.#world.suspended(this);
      this.program.suspend();
    }
  }

  #resume(): void {
    if (this.program.resume()) {
      this.#world.resumed(this);
    }
  }

  /** Whatever its program still writes could collide with what the task writes elsewhere. */
  #replaced(reason: StopReason): void {
    this.#beginEnding();
    this.endChild({ signal: "SIGKILL", stopReason: reason });
    this.#leave();
  }
}
