import type { WallClock } from "../src/hadoop/clock.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { endedBecause } from "../src/job/outcome.ts";
import type { JobOutcome } from "../src/job/status.ts";
import type { Log } from "../src/log.ts";
import { inTime } from "./bounded.ts";
import type { StatusFeed } from "./clients/status-feed.ts";
import type { Effect, Rejoin } from "./core/state/effects.ts";
import type { Event } from "./core/state/events.ts";
import type { ExecutorLinks } from "./executors/executor-links.ts";
import type { Launcher } from "./executors/launcher.ts";
import { Mailbox } from "./mailbox.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import type { DroppedCheckpoints } from "./storage/dropped-checkpoints.ts";
import type { JobHistory } from "./storage/history.ts";
import type { JournalWriter } from "./storage/journal.ts";

/** The job's decisions; see am/core/core.ts. */
export interface Decisions {
  step(event: Event, nowMs: number): readonly Effect[];
}

export interface ShellOptions {
  readonly clock: WallClock;
  readonly core: Decisions;
  readonly scheduler: Scheduler;
  readonly links: Pick<ExecutorLinks, "send" | "handOver">;
  readonly feed: Pick<StatusFeed, "changed" | "finish">;
  readonly journal: Pick<JournalWriter, "write">;
  readonly history: Pick<JobHistory, "add">;
  readonly launcher: Pick<Launcher, "command">;
  readonly checkpoints: Pick<DroppedCheckpoints, "remove">;
  readonly log: Log;
  /** Called when this process stood still for `gapMs`. */
  readonly stoodStill: (gapMs: number) => void;
  /** Looks for the executors of an earlier attempt. */
  readonly rejoin: (executors: readonly Rejoin[]) => void;
  /**
   * Called before the ResourceManager is told: starts to write the complete history, and sends the rest of the logs to their
   * readers.
   */
  readonly beforeUnregister: (outcome: JobOutcome) => Promise<void>;
  /** The end of this process. */
  readonly exit: (exitCode: number, cleanStaging: boolean) => Promise<void>;
}

/** After a longer gap this process may have been replaced; see Fence. */
const longestGapMs = 5_000;
const tickMs = 500;
/** How long, after a bug, the outcome is reported to a ResourceManager that does not answer. */
const finishLimitMs = 30_000;

/**
 * Carries out what the core decides, and tells it what happens. Everything passes through one mailbox, one event at a time; the
 * results of effects come back as events, never within the step that made them.
 */
export class Shell {
  readonly #options: ShellOptions;
  readonly #mailbox: Mailbox<Event>;
  /** Cancels the wake-up that the core asked for. */
  #cancelWakeUp: (() => void) | undefined;
  #cancelTick: (() => void) | undefined;
  #failing = false;

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#mailbox = new Mailbox<Event>({
      clock: options.clock,
      handle: (event) => this.#handle(event),
      failed: (error) => void this.fail(error),
      stoodStill: (gapMs) => {
        options.stoodStill(gapMs);
        return { type: "paused" };
      },
      fence: {
        longestGapMs,
        confirm: () => this.#confirm(),
        passes: (event) => event.type === "resource-manager-shutdown",
        superseded: () => void this.#leave("another attempt has taken over while this one was paused"),
      },
    });
    this.#beat();
  }

  post(event: Event): void {
    this.#mailbox.post(event);
  }

  /** To be called before anybody is judged for not being heard: this process may have stood still. */
  tick(): void {
    this.#mailbox.tick();
  }

  /** From now on nothing is decided or carried out. */
  close(): void {
    this.#mailbox.close();
    this.#cancelWakeUp?.();
    this.#cancelTick?.();
  }

  /** A bug of ours: the state after it is undefined, so the job fails with that reason. */
  async fail(error: unknown): Promise<void> {
    if (this.#failing) return;
    this.#failing = true;
    this.close();
    const { log, clock, feed, scheduler, beforeUnregister, exit } = this.#options;
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    const ended = endedBecause("failed", { code: "am-defect", error: errorMessage(error) });
    log.error("defect", ended.summary, { stack });
    const outcome: JobOutcome = { ...ended, endedAtMs: clock.nowMs() };
    try {
      feed.finish(outcome);
      await beforeUnregister(outcome);
      await inTime(finishLimitMs, "telling the outcome", scheduler.finish(outcome));
    } catch (second) {
      log.error("defect", `The ResourceManager could not be told: ${errorMessage(second)}`);
    }
    await exit(1, true);
  }

  #handle(event: Event): void {
    for (const effect of this.#options.core.step(event, this.#options.clock.nowMs())) this.#carryOut(effect);
  }

  #carryOut(effect: Effect): void {
    const { scheduler, links, feed, history, launcher, log } = this.#options;
    switch (effect.type) {
      case "ask":
        scheduler.ask(effect.asks);
        break;
      case "release":
        scheduler.release(effect.containerIds);
        break;
      case "blacklist":
        scheduler.blacklist(effect.hosts);
        break;
      case "launch":
        scheduler.launch(effect.launches.map((launch) => launcher.command(launch)));
        break;
      case "relaunch":
        for (const launch of effect.launches) {
          links.handOver(launch);
          this.post({ type: "launch-succeeded", containerId: launch.containerId });
        }
        break;
      case "stop-container":
        scheduler.stop(effect.containerId);
        break;
      case "send":
        links.send(effect.to, effect.message);
        break;
      case "wake-at":
        this.#wakeAt(effect.atMs);
        break;
      case "journal":
        void this.#writeJournal(effect);
        break;
      case "rejoin":
        this.#options.rejoin(effect.executors);
        break;
      case "record":
        history.add({ record: "event", ...effect.event });
        break;
      case "log":
        log[effect.level](effect.event, effect.message, effect.fields);
        break;
      case "remove-checkpoints":
        void this.#options.checkpoints.remove(effect.tasks);
        break;
      case "publish-status":
        feed.changed();
        break;
      case "unregister":
        void this.#unregister(effect.outcome);
        break;
      case "exit":
        void this.#exit(effect.exitCode, effect.cleanStaging);
        break;
    }
  }

  #wakeAt(atMs: number): void {
    const { clock } = this.#options;
    this.#cancelWakeUp?.();
    this.#cancelWakeUp = clock.after(Math.max(0, atMs - clock.nowMs()), () => this.post({ type: "wake-up" }));
  }

  async #writeJournal({ sequence, snapshot, part }: Extract<Effect, { type: "journal" }>): Promise<void> {
    try {
      await this.#options.journal.write(sequence, snapshot, part);
      this.post({ type: "journal-written", sequence });
    } catch (error) {
      this.post({ type: "journal-failed", sequence, message: errorMessage(error) });
    }
  }

  /** Clients get the outcome first, so they do not wait for another service's answer. */
  async #unregister(outcome: JobOutcome): Promise<void> {
    const { feed, beforeUnregister, scheduler } = this.#options;
    try {
      feed.finish(outcome);
      await beforeUnregister(outcome);
      const isPutDown = await scheduler.finish(outcome);
      this.post({ type: "unregistered", isPutDown });
    } catch (error) {
      await this.fail(error);
    }
  }

  async #exit(exitCode: number, cleanStaging: boolean): Promise<void> {
    this.close();
    await this.#options.exit(exitCode, cleanStaging);
  }

  async #confirm(): Promise<boolean> {
    const { log, scheduler } = this.#options;
    log.warn("paused", "This process was paused; it goes on when the ResourceManager has confirmed this attempt.");
    const current = await scheduler.confirm();
    if (current) log.info("confirmed", "The ResourceManager has confirmed this attempt: the job goes on.");
    return current;
  }

  /** Touches nothing: the job is another attempt's now. */
  async #leave(reason: string): Promise<void> {
    this.#options.log.warn("attempt-over", `This attempt is over and touches nothing more: ${reason}.`);
    await this.#exit(1, false);
  }

  #beat(): void {
    this.tick();
    this.#cancelTick = this.#options.clock.after(tickMs, () => this.#beat());
  }
}
