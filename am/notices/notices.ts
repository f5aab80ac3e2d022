import { IDLE_GPU_PERCENT } from "../../src/job/gpus.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { AmSpec } from "../../src/job/spec.ts";
import type { Cause, JobOutcome, JobStatus } from "../../src/job/status.ts";
import { parseTaskId, taskSpans } from "../../src/job/task.ts";
import { relativeRates, SLOW_RATE } from "../../src/page/relative-rates.ts";

/** The share of the memory that its container may use: little more ends the task. */
const NEARLY_OUT = 0.95;
const MIB = 1024 ** 2;

export type NoticeLimits = Pick<
  AmSpec,
  "notifyWaitingMs" | "notifyGpuIdleMs" | "notifyStragglerMs" | "notifyNoCheckpointMs"
>;

/** Something that people want to be told of. */
export interface Notice {
  readonly event:
    | "started"
    | "first-failure"
    | "waiting"
    | "gpu-idle"
    | "straggler"
    | "no-checkpoint"
    | "near-out-of-memory"
    | "ended";
  readonly atMs: number;
  /** What happened, in one sentence. */
  readonly text: string;
  readonly tasks?: readonly string[];
  /** What helps. */
  readonly remedy?: string;
  readonly result?: JobOutcome["result"];
}

export interface NoticesOptions {
  readonly limits: NoticeLimits;
  /** When this attempt began: an earlier one told what happened before. */
  readonly fromMs: number;
  readonly rateOf: (task: string) => number | undefined;
}

/** Finds in the job's status what people want to be told of, each thing once. It decides nothing, so it is not in the core's state. */
export class Notices {
  readonly #options: NoticesOptions;
  readonly #waits: Lasting;
  readonly #idleGpus: Lasting;
  readonly #stragglers: Lasting;
  readonly #withoutCheckpoint: Lasting;
  readonly #told = new Set<Notice["event"]>();
  readonly #nearlyOut = new Set<string>();

  constructor(options: NoticesOptions) {
    const { notifyWaitingMs, notifyGpuIdleMs, notifyStragglerMs, notifyNoCheckpointMs } = options.limits;
    this.#options = options;
    const lasting = (afterMs: number | undefined) => new Lasting(afterMs, options.fromMs);
    this.#waits = lasting(notifyWaitingMs);
    this.#idleGpus = lasting(notifyGpuIdleMs);
    this.#stragglers = lasting(notifyStragglerMs);
    this.#withoutCheckpoint = lasting(notifyNoCheckpointMs);
  }

  /** To be called regularly, and once with the outcome. */
  look(status: JobStatus): Notice[] {
    const events = [this.#started(status), this.#firstFailure(status), this.#ended(status)];
    return [...events.flatMap((notice) => this.#once(notice)), ...this.#whatLasts(status)];
  }

  #once(notice: Notice | undefined): Notice[] {
    if (notice === undefined || this.#told.has(notice.event)) return [];
    this.#told.add(notice.event);
    return notice.atMs < this.#options.fromMs ? [] : [notice];
  }

  #started({ generations, tasks }: JobStatus): Notice | undefined {
    const atMs = generations[0]?.runningAtMs;
    if (atMs === undefined) return undefined;
    return {
      event: "started",
      atMs,
      text: tasks.length === 1 ? "Its program runs" : `All ${tasks.length} programs run`,
    };
  }

  #firstFailure({ generations, outcome }: JobStatus): Notice | undefined {
    const cause = generations.find(({ endedBy }) => endedBy !== undefined)?.endedBy ?? outcome?.cause;
    return cause === undefined ? undefined : { event: "first-failure", ...failure(cause) };
  }

  #ended({ outcome, startedAtMs }: JobStatus): Notice | undefined {
    if (outcome === undefined) return undefined;
    const { result, summary, endedAtMs, cause } = outcome;
    const text = `${result.toUpperCase()} after ${durationWords(endedAtMs - startedAtMs)}: ${summary}`;
    return { event: "ended", result, ...(cause === undefined ? {} : failure(cause)), atMs: endedAtMs, text };
  }

  #whatLasts(status: JobStatus): Notice[] {
    if (status.outcome !== undefined) return [];
    const slow = [...this.#idle(status), ...this.#slow(status)];
    return [...this.#waiting(status), ...slow, ...this.#uncheckpointed(status), ...this.#outOfMemory(status)];
  }

  /** Once per role: tasks that use nearly all of their memory cross this line back and forth. */
  #outOfMemory({ tasks, roles, nowMs }: JobStatus): Notice[] {
    return roles.flatMap(({ name, memoryMiB }): Notice[] => {
      const near = tasks.filter(({ task, state, memoryBytes = 0 }) => {
        const isNear = memoryBytes >= memoryMiB * MIB * NEARLY_OUT;
        return isNear && state === "running" && parseTaskId(task)?.role === name;
      });
      if (near.length === 0 || this.#nearlyOut.has(name)) return [];
      this.#nearlyOut.add(name);
      const text = (who: string) => `${who}: ${NEARLY_OUT * 100} % of the container's memory is in use`;
      const names = near.map(({ task }) => task);
      return aboutTasks("near-out-of-memory", names, nowMs, text).map((notice) => {
        return { ...notice, remedy: `raise tony.${name}.memory` };
      });
    });
  }

  #waiting({ waits, nowMs }: JobStatus): Notice[] {
    const due = this.#waits.due(new Map(waits.map(({ cause, sinceMs }) => [cause, sinceMs])), nowMs);
    return waits
      .filter(({ cause }) => due.includes(cause))
      .map(({ what, sinceMs, reasons, remedy }) => {
        const why = reasons.length === 0 ? "" : ` (${reasons.join("; ")})`;
        const text = `Waits for ${what}${why} since ${durationWords(nowMs - sinceMs)}`;
        return { event: "waiting", atMs: nowMs, text, ...(remedy === undefined ? {} : { remedy }) };
      });
  }

  #idle({ tasks, nowMs }: JobStatus): Notice[] {
    const idle = tasks.filter(
      ({ state, gpus }) => state === "running" && (gpus?.utilization?.current ?? IDLE_GPU_PERCENT) < IDLE_GPU_PERCENT,
    );
    const due = this.#idleGpus.due(
      sinceNow(
        idle.map(({ task }) => task),
        nowMs,
      ),
      nowMs,
    );
    return aboutTasks("gpu-idle", due, nowMs, (who) => `${who}: GPUs are less than ${IDLE_GPU_PERCENT} % busy`);
  }

  #slow({ tasks, search, nowMs }: JobStatus): Notice[] {
    const running = tasks.filter(({ state }) => state === "running");
    const rates = relativeRates({ tasks: running, search }, this.#options.rateOf);
    const slow = [...rates].flatMap(([task, rate]) => (rate < SLOW_RATE ? [task] : []));
    const due = this.#stragglers.due(sinceNow(slow, nowMs), nowMs);
    return aboutTasks(
      "straggler",
      due,
      nowMs,
      (who) => `${who}: steps at less than ${SLOW_RATE} times the median rate of its role`,
    );
  }

  #uncheckpointed({ state, generations, checkpoint, nowMs }: JobStatus): Notice[] {
    const runningAtMs = generations.at(-1)?.runningAtMs;
    if (state !== "running" || runningAtMs === undefined) return [];
    const sinceMs = Math.max(runningAtMs, checkpoint?.atMs ?? 0);
    const due = this.#withoutCheckpoint.due(new Map([[String(sinceMs), sinceMs]]), nowMs);
    const text = `No checkpoint has been reported for ${durationWords(nowMs - sinceMs)}`;
    return due.map(() => ({ event: "no-checkpoint", atMs: nowMs, text }));
  }
}

function failure({ atMs, summary, task, remedy }: Cause): Pick<Notice, "atMs" | "text" | "tasks" | "remedy"> {
  return {
    atMs,
    text: summary,
    ...(task === undefined ? {} : { tasks: [task] }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}

function sinceNow(tasks: readonly string[], nowMs: number): Map<string, number> {
  return new Map(tasks.map((task) => [task, nowMs]));
}

function aboutTasks(
  event: Notice["event"],
  tasks: readonly string[],
  atMs: number,
  text: (who: string) => string,
): Notice[] {
  return tasks.length === 0 ? [] : [{ event, atMs, tasks, text: text(taskSpans(tasks)) }];
}

/** Reports a condition once it has lasted long enough; one that has ended may be reported again later. */
export class Lasting {
  readonly #afterMs: number;
  readonly #fromMs: number;
  #known = new Map<string, { readonly sinceMs: number; readonly isTold: boolean }>();

  /**
   * @param afterMs undefined: never
   * @param fromMs an earlier attempt has reported what was due before
   */
  constructor(afterMs: number | undefined, fromMs: number) {
    this.#afterMs = afterMs ?? Number.POSITIVE_INFINITY;
    this.#fromMs = fromMs;
  }

  /**
   * To be called regularly.
   * @param now all conditions that hold now, each with its start as far as the status says
   * @returns those to be reported now
   */
  due(now: ReadonlyMap<string, number>, nowMs: number): string[] {
    const before = this.#known;
    const due: string[] = [];
    this.#known = new Map();
    for (const [name, seenMs] of now) {
      const { sinceMs, isTold } = before.get(name) ?? { sinceMs: seenMs, isTold: false };
      const isDue = !isTold && nowMs - sinceMs >= this.#afterMs;
      if (isDue && sinceMs + this.#afterMs >= this.#fromMs) due.push(name);
      this.#known.set(name, { sinceMs, isTold: isTold || isDue });
    }
    return due;
  }
}
