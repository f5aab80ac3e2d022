import type { EndingReason } from "../../../src/job/reasons/endings.ts";
import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import type {
  Cause,
  Checkpoint,
  DroppedCheckpoint,
  FailureClass,
  JobOutcome,
  Transfer,
} from "../../../src/job/status.ts";
import type { CountedResources, Event, NodeView, ResourceAmount } from "./events.ts";

/**
 * - `starting`: not yet registered with the ResourceManager, or a later attempt still reading its journal
 * - `gathering`: containers are asked for and launched, executors register
 * - `running`: the cluster spec is out
 * - `restarting`: the children of the failed generation are being stopped, or its verdict is awaited
 * - `finishing`: the outcome is decided and being carried out
 * - `over`: the exit effect is out; nothing happens any more
 */
export type JobPhase = "starting" | "gathering" | "running" | "restarting" | "finishing" | "over";

/**
 * Where a task's life in its generation stands.
 * - `waiting`: has no container and wants one
 * - `allocated`: has a container whose launch was ordered
 * - `launched`: the NodeManager accepted the launch; files are localised, the executor starts
 * - `preparing`: its executor of an earlier generation was told to make ready for this one
 * - `registered`: its executor holds a port and waits for the cluster spec
 * - `starting`: the cluster spec is sent
 * - `running`: its program runs
 * - `stopping`: its program was told to stop
 * - `succeeded`, `failed`: its program ended by itself
 * - `stopped`: its program ended because we stopped it, or it needs none any more
 * - `lost`: its container or executor went away while the program was wanted
 */
export type TaskPhase =
  | "waiting"
  | "allocated"
  | "launched"
  | "preparing"
  | "registered"
  | "starting"
  | "running"
  | "stopping"
  | "succeeded"
  | "failed"
  | "stopped"
  | "lost";

/**
 * - `held`: bound to a task
 * - `unclaimed`: kept by YARN for a later attempt whose journal does not know it; its executor may still come and name its task
 * - `terminating`: its executor is gone; YARN's completion status, which says why, is awaited before it is given back, for that would hide it
 * - `discarded`: released or stopped by us; only YARN's completion is still to come
 */
export type ContainerPhase = "held" | "unclaimed" | "terminating" | "discarded";

/**
 * How an executor is reached.
 * - `none`: it has not registered yet
 * - `up`: its stream stands
 * - `broken`: the stream broke; the executor may come back within the reconnect time
 * - `rejoining`: this attempt of the ApplicationMaster has not heard of it yet
 * - `closed`: the executor said goodbye
 */
export type Link = "none" | "up" | "broken" | "rejoining" | "closed";

/** Something that is awaited, and until when. */
export interface Deadline {
  readonly sinceMs: number;
  readonly dueMs: number;
}

/**
 * What may be awaited of a container, its executor or YARN.
 * - `launch`: from its allocation to its executor's registration
 * - `registration`: the same from the launch on, where the job sets a bound of its own
 * - `reconnect`: its executor, whose stream broke
 * - `prepare`: that its executor is ready for its task's next generation
 * - `start`: that the program runs, which was told to start
 * - `execution`: that the program ends within the job's limit
 * - `progress`: the program's next step
 * - `hang-stop`: that the program ends which was stopped because it hung
 * - `rejoin`: its executor, which knew an earlier attempt
 * - `release`: YARN's completion status, before it is given back
 * - `completion-status`: the same, while its executor is well
 */
export const CONTAINER_DEADLINES = [
  "launch",
  "registration",
  "reconnect",
  "prepare",
  "start",
  "execution",
  "progress",
  "hang-stop",
  "rejoin",
  "release",
  "completion-status",
] as const;
export type ContainerDeadline = (typeof CONTAINER_DEADLINES)[number];

export interface TaskRecord {
  readonly id: string;
  /** Position of its role in the job. */
  readonly role: number;
  readonly index: number;
  phase: TaskPhase;
  /** Of its present life; unique per life of a task, never lower than that of an earlier one. */
  generation: number;
  containerId: string;
  host: string;
  port: number;
  startedAtMs: number;
  endedAtMs: number;
  /** What a table shows: `0`, `1`, `SIGKILL`, `-104`; empty while it has none. */
  exit: string;
  /** Times its program was started again alone. */
  restarts: number;
  /** Why it was the last time; empty while it was not. */
  restartReason: string;
  /** The last step and the last complete checkpoint that its program reported in its present life; 0 while there is none. */
  step: number;
  checkpointStep: number;
  /** How bringing up what it saved or left goes: the last of each kind. */
  transfers?: readonly Transfer[];
  /** Failures of the machine's kind since its program last ran well; see blame.ts. */
  machineFailures: number;
}

export interface ContainerRecord {
  readonly id: string;
  readonly nodeId: string;
  readonly host: string;
  readonly nodeHttpAddress: string;
  readonly role: number;
  readonly resource: ResourceAmount;
  readonly allocatedAtMs: number;
  phase: ContainerPhase;
  link: Link;
  /** Task that it was bound to first and last: a container never changes its task. */
  task: string;
  /** Last generation that its task lived in it. */
  generation: number;
  deadlines: Partial<Record<ContainerDeadline, Deadline>>;
  rejoinAddress: string;
  brokenAtMs: number;
  /** Failures of the machine's kind seen in it. */
  machineFailures: number;
  /** Its executor has missed some heartbeats. */
  silent: boolean;
  /** When it was last heard, while it is silent. */
  lastHeardMs: number;
  /** Nothing had started in it and its end cost nothing yet: that is for YARN's completion status to decide. */
  unresolved: boolean;
  /** When YARN last said that it wants it back; 0: never. */
  wantedBackAtMs: number;
  /** The furthest complete one that lies in it, where no other container can read it. */
  checkpoint?: Checkpoint | undefined;
  /** Why we gave it up; empty while held. */
  discardReason: string;
}

export interface RoleState {
  readonly name: string;
  /** How many of its tasks are in each phase. */
  readonly counts: Record<TaskPhase, number>;
  /** No task below this index is waiting. */
  firstWaiting: number;
}

/** What the ResourceManager was asked for a role. */
export interface RoleAsk {
  /** What the ResourceManager still has to give, as far as we know; −1 when we do not know. */
  outstanding: number;
  /** Whether the outstanding ask names hosts. */
  hinted: boolean;
  /** Hosts are not named any more: naming them brought nothing. */
  hintsExhausted: boolean;
}

/** One task's bad end, as evidence in a verdict. */
export interface Ending {
  readonly task: string;
  readonly containerId: string;
  readonly host: string;
  readonly generation: number;
  /** When it happened, by the clock of the machine that saw it. */
  readonly atMs: number;
  /** The same by our own clock, as far as we can know: decides which of two came first. */
  readonly seenAtMs: number;
  /** Higher is nearer to the root; see endings.ts. */
  readonly strength: number;
  readonly class: FailureClass;
  /** The machine may be at fault: counts on the blame ladder. */
  readonly machine: boolean;
  /** A launch that the node refused through no fault of its own: counts for the task alone. */
  readonly refused?: true;
  /** Who said so: YARN's completion status replaces what was guessed from its link. */
  readonly source: "child" | "link" | "yarn" | "core";
  readonly reason: EndingReason;
  readonly exit: string;
  readonly lines: readonly string[];
  readonly remedy?: Remedy | undefined;
  /** The file that its node could not fetch for it. */
  readonly resource?: string;
  /** What its program failed of at its start, where the next start would meet it again; see start-failure.ts. */
  readonly startFailure?: string;
}

/** What ended one generation; open until every task of it is accounted for, or the time is up. */
export interface Verdict {
  readonly generation: number;
  /** The task that lives on its own and whose life this is about; empty: the gang. */
  readonly scope: string;
  /** The time for the whole picture. */
  readonly deadline: Deadline;
  /** By task. */
  endings: Record<string, Ending>;
  /** The task whose ending is the strongest so far, among equals the earliest. */
  root: string;
  /** A task among them that is never restarted, so that the job cannot go on; empty while there is none. */
  neverRestarted: string;
  /** What tasks were in the generation when they went on to the next one: a verdict that ends the job is about these lives. */
  readonly lives: Record<string, TaskRecord>;
  /** Containers whose tasks' ends are not known yet, by id. */
  unaccounted: Record<string, true>;
  /** The class whose budget is charged at present; absent when no budget was left. */
  charged: FailureClass | undefined;
  /** Nothing was done about it yet: the job could not go on after the present root cause, so the whole picture is awaited. */
  held: boolean;
  /** The restart that follows from it has begun. */
  proceeded: boolean;
  /** The time for the whole picture is up. */
  expired: boolean;
}

export interface GenerationRecord {
  readonly generation: number;
  readonly startedAtMs: number;
  runningAtMs: number | undefined;
  endedAtMs: number | undefined;
  endedBy: Cause | undefined;
  resumedFrom: Checkpoint | undefined;
  /** What all of it failed of at its start; see start-failure.ts. */
  startFailure?: string | undefined;
}

export interface NodeBlame {
  failures: number;
  excluded: boolean;
}

export interface CoreState {
  readonly applicationId: string;
  readonly amHost: string;
  readonly amContainerId: string;
  attempt: number;
  /** When the first attempt started. */
  startedAtMs: number;
  phase: JobPhase;
  /** What a later attempt heard before it knew the job; see early.ts. */
  readonly early: Event[];
  /** Of the gang. */
  generation: number;
  /** The highest number given to any life of any task. */
  lastGeneration: number;
  /** The cluster spec of the present generation is out. */
  started: boolean;
  /** A cluster spec was out in some generation. */
  everStarted: boolean;
  /** When the back-off before this generation's start is over. */
  startNotBeforeMs: number;
  restartReason: string;
  /** How long roles may still run on after the end of a group, by the number of the limit in the job. */
  readonly groupDeadlines: Record<string, Deadline>;
  /** Roles that the job waited for and does not any more. */
  readonly untracked: string[];
  /** When those that may run on after the chief are stopped; 0 while that is not the case. */
  graceEndsAtMs: number;
  readonly tasks: TaskRecord[];
  readonly roles: RoleState[];
  /** By role. */
  readonly asks: RoleAsk[];
  /** How long hosts are named that bring nothing. */
  hintsDeadline: Deadline | undefined;
  readonly containers: Record<string, ContainerRecord>;
  /** Containers that are over, so that what is heard of them later is known as late. */
  readonly ended: Record<string, true>;
  /** Kept containers that may yet name their task, by role. */
  readonly unclaimed: number[];
  readonly nodes: Record<string, NodeView>;
  headroom: ResourceAmount | undefined;
  maximum: ResourceAmount | undefined;
  counted: CountedResources;
  resourceTypes: readonly string[];
  /** Executors whose stream is broken at present. */
  brokenLinks: number;
  readonly blame: Record<string, NodeBlame>;
  /** Files that could not be fetched, each with the first host that failed to. */
  readonly unfetched: Record<string, string>;
  readonly verdicts: Verdict[];
  /** How long the gang's programs have to stop. */
  stopDeadline: Deadline | undefined;
  /** Failures that ended nothing, because they are tolerated: what other tasks fail of may follow from them. */
  readonly tolerated: Ending[];
  /** The gang's first exit with 0 of its generation: what others fail of may follow from it; see early-exit.ts. */
  firstExit: Ending | undefined;
  readonly generations: GenerationRecord[];
  /** Restarts that a budget paid for, oldest first. */
  readonly charges: { readonly class: FailureClass; readonly atMs: number }[];
  /** The furthest complete one that can be read wherever a task runs. */
  checkpoint: Checkpoint | undefined;
  /** The furthest one that lay in a container and does not count any more, while nothing that counts is as far. */
  droppedCheckpoint?: DroppedCheckpoint | undefined;
  readonly services: { name: string; url: string; task: string }[];
  outcome: JobOutcome | undefined;
  /** By task, the lives that the outcome is about, where their tasks had gone on to another generation. */
  judgedLives: Readonly<Record<string, TaskRecord>>;
  finish: FinishStage;
  /** When the present stage of the ending is over whatever is still missing; absent where it is not bounded. */
  finishDeadline: Deadline | undefined;
  readonly journal: JournalState;
  /** What is decided and must not happen before the journal holds it, oldest first. */
  held: Held[];
  readonly gang: { holdDeadline: Deadline | undefined; returns: number; askAgainAtMs: number };
  readonly wakeUp: WakeUp;
  /** The last time that this ApplicationMaster did not hear what happened; see deadlines.ts. */
  pause: { readonly endedAtMs: number; readonly graceMs: number };
  readonly usage: { memoryMiBMs: number; vcoreMs: number; memoryMiB: number; vcores: number; countedAtMs: number };
}

/**
 * How far the ending is.
 * - `none`: not ending · `journaling`: the outcome is being written down · `stopping`: programs are being stopped
 * - `unregistering`: the ResourceManager is being told
 */
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
  failure: string;
}

/**
 * What waits for a snapshot to be written.
 * - `prepare`: an executor is told to make ready for its task's generation
 * - `start-gang`: the cluster spec goes out
 * - `start-task`: a task that waits for nobody starts
 * - `end`: the outcome is carried out
 */
export type Held =
  | {
      readonly what: "prepare" | "start-task";
      readonly sequence: number;
      readonly task: string;
      readonly generation: number;
    }
  | { readonly what: "start-gang"; readonly sequence: number; readonly generation: number }
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
