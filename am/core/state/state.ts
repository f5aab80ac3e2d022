import type { ContainerTime } from "../../../src/job/search/container-time.ts";
import type { Resource } from "../../../src/job/spec.ts";
import type { JobOutcome, Takeover } from "../../../src/job/status.ts";
import type { CountedResources, Event, NodeView } from "./events.ts";
import type { NodeBlame } from "./failures.ts";
import type { GangState } from "./gang.ts";
import type { ContainerRecord, Deadline, RoleAsk, RoleState, TaskRecord } from "./records.ts";

/** What each means, and what may follow, is in `job-moves.ts`. */
export type JobPhase = "starting" | "under-way" | "finishing" | "over";

export interface CoreState {
  readonly applicationId: string;
  readonly amHost: string;
  readonly amContainerId: string;
  readonly attempt: number;
  /** When the first attempt started. */
  startedAtMs: number;
  phase: JobPhase;
  /** Later attempts that went on with the job. */
  readonly takeovers: Takeover[];
  /** What a later attempt heard before it knew the job; see early.ts. */
  readonly early: Event[];
  readonly gangs: GangState[];
  /** The highest number given to any life of any task. */
  lastGeneration: number;
  /** How long roles may still run on after the end of a group, by the number of the limit in the job. */
  readonly groupDeadlines: Record<string, Deadline>;
  /** Roles that the job waited for and does not any more. */
  readonly untracked: string[];
  readonly tasks: TaskRecord[];
  readonly roles: RoleState[];
  /** By role. */
  readonly asks: RoleAsk[];
  /** How long hosts are named that bring nothing. */
  hintsDeadline: Deadline | undefined;
  readonly containers: Record<string, ContainerRecord>;
  /** Containers that are over, so that what is heard of them later is known as late. */
  readonly ended: Record<string, EndedContainer>;
  /** Kept containers that may yet name their task, by role. */
  readonly unclaimed: number[];
  readonly nodes: Record<string, NodeView>;
  headroom: Resource | undefined;
  counted: CountedResources;
  resourceTypes: readonly string[];
  /** How many executors are heard at present, and how many are silent or their streams broken. */
  heard: number;
  unheard: number;
  readonly blame: Record<string, NodeBlame>;
  /** Hosts that are being taken out of the cluster, or have been, and when at the latest; absent where nobody says. */
  readonly leaving: Record<string, { readonly atMs?: number }>;
  /** Files that could not be fetched, each with the first host that failed to. */
  readonly unfetched: Record<string, string>;
  readonly services: { name: string; url: string; task: string }[];
  outcome: JobOutcome | undefined;
  /** By task, the lives that the outcome is about, where their tasks had gone on to another generation. */
  judgedLives: Readonly<Record<string, TaskRecord>>;
  finish: FinishStage;
  /** When the present stage of the ending began. */
  finishSinceMs: number;
  /** When the present stage of the ending is over whatever is still missing; absent where it is not bounded. */
  finishDeadline: Deadline | undefined;
  readonly journal: JournalState;
  /** What is decided and must not happen before the journal holds it, oldest first, by what it is and whose; see barrier.ts. */
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
    /** Of a search. */
    readonly time?: { -readonly [Part in keyof ContainerTime]: number } & { countedAtMs: number };
  };
}

/**
 * What is known of a container that is over.
 * - `known`: all that matters
 * - `before-allocation`: YARN told of its end first; that it had been given answers what was asked for
 */
export type EndedContainer = "known" | "before-allocation";

/** How far the ending is; `job-moves.ts`, too. */
export type FinishStage = "none" | "journaling" | "stopping" | "unregistering";

export interface JournalState {
  /** Number of the last snapshot handed out. */
  sequence: number;
  /** Number of the one being written; 0 when none is. */
  inFlight: number;
  /** The highest number known to be written. */
  durableSequence: number;
  /** Something durable changed since the last snapshot. */
  dirty: boolean;
  writtenAtMs: number;
  /** Number of the first snapshot that holds the highest generation number. */
  generationSequence: number;
  /** Tasks that have ended for good and are written beside a snapshot, by its sequence. */
  readonly apart: Record<string, number>;
  /** Why the last write failed; empty after one that did not. */
  failure: string;
  /** When the first of the writes failed that have failed since one that did not. */
  failingSinceMs: number;
}

/**
 * What waits for a snapshot to be written.
 * - `prepare`: an executor is told to make ready for its task's generation
 * - `start-gang`: the cluster spec goes out
 * - `start-task`: a task that waits for nobody starts
 * - `stop-trial`: a trial that is not among the best is stopped
 * - `drop-checkpoints`: what executors stored of a trial's checkpoints is removed
 * - `task-done`: the container of a task that never starts again serves another, or goes back
 * - `stage-done`: the stages after it begin, in its containers
 * - `end`: the outcome is carried out
 * - `transfer`: a job that has succeeded otherwise may fail by what its executor says of an upload; only then the job is over
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
  /** No container's deadline is over before; 0 while there is none. */
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
