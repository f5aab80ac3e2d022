import type { ChildExit } from "../../am/core/state/events.ts";
import type { ExecutorLinks } from "../../am/executors/executor-links.ts";
import type { Absence } from "./absence.ts";
import type { ExecutorModel } from "./executor-model.ts";
import type { Master } from "./master.ts";
import { isReachable } from "./node.ts";
import type { Report } from "./program.ts";
import { Stream } from "./stream.ts";
import type { World } from "./world.ts";

/** An executor that reaches no ApplicationMaster, or stands still, tries again so much later. */
export const SEARCH_AGAIN_MS = 1_000;

/** What an executor has to say, and of which generation: a registration, or a report. */
type Saying = { readonly generation: number; readonly report?: Report };

/** How an executor finds the present ApplicationMaster, and what it says to it, over one stream after another. */
export class MasterConnection {
  /** The attempt of the ApplicationMaster that the executor obeys. */
  attempt = 0;
  readonly #world: World;
  readonly #executor: ExecutorModel;
  readonly #absence: Absence;
  #stream: Stream | undefined;
  /** Counts its searches for an ApplicationMaster: the last one alone goes on. */
  #search = 0;
  readonly #unsent: Saying[] = [];

  constructor(world: World, executor: ExecutorModel, absence: Absence) {
    this.#world = world;
    this.#executor = executor;
    this.#absence = absence;
  }

  get isOpen(): boolean {
    return this.#stream?.isOpen === true;
  }

  /** The attempt that it was connected to last. */
  get master(): Master | undefined {
    return this.#stream?.master;
  }

  /** Looks for the present ApplicationMaster, opens a stream and says who it is. */
  open(delayMs: number): void {
    const search = ++this.#search;
    this.#world.clock.after(delayMs, () => {
      const executor = this.#executor;
      if (!executor.alive || search !== this.#search) {
        return;
      }
      const { master } = this.#world;
      if (!this.#reachesMaster || executor.frozen) {
        this.open(SEARCH_AGAIN_MS);
        return;
      }
      this.#stream?.end(this.#stream.master === master ? "replaced" : "broken");
      this.#stream = new Stream(this.#world, executor);
      this.attempt = master.attempt;
      this.register();
      this.#awaitWelcome(this.#stream);
      if (executor.program.progress !== undefined) {
        this.report(executor.program.progress);
      }
    });
  }

  /** The stream breaks; whatever was under way in it is lost. */
  break(reconnectMs: number): void {
    if (this.#stream?.isOpen !== true) {
      return;
    }
    this.#stream.end("broken");
    if (this.#executor.alive) {
      this.#absence.begin();
      this.open(reconnectMs);
    }
  }

  /** Pings are not answered any more: the ApplicationMaster finds that out for itself. */
  pingsUnanswered(): void {
    if (this.#executor.frozen) {
      // It finds that out when it goes on, where nothing has changed by then.
      this.#world.clock.after(1_000, () => {
        if (!this.#reachesMaster) {
          this.pingsUnanswered();
        }
      });
    } else if (this.#executor.alive && this.isOpen) {
      this.close();
      this.#absence.begin();
      this.open(SEARCH_AGAIN_MS);
    }
  }

  /** An ApplicationMaster that was replaced has ended: the first look into the staging folder finds the one that came after it. */
  masterEnded(master: Master): void {
    if (this.#stream?.isOpen === true && this.#stream.master === master) {
      this.#leave(500, 8_000);
    }
  }

  /** Its ApplicationMaster died: it looks for the next attempt now and then, unless that one finds it first. */
  masterDied(): void {
    this.#leave(2_000, 30_000);
  }

  #leave(soonestMs: number, latestMs: number): void {
    this.close();
    if (this.#executor.alive) {
      this.#absence.begin();
      this.open(this.#world.random.integer(soonestMs, latestMs));
    }
  }

  close(): void {
    this.#stream?.close();
  }

  register(): void {
    this.#say({ generation: this.#executor.generation });
  }

  report(report: Report): void {
    this.#say({ generation: this.#executor.generation, report });
  }

  goodbye(): void {
    const stream = this.#stream;
    stream?.say(() => stream.end("goodbye"));
  }

  /** What was to be said while its executor stood still. */
  sayUnsent(): void {
    for (const saying of this.#unsent.splice(0)) {
      this.#say(saying);
    }
  }

  beat(): void {
    const { alive, frozen, generation, nowMs } = this.#executor;
    if (!alive) {
      return;
    }
    const stream = this.#stream;
    if (stream?.isOpen === true && !frozen) {
      const report = { type: "heartbeat", sentAtMs: nowMs } as const;
      stream.sayAtOnce((links) => links.report(stream, generation, report));
    }
    this.#world.clock.after(this.#world.spec.timeouts.heartbeatIntervalMs, () => this.beat());
  }

  get #reachesMaster(): boolean {
    const { master } = this.#world;
    return isReachable(this.#executor.container.node, master.attempt) && master.isServing;
  }

  /** An ApplicationMaster is heard when it welcomes: one that stands still does so when it goes on. */
  #awaitWelcome(stream: Stream): void {
    if (this.#absence.isAway) {
      this.#world.clock.after(this.#world.random.integer(2, 100), () =>
        stream.master.process.reach(() => {
          if (stream === this.#stream && stream.isOpen && this.#reachesMaster) {
            this.#absence.end();
          }
        }),
      );
    }
  }

  /** Streams repeat nothing; but what was heard may be said again, as long as it is true. */
  #say(saying: Saying): void {
    const executor = this.#executor;
    const stream = this.#stream;
    if (executor.frozen) {
      this.#unsent.push(saying);
      return;
    }
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

  /** With the exit, so that it takes no time of its own. What is stopped because the job has ended brings nothing. */
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
