import type { ContainerTime } from "../../../src/job/search/container-time.ts";
import type { Resource } from "../../../src/job/spec.ts";
import type { JobOutcome, Takeover } from "../../../src/job/status.ts";
import type { CountedResources, Event, NodeView } from "./events.ts";
import type { NodeBlame } from "./failures.ts";
import type { GangState } from "./gang.ts";
import type { ContainerRecord, Deadline, RoleAsk, RoleState, TaskRecord } from "./records.ts";

/** `job-moves.ts` says what each means and what may follow. */
export type JobPhase = "starting" | "under-way" | "finishing" | "over";

export interface CoreState {
  readonly applicationId: string;
  readonly amHost: string;
  readonly amContainerId: string;
  readonly attempt: number;
  /** When the first attempt started. */
  startedAtMs: number;
  phase: JobPhase;
  /** Later attempts that took the job over. */
  readonly takeovers: Takeover[];
  /** Events that a later attempt heard before it knew the job; see early.ts. */
  readonly early: Event[];
  readonly gangs: GangState[];
  /** The highest number given to any life of any task. */
  lastGeneration: number;
  /** How long roles may still run on after the end of a group, by the number of the limit in the job. */
  readonly groupDeadlines: Record<string, Deadline>;
  /** Roles that the job waited for and no longer does. */
  readonly untracked: string[];
  readonly tasks: TaskRecord[];
  readonly roles: RoleState[];
  /** By role. */
  readonly asks: RoleAsk[];
  /** How long hosts that bring nothing are still named. */
  hintsDeadline: Deadline | undefined;
  readonly containers: Record<string, ContainerRecord>;
  /** Containers that have ended, so that later messages about them are recognised as late. */
  readonly ended: Record<string, EndedContainer>;
  /** Kept containers that may yet name their task, by role. */
  readonly unclaimed: number[];
  readonly nodes: Record<string, NodeView>;
  headroom: Resource | undefined;
  counted: CountedResources;
  resourceTypes: readonly string[];
  /** How many executors are heard at present, and how many are silent or have broken streams. */
  heard: number;
  unheard: number;
  readonly blame: Record<string, NodeBlame>;
  /** Hosts that are being taken out of the cluster, or have been, and when at the latest; absent where nobody says. */
  readonly leaving: Record<string, { readonly atMs?: number }>;
  /** Files that could not be fetched, each with the first host that failed to. */
  readonly unfetched: Record<string, string>;
  readonly services: { name: string; url: string; task: string }[];
  outcome: JobOutcome | undefined;
  /** By task: the lives that the outcome is about, where their tasks had gone on to another generation. */
  judgedLives: Readonly<Record<string, TaskRecord>>;
  finish: FinishStage;
  /** When the present stage of the ending began. */
  finishSinceMs: number;
  /** When the present stage of the ending is over, whatever is still missing; absent where it is not bounded. */
  finishDeadline: Deadline | undefined;
  readonly journal: JournalState;
  /**
   * What is decided and must not happen before the journal holds it, oldest first, keyed by what it is and whose; see
   * barrier.ts.
   */
  readonly held: Record<string, Held>;
  readonly wakeUp: WakeUp;
  /** The last time that this ApplicationMaster did not hear what happened; see deadlines.ts. */
  pause: { readonly endedAtMs: number; readonly graceMs: number };
  readonly usage: {
    memoryMiBMs: number;
    vcoreMs: number;
    gpuMs: number;
    memoryMiB: number;
    vcores: number;
    gpus: number;
    countedAtMs: number;
    /** In a search only. */
    readonly time?: { -readonly [Part in keyof ContainerTime]: number } & { countedAtMs: number };
  };
}

/**
 * What is known of a container that has ended.
 * - `known`: everything that matters
 * - `before-allocation`: YARN reported its end first; its later allocation still counts as an answer to the ask
 */
export type EndedContainer = "known" | "before-allocation";

/** How far the ending has got; also in `job-moves.ts`. */
export type FinishStage = "none" | "journaling" | "stopping" | "unregistering";

export interface JournalState {
  /** Number of the last snapshot handed out. */
  sequence: number;
  /** Number of the one being written; 0 when none is. */
  inFlight: number;
  /** The highest number known to be written. */
  durableSequence: number;
  /** Something durable has changed since the last snapshot. */
  dirty: boolean;
  writtenAtMs: number;
  /** Number of the first snapshot that holds the highest generation number. */
  generationSequence: number;
  /** Trials that have ended for good and are written beside a snapshot, with its sequence. */
  readonly apart: Record<string, number>;
  /** Why the last write failed; empty after a success. */
  failure: string;
  /** When the first write of the present run of failures failed. */
  failingSinceMs: number;
}

/**
 * What waits for a snapshot to be written.
 * - `prepare`: an executor is told to prepare for its task's generation
 * - `start-gang`: the cluster spec is sent
 * - `start-task`: a task that waits for no other starts
 * - `stop-trial`: a trial that is not among the best is stopped
 * - `drop-checkpoints`: the stored checkpoints of a trial are removed
 * - `task-done`: the container of a task that never starts again serves another, or goes back
 * - `stage-done`: the stages after it begin, in its containers
 * - `end`: the outcome is carried out
 * - `transfer`: a job that has otherwise succeeded may fail because of an upload that an executor reports; the job is over only
 *   then
 */
export type Held =
  | {
      readonly what: "prepare" | "start-task" | "stop-trial";
      readonly sequence: number;
      readonly task: string;
      readonly generation: number;
    }
  | { readonly what: "start-gang"; readonly sequence: number; readonly gang: number; readonly generation: number }
  | { readonly what: "task-done" | "transfer" | "drop-checkpoints"; readonly sequence: number; readonly task: string }
  | { readonly what: "stage-done"; readonly sequence: number; readonly gang: number }
  | { readonly what: "end"; readonly sequence: number };

export interface WakeUp {
  /** When the shell is to wake the core; 0 while it is not. */
  atMs: number;
  /** No container's deadline ends before this; 0 while there is none. */
  containersMs: number;
}

/** Who and where this ApplicationMaster is. */
export interface Identity {
  readonly applicationId: string;
  readonly attempt: number;
  readonly amHost: string;
  readonly amContainerId: string;
  readonly startedAtMs: number;
  /** How often NodeManagers report, by the cluster's configuration: containers are given out at that pace. */
  readonly nodeHeartbeatMs: number;
}
