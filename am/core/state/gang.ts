import type { Checkpoint } from "../../../src/job/execution.ts";
import type { DroppedCheckpoint } from "../../../src/job/status.ts";
import type { Ending, GenerationRecord, Payer, Suspension, Verdict } from "./failures.ts";
import type { Deadline } from "./records.ts";

/** `gang-moves.ts` says what each means and what may follow. */
export type GangPhase = "ahead" | "gathering" | "running" | "ending" | "restarting" | "done" | "over";

/** How a gang that is not complete holds some of its containers. */
export interface Hold {
  /** How long it holds them; absent while it holds none, or all. */
  deadline: Deadline | undefined;
  /** How often it gave them back. */
  returns: number;
  /** When it asks for containers again; 0 while it is asking. */
  askAgainAtMs: number;
  /** Since when it has not been asking. */
  pausedAtMs: number;
  /** The memory that it gave back the last time. */
  returnedMiB: number;
  /** Others took some of that: it holds for a shorter time. */
  isContended: boolean;
  /** It needs more in all than the cluster has for it: it holds nothing, and only checks whether that has changed. */
  isVain: boolean;
}

/** The hold of a gang that has given nothing back since it last ran. */
export const NO_HOLD: Readonly<Hold> = {
  deadline: undefined,
  returns: 0,
  askAgainAtMs: 0,
  pausedAtMs: 0,
  returnedMiB: 0,
  isContended: false,
  isVain: false,
};

/** Roles that are asked for, start, fail and restart together. A job without stages is one gang; in a search each trial may be one. */
export interface GangState {
  /** Its place among the job's gangs. */
  readonly position: number;
  /** The positions of its roles. */
  readonly roles: readonly number[];
  phase: GangPhase;
  /** When it was first asked for; the job's start where it waits for no other. */
  begunAtMs: number;
  /** Unique in the job, also among tasks that live on their own; 0 while the gang is ahead. */
  generation: number;
  /** When the back-off before this generation's start is over. */
  startNotBeforeMs: number;
  restartReason: string;
  /** When tasks that may run on after the chief are stopped; 0 while there is no such limit. */
  graceEndsAtMs: number;
  readonly verdicts: Verdict[];
  /** How long its programs have to stop. */
  stopDeadline: Deadline | undefined;
  /** Failures that ended nothing, because they are tolerated: other tasks' failures may follow from them. */
  readonly tolerated: Ending[];
  /** The first exit with 0 in its generation: other tasks' failures may follow from it; see cause.ts. */
  firstExit: Ending | undefined;
  /** The last suspension of each program that was suspended recently: other tasks' failures may follow from it; see cause.ts. */
  readonly suspensions: Suspension[];
  readonly generations: GenerationRecord[];
  /** Restarts that a budget paid for, oldest first. */
  readonly charges: (Payer & { readonly atMs: number })[];
  /** The furthest complete checkpoint that can be read wherever a task runs. */
  checkpoint: Checkpoint | undefined;
  /** The furthest checkpoint that lay in a container and no longer counts, while none that counts is as far. */
  droppedCheckpoint?: DroppedCheckpoint | undefined;
  readonly hold: Hold;
  /** How long a gang that could start with the tasks it has waits for the rest. */
  restDeadline?: Deadline | undefined;
}
