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

/** How long a container may outlive its program, whose end is told first, when its node has told it to end. */
export const LONGEST_ENDING_MS = 250;

/** One executor, as the ApplicationMaster meets it over a network that is slow and breaks. */
export class ExecutorModel {
  readonly task: string;
  readonly container: ModelContainer;
  readonly program: ModelProgram;
  readonly connection: MasterConnection;
  generation: number;
  /** That of the others whom its program has joined; its own where it started with them. */
  gangGeneration: number;
  alive = true;
  frozen = false;
  /** When it last went on after it had stood still. */
  thawedAtMs = 0;
  /** Its node was cut off in its life. */
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

  /** Its program was told that its container is about to end. */
  get isNoticed(): boolean {
    return this.#noticedAtMs > 0;
  }

  /** Its program has started, and not ended. */
  get hasProgram(): boolean {
    return this.alive && this.program.isRunning;
  }

  /** Its program does something: it neither ended nor stands still. */
  get isProgramActive(): boolean {
    return this.hasProgram && !this.program.isSuspended;
  }

  /** By its machine's clock. */
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

  /** Of its program. */
  report(report: Report): void {
    this.connection.report(report);
  }

  /** Its program ends by itself, or by something outside. */
  endChild(exit: Partial<ChildExit>): void {
    this.program.end(exit);
  }

  /** Stopped by SIGSTOP and continued. */
  freezeFor(durationMs: number): void {
    this.frozen = true;
    this.#world.clock.after(durationMs, () => {
      this.frozen = false;
      this.thawedAtMs = this.#world.clock.nowMs;
      this.connection.goOn();
    });
  }

  /** SIGTERM from its node: it stops its program, says so and goodbye, and then the container is over. */
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

  /** What its ApplicationMaster orders. */
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

  /** What a program is told to go on from must be where it can read it. */
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

  /** Before anything is written there no program ran. An entry that is torn says nothing. */
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

  /** Whatever is written from here on could meet what the task writes elsewhere. */
  #replaced(reason: StopReason): void {
    this.#beginEnding();
    this.endChild({ signal: "SIGKILL", stopReason: reason });
    this.#leave();
  }
}
