import type { Checkpoint } from "../../../src/job/execution.ts";
import type { DroppedCheckpoint } from "../../../src/job/status.ts";
import type { Ending, GenerationRecord, Payer, Suspension, Verdict } from "./failures.ts";
import type { Deadline } from "./records.ts";

/** What each means, and what may follow, is in `gang-moves.ts`. */
export type GangPhase = "ahead" | "gathering" | "running" | "ending" | "restarting" | "done" | "over";

/** How a gang that is not complete holds a part of its containers. */
export interface Hold {
  /** How long it does; absent while it holds none, or all. */
  deadline: Deadline | undefined;
  /** How often it gave them back. */
  returns: number;
  /** When it asks for containers again; 0 while it does. */
  askAgainAtMs: number;
  /** Since when it does not. */
  pausedAtMs: number;
  /** The memory that it gave back the last time. */
  returnedMiB: number;
  /** Others took of that: it holds for a shorter time. */
  isContended: boolean;
  /** What it needs together is more than the cluster has for it: it holds nothing, and only looks whether that has changed. */
  isVain: boolean;
}

/** Of a gang that has given nothing back since it last ran. */
export const NO_HOLD: Readonly<Hold> = {
  deadline: undefined,
  returns: 0,
  askAgainAtMs: 0,
  pausedAtMs: 0,
  returnedMiB: 0,
  isContended: false,
  isVain: false,
};

/** Roles that are asked for, start, fail and restart together. A job without stages is one gang; of a search each trial may be one. */
export interface GangState {
  /** Its place among the job's gangs. */
  readonly position: number;
  /** The positions of its roles. */
  readonly roles: readonly number[];
  phase: GangPhase;
  /** When it was first asked for; the job's start where it waits for no other. */
  begunAtMs: number;
  /** Unique in the job, as those of tasks that live on their own are; 0 while it is ahead. */
  generation: number;
  /** When the back-off before this generation's start is over. */
  startNotBeforeMs: number;
  restartReason: string;
  /** When those that may run on after the chief are stopped; 0 while that is not the case. */
  graceEndsAtMs: number;
  readonly verdicts: Verdict[];
  /** How long its programs have to stop. */
  stopDeadline: Deadline | undefined;
  /** Failures that ended nothing, because they are tolerated: what other tasks fail of may follow from them. */
  readonly tolerated: Ending[];
  /** The first exit with 0 of its generation: what others fail of may follow from it; see cause.ts. */
  firstExit: Ending | undefined;
  /** The last suspension of each program that was suspended of late: what others fail of may follow from it; see cause.ts. */
  readonly suspensions: Suspension[];
  readonly generations: GenerationRecord[];
  /** Restarts that a budget paid for, oldest first. */
  readonly charges: (Payer & { readonly atMs: number })[];
  /** The furthest complete one that can be read wherever a task runs. */
  checkpoint: Checkpoint | undefined;
  /** The furthest one that lay in a container and does not count any more, while nothing that counts is as far. */
  droppedCheckpoint?: DroppedCheckpoint | undefined;
  readonly hold: Hold;
  /** How long a gang that could start with those that are there waits for the rest. */
  restDeadline?: Deadline | undefined;
}
