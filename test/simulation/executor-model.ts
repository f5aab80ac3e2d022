import type { ChildExit, ChildReport } from "../../am/core/state/events.ts";
import type { ExecutorLinks } from "../../am/executor-links.ts";
import { judgeMasterMessage } from "../../src/api/fence.ts";
import type { ExecutorReport, MasterMessage } from "../../src/api/messages.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { StopReason } from "../../src/job/reasons/stops.ts";
import { isReplaced } from "../../src/journal/task-life.ts";
import { childExit } from "../support/child-exit.ts";
import { Absence, type StagingNews } from "./absence.ts";
import { Stream } from "./stream.ts";
import { Suspension } from "./suspension.ts";
import type { World } from "./world.ts";
import { isReachable, type ModelContainer, reachesOthers } from "./yarn.ts";

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

type Report = Exclude<ExecutorReport, { type: "register" | "unknown" }>;

/** What it has to say, and of which generation: a registration, or a report. */
type Saying = { readonly generation: number; readonly report?: Report };

/** One executor and its program, as the ApplicationMaster meets them over a network that is slow and breaks. */
export class ExecutorModel {
  readonly task: string;
  readonly container: ModelContainer;
  generation: number;
  child: ChildReport = { state: "none" };
  alive = true;
  frozen = false;
  /** When it last went on after it had stood still. */
  thawedAtMs = 0;
  ending = false;
  /** Its node was cut off in its life. */
  wasCut = false;
  readonly #world: World;
  readonly #absence: Absence;
  /** Of the present program. */
  #suspension: Suspension;
  #stream: Stream | undefined;
  /** The attempt of the ApplicationMaster that it obeys. */
  #attempt = 0;
  #port = 0;
  #life = 0;
  #stopping = false;
  /** The last report of the present program. */
  #progress: Extract<Report, { type: "child-progress" }> | undefined;
  #reportedAtMs = 0;
  #hang: Hang | undefined;
  readonly #missed: MasterMessage[] = [];
  readonly #unsent: Saying[] = [];
  /** Counts its searches for an ApplicationMaster: the last one alone goes on. */
  #search = 0;

  constructor(world: World, task: string, container: ModelContainer, generation: number) {
    this.#world = world;
    this.task = task;
    this.container = container;
    this.generation = generation;
    this.#port = world.nextPort();
    this.#suspension = new Suspension(world.clock);
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
    this.connect(0);
    this.#beat();
  }

  get reachesMaster(): boolean {
    return isReachable(this.container.node) && this.#world.master.isServing;
  }

  get reachesStaging(): boolean {
    return reachesOthers(this.container.node) && !this.#world.journal.isDown;
  }

  /** Its program does something: it neither ended nor stands still. */
  get isProgramRunning(): boolean {
    return this.alive && this.child.state === "running" && !this.#suspension.isOn;
  }

  get containerId(): string {
    return this.container.given.containerId;
  }

  /** By its machine's clock. */
  get #nowMs(): number {
    return this.#world.clock.nowMs + this.container.node.skewMs;
  }

  /** Looks for the present ApplicationMaster, opens a stream and says who it is. */
  connect(delayMs: number): void {
    const search = ++this.#search;
    this.#world.clock.after(delayMs, () => {
      if (!this.alive || search !== this.#search) {
        return;
      }
      const { master } = this.#world;
      if (!this.reachesMaster || this.frozen) {
        this.connect(1_000);
        return;
      }
      this.#stream?.end(this.#stream.master === master ? "replaced" : "broken");
      this.#stream = new Stream(this.#world, this);
      this.#attempt = master.attempt;
      this.#register();
      this.#awaitWelcome(this.#stream);
      if (this.#progress !== undefined) {
        this.#say({ generation: this.generation, report: this.#progress });
      }
    });
  }

  /** The stream breaks; whatever was under way in it is lost. */
  breakLink(reconnectMs: number): void {
    if (this.#stream?.isOpen !== true) {
      return;
    }
    this.#stream.end("broken");
    if (this.alive) {
      this.#absence.begin();
      this.connect(reconnectMs);
    }
  }

  /** Pings are not answered any more: the ApplicationMaster finds that out for itself. */
  missesMaster(): void {
    if (this.frozen) {
      // It finds that out when it goes on, where nothing has changed by then.
      this.#world.clock.after(1_000, () => {
        if (!this.reachesMaster) {
          this.missesMaster();
        }
      });
    } else if (this.alive && this.#stream?.isOpen === true) {
      this.#stream.close();
      this.#absence.begin();
      this.connect(1_000);
    }
  }

  /** Its ApplicationMaster died: it looks for the next attempt now and then, unless that one finds it first. */
  masterIsGone(): void {
    this.#stream?.close();
    if (this.alive) {
      this.#absence.begin();
      this.connect(this.#world.random.integer(2_000, 30_000));
    }
  }

  /** Stopped by SIGSTOP and continued. */
  freezeFor(durationMs: number): void {
    this.frozen = true;
    this.#world.clock.after(durationMs, () => {
      this.frozen = false;
      this.thawedAtMs = this.#world.clock.nowMs;
      for (const saying of this.#unsent.splice(0)) {
        this.#say(saying);
      }
      for (const message of this.#missed.splice(0)) {
        this.receive(message);
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
    this.#world.programsFault(this, ran);
    if (this.#world.random.chance(0.3)) {
      this.endChild({ signal: "SIGTERM" });
    }
    this.endChild({ signal: "SIGTERM", stopReason: { code: "container-terminated" } });
    this.#sayGoodbye();
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
    this.#absence.end();
    if (this.child.state === "running") {
      this.#world.witness.ended(this, undefined, this.#world.clock.nowMs);
    }
    this.#endLife();
    if (this.container.node.alive) {
      this.breakLink(0);
    }
    this.#stream?.close();
  }

  /** A message of an ApplicationMaster. */
  receive(message: MasterMessage): void {
    if (this.frozen) {
      this.#missed.push(message);
      return;
    }
    const own = { attempt: this.#attempt, generation: this.generation };
    if (!this.alive || this.ending || judgeMasterMessage(message, own) !== "current") {
      return;
    }
    const { generation, body } = message;
    switch (body.type) {
      case "prepare":
        if (generation > this.generation) {
          this.#stop({ code: "generation-ended", why: body.reason }, () => this.#renew(generation));
        } else {
          this.#register();
        }
        break;
      case "start-child":
        if (this.child.state === "none") {
          this.#judgeCheckpoint(body.checkpoint);
          this.#start();
        }
        break;
      case "stop-child":
        this.#stop(body.reason, () => {});
        break;
      case "exit":
        if (body.reason.code === "replaced") {
          this.#replaced(body.reason);
        } else {
          this.ending = true;
          this.#stop(body.reason, () => this.#leave());
        }
        break;
      case "resume-child":
        this.#goOn();
        this.#suspension.told();
        break;
      case "signal-child":
        if (this.#world.random.chance(0.5)) {
          this.endChild({ signal: body.signal });
        }
        break;
      default:
        break;
    }
  }

  /** The program ends by itself, or by something outside. */
  endChild(exit: Partial<ChildExit>): void {
    if (!this.alive || this.child.state !== "running") {
      return;
    }
    if (this.#suspension.isOn && exit.stopReason === undefined && exit.signal !== "SIGKILL") {
      this.#suspension.whenOver(() => this.endChild(exit));
      return;
    }
    const whole = childExit(this.#nowMs, exit);
    if (this.#hang !== undefined) {
      this.#hang.noticed = whole.stopReason?.code === "hung";
    }
    this.#endLife();
    this.child = { state: "exited", exit: whole };
    this.#world.programEnded(this, whole);
    this.#say({ generation: this.generation, report: { type: "child-exited", exit: whole } });
  }

  /** The program stands still from now on: it reports no step and does not end. */
  hang(): void {
    if (this.alive && this.child.state === "running" && this.#progress !== undefined && this.#hang === undefined) {
      this.#hang = { task: this.task, sinceMs: this.#reportedAtMs, noticed: false };
      this.#world.hangs.push(this.#hang);
    }
  }

  /** A step now, and another one every quarter of the time in which one is due. */
  #reportSteps(life: number, step: number): void {
    const { clock, spec, overlap } = this.#world;
    const { progressMs } = spec.timeouts;
    if (progressMs === undefined || life !== this.#life || this.#hang !== undefined) {
      return;
    }
    overlap.runs(this);
    const checkpoint = { path: checkpointPath(step, this.containerId), step, atMs: this.#nowMs };
    const news = step % 2 === 0 ? { checkpoint } : {};
    this.#reportedAtMs = clock.nowMs;
    this.#progress = { type: "child-progress", step, atMs: this.#nowMs, ...news };
    if (!this.frozen) {
      this.#say({ generation: this.generation, report: this.#progress });
    }
    this.#suspension.after(progressMs / 4, () => this.#reportSteps(life, step + 1));
  }

  #register(): void {
    this.#say({ generation: this.generation });
  }

  #registration(): ExecutorRegistration {
    return {
      task: this.task,
      containerId: this.containerId,
      generation: this.generation,
      host: this.container.node.host,
      port: this.child.state === "running" ? 0 : this.#port,
      tensorboardPort: 0,
      rejoinAddress: `${this.container.node.host}:${this.#port + 1}`,
      child: this.#childReport(),
    };
  }

  #childReport(): ChildReport {
    const { untoldMs } = this.#suspension;
    return this.child.state === "running" && untoldMs > 0 ? { ...this.child, suspendedMs: untoldMs } : this.child;
  }

  #renew(generation: number): void {
    if (generation <= this.generation) {
      return;
    }
    this.generation = generation;
    this.child = { state: "none" };
    this.#port = this.#world.nextPort();
    this.#world.clock.after(this.#world.random.integer(5, 200), () => {
      if (this.alive && this.#stream?.isOpen === true && this.generation === generation) {
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
    this.#suspension = new Suspension(clock);
    this.child = { state: "running", pid: life + 100, startedAtMs: this.#nowMs };
    this.#world.programStarted(this);
    const report = { type: "child-started", pid: life + 100, atMs: this.#nowMs } as const;
    this.#say({ generation: this.generation, report });
    this.#reportSteps(life, 1);
    const { executionMs } = this.#world.spec.timeouts;
    if (executionMs !== undefined) {
      this.#suspension.after(executionMs, () => {
        if (life === this.#life) {
          this.#stop({ code: "ran-too-long", limitMs: executionMs }, () => {});
        }
      });
    }
    const { runsForMs } = this.#world.programOf(this.task);
    if (runsForMs !== undefined) {
      this.#suspension.after(runsForMs + random.integer(0, 2_000), () => {
        if (life === this.#life && this.#hang === undefined) {
          this.endChild({});
        }
      });
    }
  }

  #stop(reason: StopReason, then: () => void): void {
    if (this.child.state !== "running") {
      then();
      return;
    }
    if (this.#suspension.isOn) {
      this.endChild({ signal: "SIGKILL", stopReason: reason });
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
        const isGood = goodStops > 0 && this.#world.random.chance(goodStops);
        const signal = this.#suspension.isOn ? "SIGKILL" : isGood ? "" : "SIGTERM";
        this.endChild({ signal, exitCode: 0, stopReason: reason });
      }
      if (this.alive && !this.frozen) {
        then();
      }
    });
  }

  #leave(): void {
    this.#sayGoodbye();
    this.alive = false;
    this.#absence.end();
    this.#world.containerExited(this.container, 0);
  }

  /** An ApplicationMaster is heard when it welcomes. */
  #awaitWelcome(stream: Stream): void {
    if (this.#absence.isAway) {
      this.#world.clock.after(this.#world.random.integer(2, 100), () => {
        if (stream === this.#stream && stream.isOpen && this.reachesMaster) {
          this.#absence.end();
        }
      });
    }
  }

  /** Before anything is written there no program ran. */
  #lookIntoStaging(): StagingNews {
    if (!this.reachesStaging) {
      return undefined;
    }
    const { journal, applicationId } = this.#world;
    const { task, containerId, generation } = this;
    const { newest } = journal;
    const isGone = newest !== undefined && isReplaced(newest, { applicationId, task, containerId, generation });
    return isGone && this.#world.executorsRead ? "replaced" : "still its task's";
  }

  /** Its task may live on elsewhere by now. Who registers at this moment has said nothing of it: it says so again. */
  #isolated(): void {
    if (this.child.state === "running" && this.#world.executorsSuspend) {
      this.#world.suspended(this);
      this.#suspension.begin();
      this.#register();
    }
  }

  #goOn(): void {
    if (this.#suspension.end()) {
      this.#world.resumed(this);
    }
  }

  /** Whatever is written from here on could meet what the task writes elsewhere. */
  #replaced(reason: StopReason): void {
    this.ending = true;
    this.endChild({ signal: "SIGKILL", stopReason: reason });
    this.#leave();
  }

  #beat(): void {
    if (!this.alive) {
      return;
    }
    const stream = this.#stream;
    if (stream?.isOpen === true && !this.frozen) {
      const { generation } = this;
      const report = { type: "heartbeat", sentAtMs: this.#nowMs } as const;
      stream.sayAtOnce((links) => links.report(stream, generation, report));
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

  #sayGoodbye(): void {
    const stream = this.#stream;
    stream?.say(() => stream.end("goodbye"));
  }

  /** Streams repeat nothing; but what was heard may be said again, as long as it is true. */
  #say(saying: Saying): void {
    const stream = this.#stream;
    if (this.frozen) {
      this.#unsent.push(saying);
      return;
    }
    if (stream?.isOpen !== true) {
      return;
    }
    const hear = this.#hearing(stream, saying);
    stream.say(hear);
    const { random, faults } = this.#world;
    if (random.chance(faults.duplicates)) {
      const { state } = this.child;
      const isTrue = () => this.alive && saying.generation === this.generation && state === this.child.state;
      stream.sayAgain((links) => (saying.report !== undefined || isTrue()) && hear(links));
    }
  }

  #hearing(stream: Stream, { generation, report }: Saying): (links: ExecutorLinks) => void {
    if (report !== undefined) {
      return (links) => links.report(stream, generation, report);
    }
    const registration = this.#registration();
    return (links) => stream.register(links, registration);
  }
}

/** Every second checkpoint is one that only its own container can read. */
function checkpointPath(step: number, containerId: string): string {
  return step % 4 === 0 ? `hdfs:///ckpt/${step}` : `/${containerId}/${step}`;
}
