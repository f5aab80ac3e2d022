import type { ChildExit } from "../../am/core/state/events.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { ExecutorModel } from "./executor-model.ts";
import { elasticRole } from "./ground-truth.ts";

/** How an agent of torchrun ends that comes when the others have closed their meeting. */
export const CLOSED: Partial<ChildExit> = { exitCode: 1, missedMeeting: "closed" };

/** One that comes so much later than the first has missed their start. */
const LATE_MS = 3_000;

interface Meeting {
  readonly begunAtMs: number;
  /** When what they do together is done. */
  readonly endsAtMs: number;
  isClosed: boolean;
}

/**
 * Where the programs of an elastic role meet, as agents of torchrun do: those of one generation, and those that join them later. They end
 * together, and the first that ends by itself closes the meeting for good.
 */
export class Meetings {
  readonly #spec: JobSpec;
  readonly #meetings = new Map<string, Meeting>();

  constructor(spec: JobSpec) {
    this.#spec = spec;
  }

  /** How long a program that comes now has to run, if not `runsForMs`. */
  join(executor: ExecutorModel, nowMs: number, runsForMs: number): number | "closed" {
    const name = this.#nameOf(executor);
    if (name === undefined) {
      return runsForMs;
    }
    const known = this.#meetings.get(name);
    if (known === undefined) {
      this.#meetings.set(name, { begunAtMs: nowMs, endsAtMs: nowMs + runsForMs, isClosed: false });
      return runsForMs;
    }
    return known.isClosed ? "closed" : Math.max(1_000, known.endsAtMs - nowMs);
  }

  /** Whether the program came late, and finds the meeting closed when it is ready to join it. */
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
