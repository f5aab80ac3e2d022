import type { ChildExit } from "../../am/core/state/events.ts";
import type { ExecutorLinks } from "../../am/executors/executor-links.ts";
import { createExecutorCore, type ExecutorCore } from "../../executor/core/core.ts";
import type { Effect } from "../../executor/core/effects.ts";
import type { Event } from "../../executor/core/events.ts";
import { suspendedMs } from "../../executor/core/isolation.ts";
import type { StagingNews } from "../../executor/core/master.ts";
import type { MasterMessage } from "../../src/api/messages.ts";
import type { ExecutorModel } from "./executor-model.ts";
import { ExecutorWatch } from "./executor-watch.ts";
import type { Master } from "./master.ts";
import { isReachable } from "./node.ts";
import type { Report } from "./program.ts";
import { Stream } from "./stream.ts";
import type { World } from "./world.ts";

/**
 * A look into the staging folder that takes longer than this brings nothing in time
 * (executor/master/staging-folder.ts).
 */
const LONGEST_LOOK_MS = 3_000;

/** What an executor has to send, and of which generation: a registration or a report. */
type Saying = { readonly generation: number; readonly report?: Report };

export interface ConnectionOptions {
  readonly obey: (message: MasterMessage) => void;
  readonly look: () => Omit<StagingNews, "master"> | undefined;
  readonly suspend: () => void;
  readonly resume: () => void;
  readonly replaced: () => void;
  readonly orphaned: (silentMs: number) => void;
}

/** An executor's streams to the ApplicationMaster, which the executor's own core opens and closes. */
export class MasterConnection {
  readonly #world: World;
  readonly #executor: ExecutorModel;
  readonly #options: ConnectionOptions;
  readonly #core: ExecutorCore;
  readonly #watch: ExecutorWatch;
  readonly #streams = new Map<number, Stream>();
  #wakeAtMs: number | undefined;
  /** Steps whose effects are not all carried out yet: one of them may lead to the next event. */
  #underWay = 0;
  /** What happened while it stood still. */
  readonly #missed: (() => void)[] = [];

  constructor(world: World, executor: ExecutorModel, options: ConnectionOptions) {
    this.#world = world;
    this.#executor = executor;
    this.#options = options;
    this.#core = createExecutorCore(world.master.address, world.spec.timeouts);
    this.#watch = new ExecutorWatch(this.#core, executor.task);
  }

  begin(): void {
    this.#post({ type: "begun" });
    this.#beat();
  }

  get isOpen(): boolean {
    return this.#stream?.isOpen === true;
  }

  /** The attempt that it obeys. */
  get master(): Master | undefined {
    return this.#world.attempts.find(this.#core.state.link.current.attempt);
  }

  /** An attempt calls with its address. */
  called(master: Master): void {
    this.#reach(() => this.#post({ type: "called", master: master.address }));
  }

  /** The stream breaks; whatever was under way in it is lost. */
  break(): void {
    this.#stream?.end("broken");
    this.#lose(this.#core.state.link.active?.id);
  }

  /** Pings are no longer answered: the ApplicationMaster finds that out for itself. */
  pingsUnanswered(): void {
    if (this.#executor.frozen) {
      // It finds that out when it goes on, unless the connection works again by then.
      this.#world.clock.after(1_000, () => {
        if (this.master !== undefined && !isReachable(this.#executor.container.node, this.master.attempt)) {
          this.pingsUnanswered();
        }
      });
    } else {
      this.#stream?.drop();
      this.#lose(this.#core.state.link.active?.id);
    }
  }

  /** That attempt has ended, or answers no more pings. */
  masterGone(master: Master): void {
    for (const [connection, stream] of this.#streams) {
      if (stream.master === master) {
        stream.end("broken");
        this.#lose(connection);
      }
    }
  }

  programStarted(): void {
    this.#tell({ type: "program-started", generation: this.#executor.generation });
  }

  programEnded(): void {
    const { generation } = this.#executor;
    this.#reach(() => this.#tell({ type: "program-ended", generation }));
  }

  /** From now on nothing is obeyed. */
  endingBegins(): void {
    this.#tell({ type: "ending" });
  }

  /** How long its program was suspended, as far as the ApplicationMaster has not been told. */
  get suspendedMs(): number {
    return suspendedMs(this.#core.state, this.#executor.generation, this.#world.clock.nowMs);
  }

  register(): void {
    this.#post({ type: "changed" });
  }

  report(report: Report): void {
    this.#reach(() => this.#say(this.#stream, { generation: this.#executor.generation, report }));
  }

  goodbye(): void {
    const stream = this.#stream;
    stream?.say(() => stream.end("goodbye"));
    this.#post({ type: "closing" });
  }

  /** The connection dies with the executor's process. */
  die(): void {
    for (const stream of this.#streams.values()) {
      if (this.#executor.container.node.alive) {
        stream.end("broken");
      }
      stream.drop();
    }
    this.#streams.clear();
  }

  /** The executor goes on after it had stood still. */
  goOn(): void {
    for (let missed = this.#missed.shift(); missed !== undefined; missed = this.#missed.shift()) {
      missed();
    }
  }

  get #stream(): Stream | undefined {
    const { active } = this.#core.state.link;
    return active && this.#streams.get(active.id);
  }

  #reach(act: () => void): void {
    if (this.#executor.frozen) {
      this.#missed.push(act);
    } else {
      act();
    }
  }

  #lose(connection: number | undefined): void {
    if (connection !== undefined) {
      this.#streams.delete(connection);
      this.#reach(() => this.#post({ type: "ended", connection, cause: "the stream ended" }));
    }
  }

  /** For events in which chance plays no part, so that the rest of what the seed decides does not depend on them. */
  #tell(event: Event): void {
    this.#post(event, 0);
  }

  #post(event: Event, random = this.#world.random.next()): void {
    const { clock } = this.#world;
    if (!this.#executor.alive) {
      return;
    }
    const decided = this.#core.step(event, { nowMs: clock.nowMs, random });
    const effects = this.#world.planted.executorDecided(decided, this.#core, event);
    this.#underWay += 1;
    for (const effect of effects) {
      this.#do(effect);
    }
    this.#underWay -= 1;
    const open = this.#underWay === 0 ? [...this.#streams.keys()] : [];
    this.#world.problems.push(...this.#watch.check(effects, clock.nowMs, open));
    this.#askForWakeUp();
  }

  #askForWakeUp(): void {
    const { clock } = this.#world;
    const { wakeAtMs } = this.#core;
    if (wakeAtMs === undefined || (this.#wakeAtMs !== undefined && this.#wakeAtMs <= wakeAtMs)) {
      return;
    }
    this.#wakeAtMs = wakeAtMs;
    clock.after(wakeAtMs - clock.nowMs, () => {
      if (this.#wakeAtMs === wakeAtMs) {
        this.#wakeAtMs = undefined;
        this.#reach(() => this.#post({ type: "woken" }));
      }
    });
  }

  #do(effect: Effect): void {
    const { obey, replaced, orphaned } = this.#options;
    switch (effect.type) {
      case "connect":
        this.#connect(effect.connection, effect.target.attempt);
        break;
      case "register":
        this.#say(this.#streams.get(effect.connection), { generation: this.#executor.generation });
        break;
      case "close":
        this.#streams.get(effect.connection)?.end("broken");
        this.#streams.delete(effect.connection);
        break;
      case "joined":
        this.#sayAgain();
        break;
      case "look":
        this.#look(effect.absence);
        break;
      case "obey":
        obey(effect.message);
        break;
      case "replaced":
        replaced();
        break;
      case "suspend":
      case "resume":
        if (effect.generation === this.#executor.generation) {
          this.#options[effect.type]();
        }
        break;
      case "orphaned":
        orphaned(effect.silentMs);
        break;
      case "log":
        this.#world.trace(`  ${this.#executor.task}: ${effect.message}`);
        if (effect.event === "defect") {
          this.#world.problems.push(effect.message);
        }
        break;
    }
  }

  /** Says again what was dropped because no stream was welcomed (executor/reports.ts). */
  #sayAgain(): void {
    const { unacknowledgedExit, progress } = this.#executor.program;
    for (const report of [unacknowledgedExit, progress]) {
      if (report !== undefined) {
        this.report(report);
      }
    }
  }

  /** Where no attempt serves, nobody listens; what is sent to an attempt that cannot be reached gets no answer. */
  #connect(connection: number, attempt: number): void {
    const { attempts, clock, random } = this.#world;
    const master = attempts.find(attempt);
    if (master?.isServing === true) {
      const heard = (message: MasterMessage) =>
        this.#reach(() => this.#post({ type: "message", connection, message, generation: this.#executor.generation }));
      const lost = () => this.#lose(connection);
      this.#streams.set(connection, new Stream(this.#world, this.#executor, master, heard, lost));
    } else {
      clock.after(random.integer(1, 50), () => this.#lose(connection));
    }
  }

  #look(absence: number): void {
    const { clock, random } = this.#world;
    const news = this.#options.look();
    clock.after(random.integer(10, LONGEST_LOOK_MS), () => {
      const { master } = this.#world;
      const address = master.isServing ? { master: master.address } : {};
      this.#reach(() => this.#post({ type: "looked", absence, news: news && { ...news, ...address } }));
    });
  }

  #beat(): void {
    const { alive, frozen, generation, nowMs } = this.#executor;
    if (!alive) {
      return;
    }
    const stream = this.#stream;
    if (stream?.isOpen === true && !frozen) {
      const report = { type: "heartbeat", sentAtMs: nowMs } as const;
      stream.sayAtOnce((links) => links.report(stream, generation, report));
    }
    this.#world.clock.after(this.#world.spec.timeouts.heartbeatIntervalMs, () => this.#beat());
  }

  /** Streams repeat nothing, but what was heard may be said again as long as it is true. */
  #say(stream: Stream | undefined, saying: Saying): void {
    const executor = this.#executor;
    if (stream?.isOpen !== true) {
      return;
    }
    const hear = this.#hearing(stream, saying);
    const { report } = saying;
    stream.say((links) => {
      hear(links);
      if (report?.type === "child-exited") {
        this.#tellOfOutput(stream, links, saying.generation, report.exit);
      }
    });
    const { random, weather } = this.#world;
    if (random.chance(weather.duplicates)) {
      const { state } = executor.program.child;
      const isTrue = () =>
        executor.alive && saying.generation === executor.generation && state === executor.program.child.state;
      stream.sayAgain((links) => (saying.report !== undefined || isTrue()) && hear(links));
    }
  }

  /**
   * Reported together with the exit, so that it takes no time of its own. A program that is stopped because the job has
   * ended brings nothing.
   */
  #tellOfOutput(stream: Stream, links: ExecutorLinks, generation: number, exit: ChildExit): void {
    if (this.#world.spec.carrier === undefined) {
      return;
    }
    const state = exit.stopReason?.code === "job-ended" ? "failed" : "done";
    const url = `hdfs:///results/${stream.containerId}`;
    const transfer = { what: "output", state, url, files: 1, bytes: 1, step: 0, atMs: exit.atMs, reason: "" } as const;
    links.report(stream, generation, { type: "transfer", transfer });
  }

  #hearing(stream: Stream, { generation, report }: Saying): (links: ExecutorLinks) => void {
    if (report !== undefined) {
      return (links) => links.report(stream, generation, report);
    }
    const registration = this.#executor.registration();
    return (links) => stream.register(links, registration);
  }
}
