import type { NamedPorts } from "../../../src/job/cluster-spec.ts";
import type { Checkpoint, Notice, TaskPlace } from "../../../src/job/execution.ts";
import type { NonFinite } from "../../../src/job/program-metrics.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import type { Resource } from "../../../src/job/spec.ts";
import type { Transfer } from "../../../src/job/status.ts";

/** The state of a task's life in its generation: `task-moves.ts` says what each means and what may follow. */
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

/** `container-moves.ts` says what each means and what may follow. */
export type ContainerPhase = "held" | "unclaimed" | "terminating" | "discarded";

/** How an executor is reached; also in `container-moves.ts`. */
export type Link = "none" | "up" | "broken" | "rejoining" | "closed";

/** Something that is awaited, and until when. */
export interface Deadline {
  sinceMs: number;
  dueMs: number;
}

/**
 * What may be awaited of a container, its executor or YARN.
 * - `launch`: its executor's registration, counted from the allocation
 * - `registration`: the same counted from the launch, where the job sets a bound of its own
 * - `heartbeat`: a sign of its executor, which is silent
 * - `reconnect`: the same where the executor's stream broke
 * - `prepare`: that its executor is ready for its task's next generation
 * - `start`: that the program runs, after the order to start it
 * - `execution`: that the program ends within the job's limit
 * - `progress`: the program's next step
 * - `hang-stop`: that a program stopped because it hung has ended
 * - `trial-stop`: that the program of a trial stopped early has ended
 * - `rejoin`: its executor, which knew an earlier attempt
 * - `release`: YARN's completion status, before it is given back
 * - `completion-status`: the same, while its executor is well
 * - `departure`: that its program ends, or a checkpoint is complete, before its node is taken out of the cluster
 * - `leave`: that its executor, whose stage is done, has uploaded what its task left and ends
 * - `idle`: a new trial for the container, whose own trial is over
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

/** As in the journal, which is JSON. */
export interface WrittenReport {
  readonly step: number;
  readonly value: number | NonFinite;
}

export interface TrialFailure {
  /** What people are told. */
  readonly words: string;
  /** The same for trials that failed in the same way; absent where the trial was lost with its machine. */
  readonly kind?: string;
  /** The last output of its program, or its traceback. */
  readonly lines?: readonly string[];
}

export interface TaskRecord {
  readonly id: string;
  /**
   * Parameters of a trial of a search, set before its first start. Where a trial is a gang, its lead holds this and all further fields about the
   * trial.
   */
  trialParameters?: Parameters;
  /** A trial's reports of the search's metric in all its lives, as far as decisions need them. */
  trialReports?: readonly WrittenReport[];
  /** The last value of the search's metric that it reported in its present life. */
  trialValue?: number | NonFinite;
  /** Why a trial is stopped early; it never starts again. */
  trialStop?: string;
  /** In a search with rungs: why the trial pauses at one, until it goes on. */
  trialPause?: string;
  /** The index of the rung up to which it may run; absent: its first. */
  trialRung?: number;
  /** How often a trial of one task was restarted after its program had failed. */
  trialRetries?: number;
  /** The host where it failed last, which is better given to another trial. */
  trialAvoids?: string;
  /** How the trial failed. */
  trialFailure?: TrialFailure;
  /** For a trial that is a gang: whether it is over. A trial of a single task is over when its task is. */
  trialOver?: boolean;
  /** For a trial: nobody needs its stored checkpoints, which are removed. */
  checkpointsDropped?: true;
  /** For a trial: its furthest checkpoint that any container can read. */
  checkpoint?: Checkpoint | undefined;
  /** Position of its role; the roles of the first trial are the job's. */
  readonly role: number;
  /** Its index among the tasks of its role; in a trial that is a gang, among those of the trial. */
  readonly index: number;
  phase: TaskPhase;
  /** Generation of its present life; unique per life of a task, never lower than that of an earlier one. */
  generation: number;
  containerId: string;
  host: string;
  port: number;
  /** Its other ports by name, as long as it has `port`. */
  ports?: NamedPorts;
  /** Since when it has waited for a container, unless it has since the gang's beginning. */
  waitingSinceMs?: number;
  startedAtMs: number;
  endedAtMs: number;
  /** As a table shows it: `0`, `1`, `SIGKILL`, `-104`; empty while it has none. */
  exit: string;
  /** How often its program was restarted alone. */
  restarts: number;
  /** Why it was restarted the last time; empty while it was not. */
  restartReason: string;
  /** Its program was started when the others of its gang already ran. */
  late?: true;
  /** The last step and the last complete checkpoint that its program reported in its present life; 0 while there is none. */
  step: number;
  checkpointStep: number;
  /** The last value of each metric that it reported in its present life. */
  metrics?: Readonly<Record<string, number>>;
  /** Where its program stood when its gang stopped making progress; `where` is empty if it did not say. */
  place?: TaskPlace & { readonly generation: number };
  /** The state of uploads of what it saved or left: the last of each kind. */
  transfers?: readonly Transfer[];
  /** Machine failures since its program last ran well; see budgets.ts. */
  machineFailures: number;
  /** The container where its program ended, once that is another task's or goes back. */
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
  /** The task that it was last bound to: a task of a finished stage may give way to one of the next. */
  task: string;
  /** It had another task before, whose executor makes room for this one's. */
  handedOver?: true;
  /** The last generation in which its task lived in it. */
  generation: number;
  deadlines: Partial<Record<ContainerDeadline, Deadline>>;
  rejoinAddress: string;
  brokenAtMs: number;
  /** Machine failures seen in it. */
  machineFailures: number;
  /** Its executor has missed some heartbeats. */
  silent: boolean;
  /** When it was last heard, while it is silent. */
  lastHeardMs: number;
  /** Nothing had started in it and its end has cost nothing yet: YARN's completion status will decide. */
  unresolved: boolean;
  /** The last notice that it will be taken back. */
  notice?: Notice;
  /** The furthest complete checkpoint that lies in it, where no other container can read it. */
  checkpoint?: Checkpoint | undefined;
  /** Why the AM gave it up; empty while held. */
  discardReason: string;
  /** An earlier attempt had it, whose last orders this one may not know. */
  inherited?: true;
}

export interface RoleState {
  readonly name: string;
  /** The number of its first task: the tasks of a trial follow those of the trial before. */
  readonly first: number;
  /** Position of the gang that it belongs to. */
  readonly gang: number;
  /** How many of its tasks are in each phase. */
  readonly counts: Record<TaskPhase, number>;
  /** No task of it below this index is waiting. */
  firstWaiting: number;
  /**
   * What YARN gives for its ask, where that is more, because YARN rounds up. Absent until a container shows it. The first trial's role holds it
   * for all trials.
   */
  given?: Resource;
}

/** What the ResourceManager was asked for on behalf of a role. */
export interface RoleAsk {
  /** What the ResourceManager still has to give, as far as we know; −1 when we do not know. */
  outstanding: number;
  /** Since when there has been something to give, the last time. */
  sinceMs?: number;
  /** Whether the outstanding ask names hosts. */
  hinted: boolean;
  /** Hosts are no longer named: naming them brought nothing. */
  hintsExhausted: boolean;
  /** Nothing is asked for, because such containers are not given at present: they are too large, or no place allows them. */
  refusal: AskRefusal | undefined;
}

export interface AskRefusal {
  /** The largest container given at that time; absent when that is not known. */
  readonly allowed?: Resource;
  /** YARN found no place that their constraint allows. */
  readonly unplaced?: true;
  /** Until then the role is not asked for again, unless a large enough node comes; a time that is not in the future means that this is over. */
  readonly untilMs: number;
}
