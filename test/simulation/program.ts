import type { ChildExit, ChildReport } from "../../am/core/state/events.ts";
import type { ExecutorReport } from "../../src/api/messages.ts";
import type { StopReason } from "../../src/job/reasons/stops.ts";
import { parseTaskId } from "../../src/job/task.ts";
import { childExit } from "../support/child-exit.ts";
import { programsFault } from "./causes.ts";
import type { ExecutorModel } from "./executor-model.ts";
import { CLOSED } from "./meetings.ts";
import { programEnded } from "./program-ends.ts";
import { Suspension } from "./suspension.ts";
import type { World } from "./world.ts";

/** How long an agent of torchrun takes from its start until it has joined the others. */
const JOINING_MS = 4_000;

/** How a program ends when nothing intervenes. */
export interface ProgramPlan {
  /** Absent: it runs until it is stopped, as a parameter server does. */
  readonly runsForMs?: number;
}

/** A program that reports steps and then stood still. */
export interface Hang {
  readonly task: string;
  /** When its last step was reported. */
  readonly sinceMs: number;
  endedAtMs?: number;
  /** Whether it was stopped because it hung. */
  noticed: boolean;
}

export type Report = Exclude<ExecutorReport, { type: "register" | "unknown" }>;

/** An executor's programs, one after another: each generation has its own. */
export class ModelProgram {
  /** The program as its executor would report it; `none` before its start. */
  child: ChildReport = { state: "none" };
  readonly #world: World;
  readonly #executor: ExecutorModel;
  /** The generation of the program that was started last; 0 while there was none. */
  lastGeneration = 0;
  /** Counts starts and ends, so that what was begun in an earlier life is recognised. */
  #life = 0;
  #suspension: Suspension;
  /** The life that it was told to end. */
  #stopping: number | undefined;
  #progress: Extract<Report, { type: "child-progress" }> | undefined;
  #reportedAtMs = 0;
  #hang: Hang | undefined;
  #isExitAcknowledged = false;

  constructor(world: World, executor: ExecutorModel) {
    this.#world = world;
    this.#executor = executor;
    this.#suspension = new Suspension(world.clock);
  }

  get isRunning(): boolean {
    return this.child.state === "running";
  }

  get isSuspended(): boolean {
    return this.#suspension.isOn;
  }

  /** The last report of the present program. */
  get progress(): Extract<Report, { type: "child-progress" }> | undefined {
    return this.#progress;
  }

  /** The end of the present program, as long as its ApplicationMaster has not recorded it. */
  get unacknowledgedExit(): Report | undefined {
    return this.child.state === "exited" && !this.#isExitAcknowledged
      ? { type: "child-exited", exit: this.child.exit }
      : undefined;
  }

  get report(): ChildReport {
    const { suspendedMs } = this.#executor.connection;
    return this.child.state !== "none" && suspendedMs > 0 ? { ...this.child, suspendedMs } : this.child;
  }

  /** Its executor is to start another program. */
  renew(): void {
    this.child = { state: "none" };
    this.#progress = undefined;
  }

  start(): void {
    const life = ++this.#life;
    const { clock, spec } = this.#world;
    const startedAtMs = this.#executor.nowMs;
    this.#suspension = new Suspension(clock);
    this.child = { state: "running", pid: life + 100, startedAtMs };
    this.lastGeneration = this.#executor.generation;
    this.#world.programStarted(this.#executor);
    this.#executor.connection.programStarted();
    this.#executor.report({ type: "child-started", pid: life + 100, atMs: startedAtMs });
    this.#reportSteps(life, 1);
    const { executionMs } = spec.timeouts;
    if (executionMs !== undefined) {
      this.#suspension.after(executionMs, () => {
        if (life === this.#life) {
          this.stop({ code: "ran-too-long", limitMs: executionMs }, () => {});
        }
      });
    }
    const { runsForMs } = this.#world.programOf(this.#executor.task);
    if (runsForMs !== undefined) {
      this.#joinOthers(life);
      this.#world.meetings.join(this.#executor, clock.nowMs, runsForMs, (lasts) => this.#endAfter(life, lasts));
    }
  }

  /** A program that joins when the others are just about to end is too late. */
  #joinOthers(life: number): void {
    const { clock, meetings } = this.#world;
    const startedAtMs = clock.nowMs;
    this.#suspension.after(JOINING_MS, () => {
      if (life === this.#life && meetings.isMissedBy(this.#executor, startedAtMs)) {
        this.end(CLOSED);
      }
    });
  }

  #endAfter(life: number, lasts: number | "closed"): void {
    const [runsForMs, exit] = lasts === "closed" ? [0, CLOSED] : [lasts, {}];
    this.#suspension.after(runsForMs + this.#world.random.integer(0, 2_000), () => {
      if (life === this.#life && this.#hang === undefined) {
        this.end(exit);
      }
    });
  }

  /** The program ends by itself, or by something outside. */
  end(exit: Partial<ChildExit>): void {
    if (!this.#executor.alive || !this.isRunning) {
      return;
    }
    if (this.isSuspended && exit.stopReason === undefined && exit.signal !== "SIGKILL") {
      this.#suspension.whenOver(() => this.end(exit));
      return;
    }
    const whole = childExit(this.#executor.nowMs, exit);
    if (this.#hang !== undefined) {
      this.#hang.noticed = whole.stopReason?.code === "hung";
    }
    this.#endLife();
    this.child = { state: "exited", exit: whole };
    this.#isExitAcknowledged = false;
    this.#executor.connection.programEnded();
    programEnded(this.#world, this.#executor, whole);
    this.#executor.report({ type: "child-exited", exit: whole });
  }

  /** The program is told to stop, and does so within its grace. */
  stop(reason: StopReason, then: () => void): void {
    const { clock, random, spec } = this.#world;
    const { stopGraceMs } = spec.timeouts;
    if (!this.isRunning) {
      then();
      return;
    }
    if (this.isSuspended) {
      this.end({ signal: "SIGKILL", stopReason: reason });
      then();
      return;
    }
    if (this.#stopping === this.#life) {
      clock.after(stopGraceMs, then);
      return;
    }
    const life = this.#life;
    this.#stopping = life;
    clock.after(random.integer(1, stopGraceMs), () => {
      if (life === this.#life) {
        this.#endStopped(reason);
      }
      if (this.#executor.alive && !this.#executor.frozen) {
        then();
      }
    });
  }

  /** The program stands still from now on: it reports no step and does not end. */
  hang(): void {
    if (this.#executor.alive && this.isRunning && this.#progress !== undefined && this.#hang === undefined) {
      const hang = { task: this.#executor.task, sinceMs: this.#reportedAtMs, noticed: false };
      this.#hang = hang;
      this.#world.hangs.push(hang);
      const dueMs = hang.sinceMs + (this.#world.spec.timeouts.progressMs ?? 0);
      this.#world.clock.after(dueMs - this.#world.clock.nowMs, () => {
        if (this.#hang === hang) {
          // It is not certain that its executor can still be told to stop it, and can report that.
          programsFault(this.#world, this.#executor, true, false);
        }
      });
    }
  }

  suspend(): void {
    this.#suspension.begin();
  }

  /** @returns whether it was suspended */
  resume(): boolean {
    return this.#suspension.end();
  }

  /** The ApplicationMaster has recorded its end. */
  exitAcknowledged(): void {
    this.#isExitAcknowledged = true;
  }

  /** The program dies with its container. */
  die(): void {
    if (this.isRunning) {
      this.#world.witness.ended(this.#executor, undefined, this.#world.clock.nowMs);
    }
    this.#endLife();
  }

  #endStopped(reason: StopReason): void {
    const { random, weather } = this.#world;
    const isGood = weather.goodStops > 0 && random.chance(weather.goodStops);
    const signal = this.isSuspended ? "SIGKILL" : isGood ? "" : "SIGTERM";
    this.end({ signal, exitCode: 0, stopReason: reason });
  }

  /** Reports a step now, and another one after every quarter of the time within which one is due. */
  #reportSteps(life: number, step: number): void {
    const { clock, spec, overlap } = this.#world;
    const { progressMs } = spec.timeouts;
    if (progressMs === undefined || life !== this.#life || this.#hang !== undefined) {
      return;
    }
    overlap.runs(this.#executor);
    const atMs = this.#executor.nowMs;
    const checkpoint = { path: checkpointPath(step, this.#executor.containerId), step, atMs };
    this.#reportedAtMs = clock.nowMs;
    const metrics = spec.search && { [spec.search.metric]: lossOf(this.#executor.task, step) };
    const said = { ...(metrics && { metrics }), ...(step % 2 === 0 ? { checkpoint } : {}) };
    this.#progress = { type: "child-progress", step, atMs, ...said };
    if (!this.#executor.frozen) {
      this.#executor.report(this.#progress);
    }
    this.#suspension.after(progressMs / 4, () => this.#reportSteps(life, step + 1));
  }

  #endLife(): void {
    this.#life++;
    if (this.#hang !== undefined) {
      this.#hang.endedAtMs = this.#world.clock.nowMs;
      this.#hang = undefined;
    }
  }
}

/** The loss of a trial: some are better than others, and all of them improve, except for one whose loss becomes NaN. */
function lossOf(task: string, step: number): number {
  const rank = ((parseTaskId(task)?.index ?? 0) * 7) % 11;
  return rank === 10 && step > 2 ? Number.NaN : rank + 1 / step;
}

/** Only its own container can read every second checkpoint. */
function checkpointPath(step: number, containerId: string): string {
  return step % 4 === 0 ? `hdfs:///ckpt/${step}` : `/${containerId}/${step}`;
}
