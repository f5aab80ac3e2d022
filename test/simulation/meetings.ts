import type { ChildExit } from "../../am/core/state/events.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { ExecutorModel } from "./executor-model.ts";
import { elasticRole, isJoiner } from "./ground-truth.ts";

/** How an agent of torchrun ends that comes when the others have closed their meeting. */
export const CLOSED: Partial<ChildExit> = { exitCode: 1, missedMeeting: "closed" };

/** A program that comes this much later than the first has missed the others' start. */
const LATE_MS = 3_000;

/** How long the common work lasts for a program that comes. */
type Lasts = number | "closed";

interface Meeting {
  readonly begunAtMs: number;
  /** When the common work is done. */
  readonly endsAtMs: number;
  isClosed: boolean;
}

/**
 * Where the programs of an elastic role meet, as agents of torchrun do: those of one generation, and those that join them later. They meet
 * at the program of the first task, and wait for it. They end together, and the first one that ends by itself closes the meeting for good.
 */
export class Meetings {
  readonly #spec: JobSpec;
  readonly #meetings = new Map<string, Meeting>();
  readonly #waiting = new Map<string, ((lasts: Lasts) => void)[]>();

  constructor(spec: JobSpec) {
    this.#spec = spec;
  }

  /** @param met is called with how long the program has to run, if not `runsForMs`, as soon as the first task's program is there */
  join(executor: ExecutorModel, nowMs: number, runsForMs: number, met: (lasts: Lasts) => void): void {
    const name = this.#nameOf(executor);
    const known = this.#meetings.get(name ?? "");
    if (name === undefined) {
      met(runsForMs);
    } else if (known !== undefined) {
      met(lastsFor(known, nowMs));
    } else if (isJoiner(this.#spec, executor.task)) {
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), met]);
    } else {
      const meeting = { begunAtMs: nowMs, endsAtMs: nowMs + runsForMs, isClosed: false };
      this.#meetings.set(name, meeting);
      met(runsForMs);
      for (const other of this.#waiting.get(name) ?? []) {
        other(lastsFor(meeting, nowMs));
      }
      this.#waiting.delete(name);
    }
  }

  /** Whether the program came late and finds the meeting closed when it is ready to join it. */
  isMissedBy(executor: ExecutorModel, startedAtMs: number): boolean {
    const meeting = this.#meetings.get(this.#nameOf(executor) ?? "");
    return meeting?.isClosed === true && startedAtMs > meeting.begunAtMs + LATE_MS;
  }

  ended(executor: ExecutorModel, { signal, stopReason }: ChildExit): void {
    const meeting = this.#meetings.get(this.#nameOf(executor) ?? "");
    if (meeting !== undefined && signal === "" && stopReason === undefined) {
      meeting.isClosed = true;
    }
  }

  #nameOf({ task, gangGeneration }: ExecutorModel): string | undefined {
    const role = elasticRole(this.#spec, task);
    return role && `${role.name} ${gangGeneration}`;
  }
}

function lastsFor({ endsAtMs, isClosed }: Meeting, nowMs: number): Lasts {
  return isClosed ? "closed" : Math.max(1_000, endsAtMs - nowMs);
}
