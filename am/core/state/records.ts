import type { NamedPorts } from "../../../src/job/cluster-spec.ts";
import type { Checkpoint, Notice, TaskPlace } from "../../../src/job/execution.ts";
import type { NonFinite } from "../../../src/job/program-metrics.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import type { Resource } from "../../../src/job/spec.ts";
import type { Transfer } from "../../../src/job/status.ts";

/** Where a task's life in its generation stands: what each means, and what may follow, is in `task-moves.ts`. */
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

/** What each means, and what may follow, is in `container-moves.ts`. */
export type ContainerPhase = "held" | "unclaimed" | "terminating" | "discarded";

/** How an executor is reached; `container-moves.ts`, too. */
export type Link = "none" | "up" | "broken" | "rejoining" | "closed";

/** Something that is awaited, and until when. */
export interface Deadline {
  sinceMs: number;
  dueMs: number;
}

/**
 * What may be awaited of a container, its executor or YARN.
 * - `launch`: from its allocation to its executor's registration
 * - `registration`: the same from the launch on, where the job sets a bound of its own
 * - `heartbeat`: its executor, which is silent
 * - `reconnect`: the same where its stream broke
 * - `prepare`: that its executor is ready for its task's next generation
 * - `start`: that the program runs, which was told to start
 * - `execution`: that the program ends within the job's limit
 * - `progress`: the program's next step
 * - `hang-stop`: that the program ends which was stopped because it hung
 * - `trial-stop`: that the program of a trial ends which is stopped early
 * - `rejoin`: its executor, which knew an earlier attempt
 * - `release`: YARN's completion status, before it is given back
 * - `completion-status`: the same, while its executor is well
 * - `departure`: that its program ends, or a checkpoint is complete, before its node is taken out of the cluster
 * - `leave`: that its executor, whose stage is done, has brought up what its task left and ends
 * - `idle`: a trial that takes it, whose own trial is over
 */
export const CONTAINER_DEADLINES = [
  "launch",
  "registration",
  "heartbeat",
  "reconnect",
  "prepare",
  "start",
  "execution",
  "progress",
  "hang-stop",
  "trial-stop",
  "rejoin",
  "release",
  "completion-status",
  "departure",
  "leave",
  "idle",
] as const;
export type ContainerDeadline = (typeof CONTAINER_DEADLINES)[number];

/** In the journal, which is JSON. */
export interface WrittenReport {
  readonly step: number;
  readonly value: number | NonFinite;
}

export interface TrialFailure {
  /** What people are told. */
  readonly words: string;
  /** The same of trials that failed the same way; absent where it was lost with its machine. */
  readonly kind?: string;
  /** The last of what its program wrote, or its traceback. */
  readonly lines?: readonly string[];
}

export interface TaskRecord {
  readonly id: string;
  /** Of a trial of a search, since it was first to start. Of a trial that is a gang its lead has this, and all that follows of a trial. */
  trialParameters?: Parameters;
  /** What a trial reported of the search's metric in all its lives, as far as decisions need it. */
  trialReports?: readonly WrittenReport[];
  /** What it reported last of the search's metric in its present life. */
  trialValue?: number | NonFinite;
  /** Why a trial is stopped early; it never starts again. */
  trialStop?: string;
  /** Where a trial's search has rungs: why it pauses at one, until it goes on. */
  trialPause?: string;
  /** The place of the rung that it may run to; absent: its first. */
  trialRung?: number;
  /** How often a trial of one task was started again after its program had failed. */
  trialRetries?: number;
  /** The host where it failed last, which another trial had better have. */
  trialAvoids?: string;
  /** How a trial ended that failed. */
  trialFailure?: TrialFailure;
  /** Of a trial that is a gang: whether that is over. One of a single task is when its task is. */
  trialOver?: boolean;
  /** Of a trial: nobody needs what executors stored of its checkpoints, which is removed. */
  checkpointsDropped?: true;
  /** Of a trial: its furthest checkpoint that any container can read. */
  checkpoint?: Checkpoint | undefined;
  /** Position of its role; those of the first trial are the job's. */
  readonly role: number;
  /** Among the tasks of its role, of a trial that is a gang among those of the trial. */
  readonly index: number;
  phase: TaskPhase;
  /** Of its present life; unique per life of a task, never lower than that of an earlier one. */
  generation: number;
  containerId: string;
  host: string;
  port: number;
  /** Its others by name, as long as it has `port`. */
  ports?: NamedPorts;
  /** Since when it waits for a container, where it was not from the gang's begin. */
  waitingSinceMs?: number;
  startedAtMs: number;
  endedAtMs: number;
  /** What a table shows: `0`, `1`, `SIGKILL`, `-104`; empty while it has none. */
  exit: string;
  /** Times its program was started again alone. */
  restarts: number;
  /** Why it was the last time; empty while it was not. */
  restartReason: string;
  /** Its program was started when the others of its gang ran already. */
  late?: true;
  /** The last step and the last complete checkpoint that its program reported in its present life; 0 while there is none. */
  step: number;
  checkpointStep: number;
  /** The last value of each metric that it reported in its present life. */
  metrics?: Readonly<Record<string, number>>;
  /** Where its program stood when its gang made no progress any more; `where` is empty where it did not say. */
  place?: TaskPlace & { readonly generation: number };
  /** How bringing up what it saved or left goes: the last of each kind. */
  transfers?: readonly Transfer[];
  /** Failures of the machine's kind since its program last ran well; see budgets.ts. */
  machineFailures: number;
  /** Where its program ended, once that container is another task's or goes back. */
  lastContainer?: { readonly id: string; readonly nodeHttpAddress: string };
}

export interface ContainerRecord {
  readonly id: string;
  readonly nodeId: string;
  readonly host: string;
  readonly nodeHttpAddress: string;
  role: number;
  readonly resource: Resource;
  readonly allocatedAtMs: number;
  phase: ContainerPhase;
  link: Link;
  /** Task that it was bound to last: that of a stage that is done may give way to one of the next. */
  task: string;
  /** It had another task before, whose executor makes room for this one's. */
  handedOver?: true;
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
  /** The last word that it is to be taken back. */
  notice?: Notice;
  /** The furthest complete one that lies in it, where no other container can read it. */
  checkpoint?: Checkpoint | undefined;
  /** Why we gave it up; empty while held. */
  discardReason: string;
  /** An earlier attempt had it, whose last orders this one may not know. */
  inherited?: true;
}

export interface RoleState {
  readonly name: string;
  /** The number of its first task: those of a trial follow those of the trial before. */
  readonly first: number;
  /** Position of the gang that it belongs to. */
  readonly gang: number;
  /** How many of its tasks are in each phase. */
  readonly counts: Record<TaskPhase, number>;
  /** No task of it below this index is waiting. */
  firstWaiting: number;
  /** What YARN gives for its ask, where that is more: it rounds up. Absent until a container shows it. Of trials the first one has it for all. */
  given?: Resource;
}

/** What the ResourceManager was asked for a role. */
export interface RoleAsk {
  /** What the ResourceManager still has to give, as far as we know; −1 when we do not know. */
  outstanding: number;
  /** Since when it has had something to give, the last time. */
  sinceMs?: number;
  /** Whether the outstanding ask names hosts. */
  hinted: boolean;
  /** Hosts are not named any more: naming them brought nothing. */
  hintsExhausted: boolean;
  /** Nothing is asked for, because such containers are not given at present: too large, or nowhere where they may be placed. */
  refusal: AskRefusal | undefined;
}

export interface AskRefusal {
  /** The largest container that was given then; absent when that is not known. */
  readonly allowed?: Resource;
  /** YARN found no place that their constraint allows. */
  readonly unplaced?: true;
  /** Until then it is not asked for again, unless a node comes that is large enough; over when not after now. */
  readonly untilMs: number;
}
