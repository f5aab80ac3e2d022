import type { Checkpoint } from "../../../src/job/execution.ts";
import type { EndingReason } from "../../../src/job/reasons/endings.ts";
import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import type { Cause, FailureClass } from "../../../src/job/status.ts";
import type { Deadline, TaskRecord } from "./records.ts";

/** One task's bad end, as evidence in a verdict. */
export interface Ending {
  readonly task: string;
  readonly containerId: string;
  readonly host: string;
  readonly generation: number;
  /** The generation number of its task, where that had joined the gang late with a number of its own. */
  readonly joinedAs?: number;
  /** When it happened, by the clock of the machine that saw it. */
  readonly atMs: number;
  /** The same by our own clock, as far as we can know: decides which of two came first. */
  readonly seenAtMs: number;
  /** Higher is nearer to the root; see failures/endings.ts. */
  readonly strength: number;
  readonly class: FailureClass;
  /** The machine may be at fault: counts on the blame ladder. */
  readonly machine: boolean;
  /** A launch that the node refused through no fault of its own: counts for the task only. */
  readonly refused?: true;
  /** Who reported it: YARN's completion status replaces what was inferred from its link. */
  readonly source: "child" | "link" | "yarn" | "core";
  readonly reason: EndingReason;
  /** Whom people are told of as the root, where that is not the ending's task; empty: nobody. */
  readonly named?: { readonly task?: string; readonly host?: string; readonly containerId?: string };
  readonly exit: string;
  readonly lines: readonly string[];
  readonly remedy?: Remedy | undefined;
  /** The file that its node could not fetch for it. */
  readonly resource?: string;
  /** The failure of its program at its start, where the next start would meet it again; see `startFailureOf`. */
  readonly startFailure?: string;
}

/** How long a program was suspended because its executor was cut off. */
export interface Suspension {
  readonly task: string;
  readonly containerId: string;
  readonly host: string;
  readonly generation: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A budget of restarts for a failure class: the job's, or that of a role with its own. */
export interface Payer {
  readonly class: FailureClass;
  readonly role?: string;
}

/** `verdict-moves.ts` says what each means and what may follow. */
export type VerdictPhase = "held" | "proceeded" | "doubted";

/** What ended one generation; open until every task of it is accounted for, or the time is up. */
export interface Verdict {
  readonly generation: number;
  /** The task that lives on its own and whose life this is about; empty: the gang. */
  readonly scope: string;
  /** When the evidence must be complete; absent once that time is up. */
  deadline: Deadline | undefined;
  /** By task. */
  endings: Record<string, Ending>;
  /** The task whose ending is the strongest so far; among equals, the earliest. */
  root: string;
  /**
   * The state of tasks in the generation when they went on to the next one: a verdict that ends the job is about these lives.
   */
  readonly lives: Record<string, TaskRecord>;
  /** Containers whose tasks' ends are not known yet, by id. */
  unaccounted: Record<string, true>;
  /** The budget that is charged at present; absent when none was left. */
  charged: Payer | undefined;
  phase: VerdictPhase;
}

export interface GenerationRecord {
  readonly generation: number;
  readonly startedAtMs: number;
  /** When the last of its containers so far was allocated; absent where it kept all. */
  allocatedAtMs?: number;
  /** When the last of the executors started for it had begun. */
  localizedAtMs?: number;
  /** When its cluster spec was sent; where an earlier attempt may have sent it, when that was found out. */
  specAtMs: number | undefined;
  /** When all of its programs ran or, where each starts by itself, the first did. */
  runningAtMs: number | undefined;
  endedAtMs: number | undefined;
  endedBy: Cause | undefined;
  resumedFrom: Checkpoint | undefined;
  /** The failure of all of it at its start; see `sharedStartFailure`. */
  startFailure?: string | undefined;
}

export interface NodeBlame {
  failures: number;
  excluded: boolean;
}
