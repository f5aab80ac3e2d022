import type { ChildExit } from "../../am/core/state/events.ts";
import { decodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import { judgeMasterMessage } from "../../src/api/fence.ts";
import type { MasterMessage } from "../../src/api/messages.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { StopReason } from "../../src/job/reasons/stops.ts";
import { isReplaced } from "../../src/journal/task-life.ts";
import { Absence, type StagingNews } from "./absence.ts";
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
  readonly #absence: Absence;
  #ending = false;
  #noticedAtMs = 0;
  #port: number;
  /** What came while it stood still. */
  readonly #missed: MasterMessage[] = [];

  constructor(world: World, task: string, container: ModelContainer, generation: number) {
    this.#world = world;
    this.task = task;
    this.container = container;
    this.generation = generation;
    this.gangGeneration = generation;
    this.#port = world.nextPort();
    this.program = new ModelProgram(world, this);
    this.#absence = new Absence({
      clock: world.clock,
      random: world.random,
      isolationMs: world.spec.timeouts.isolationMs,
      isFrozen: () => this.frozen,
      look: () => this.#lookIntoStaging(),
      reached: () => this.#goOn(),
      replaced: () => this.#replaced({ code: "replaced", why: "the journal says so" }),
      isolated: () => this.#isolated(),
    });
    this.connection = new MasterConnection(world, this, this.#absence);
    this.connection.open(0);
    this.connection.beat();
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
      this.connection.sayUnsent();
      for (const message of this.#missed.splice(0)) {
        this.receive(message);
      }
    });
  }

  /** SIGTERM from its node: it stops its program, says so and goodbye, and then the container is over. */
  toldToEnd(exitStatus: number, diagnostics: string): void {
    if (!this.alive || this.#ending) {
      return;
    }
    this.#ending = true;
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
    this.#absence.end();
    this.program.die();
    if (this.container.node.alive) {
      this.connection.break(0);
    }
    this.connection.close();
  }

  /** A message of an ApplicationMaster. */
  receive(message: MasterMessage): void {
    if (this.frozen) {
      this.#missed.push(message);
      return;
    }
    const own = { attempt: this.connection.attempt, generation: this.generation };
    if (!this.alive || this.#ending || judgeMasterMessage(message, own) !== "current") {
      return;
    }
    const { generation, body } = message;
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
          this.#ending = true;
          this.program.stop(body.reason, () => this.#leave());
        }
        break;
      case "resume-child":
        this.#goOn();
        this.program.toldSuspension();
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
    this.#ending = true;
    this.program.stop({ code: "generation-ended", why: "its container is another task's" }, () => {
      this.connection.goodbye();
      this.alive = false;
      this.#absence.end();
      this.#world.madeRoom(this.container, variables);
    });
  }

  #leave(): void {
    this.connection.goodbye();
    this.alive = false;
    this.#absence.end();
    this.#world.containerExited(this.container, 0);
  }

  /** Before anything is written there no program ran. An entry that is torn says nothing. */
  #lookIntoStaging(): StagingNews {
    const { journal, applicationId, planted } = this.#world;
    if (!reachesOthers(this.container.node) || journal.isDown) {
      return undefined;
    }
    const { task, containerId, generation } = this;
    try {
      const { newest } = journal;
      const isGone = newest !== undefined && isReplaced(newest, { applicationId, task, containerId, generation });
      return isGone && planted.executorsRead ? "replaced" : "still its task's";
    } catch {
      return undefined;
    }
  }

  /** Its task may live on elsewhere by now. Who registers at this moment has said nothing of it: it says so again. */
  #isolated(): void {
    if (this.program.isRunning && this.#world.planted.executorsSuspend) {
      this.#world.suspended(this);
      this.program.suspend();
      this.connection.register();
    }
  }

  #goOn(): void {
    if (this.program.resume()) {
      this.#world.resumed(this);
    }
  }

  /** Whatever is written from here on could meet what the task writes elsewhere. */
  #replaced(reason: StopReason): void {
    this.#ending = true;
    this.endChild({ signal: "SIGKILL", stopReason: reason });
    this.#leave();
  }
}
