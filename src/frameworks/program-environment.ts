import type { ClusterSpec } from "../job/cluster-spec.ts";
import type { JobSpec, RoleSpec } from "../job/spec.ts";
import type { TaskName } from "../job/task.ts";
import { frameworks } from "./frameworks.ts";
import type { programVariables, roleVariables } from "./variables.ts";

/** One start of one task's program. */
export interface ProgramStart {
  readonly spec: JobSpec;
  readonly task: TaskName;
  /** Absent in distributed mode fcfs, where a program starts before the others are there. */
  readonly cluster?: ClusterSpec;
  readonly applicationId: string;
  /** The ApplicationMaster's attempt, from 1. */
  readonly attempt: number;
  /** From 1. */
  readonly generation: number;
  readonly amHost: string;
  readonly amPort: number;
  /** Where this task may serve TensorBoard or another page. */
  readonly tensorBoardPort?: number;
  /** Why the generation before this one ended. */
  readonly restartReason?: string;
  /** The furthest complete checkpoint of its job that it can read, as a program named it, or where it was brought back to. */
  readonly checkpoint?: string;
  /** Where the program may tell its progress. */
  readonly progressFile?: string;
  /** Where it is told that its container is to be taken back. */
  readonly noticeFile?: string;
  readonly folders?: ProgramFolders;
}

/** Folders of the container that are uploaded. */
export interface ProgramFolders {
  /** For checkpoints, in the container. */
  readonly checkpoints?: string;
  /** For results, in the container. */
  readonly output?: string;
  /** Where the results of this task are uploaded to. */
  readonly outputDestination?: string;
}

/** Slows down programs of many threads; the NodeManager's default environment brings it in for JVMs (TonY issue 346). */
const REMOVED = ["MALLOC_ARENA_MAX"];

/**
 * The whole environment of a task's program: the container's, the role's own over it, then what every program is told and what its
 * framework needs, by TonY's names.
 * @param inherited the container's environment, `containerEnvironment` of the spec included, without what is the executor's own
 * @throws RangeError when the spec has no such task
 */
export function programEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  start: ProgramStart,
): Record<string, string> {
  const role = start.spec.roles.find(({ name }) => name === start.task.role);
  if (role === undefined) throw new RangeError(`the job has no role ${start.task.role}`);
  const merged = {
    ...inherited,
    ...hiddenGpus(start.spec, role),
    ...role.environment,
    ...everyProgram(start, role),
    ...ofFramework(start, role),
  };
  const kept = Object.entries(merged).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !REMOVED.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

function ofFramework({ spec, cluster, task }: ProgramStart, role: RoleSpec): Readonly<Record<string, string>> {
  if (cluster === undefined || spec.distributedMode === "fcfs") return {};
  return frameworks[spec.framework].environment({ spec, cluster, role, index: task.index }) ?? {};
}

/** TonY's variables of every task, then ours; all text. */
function everyProgram(start: ProgramStart, role: RoleSpec): Record<keyof typeof programVariables, string | undefined> {
  const { spec, task, generation } = start;
  const chief = role.chief === "all" || (role.chief === "first" && task.index === 0);
  return {
    JOB_NAME: task.role,
    JOB_ID: start.applicationId,
    appid: start.applicationId,
    TASK_INDEX: String(task.index),
    TASK_NUM: String(trackedTasks(spec)),
    DISTRIBUTED_MODE: spec.distributedMode.toUpperCase(),
    // TonY counts its sessions and attempts from 0.
    SESSION_ID: String(generation - 1),
    ATTEMPT_NUMBER: String(start.attempt - 1),
    NUM_AM_RETRIES: generation > 1 ? String(generation - 1) : undefined,
    IS_CHIEF: chief ? "true" : undefined,
    AM_HOST: start.amHost,
    AM_PORT: String(start.amPort),
    TB_PORT: start.tensorBoardPort === undefined ? undefined : String(start.tensorBoardPort),
    TONY_GENERATION: String(generation),
    TONY_RESTART_REASON: start.restartReason || undefined,
    TONY_CHECKPOINT_DIR: spec.checkpointDir,
    TONY_CHECKPOINT_LOCAL_DIR: start.folders?.checkpoints,
    TONY_CHECKPOINT: start.checkpoint || undefined,
    TONY_OUTPUT_DIR: start.folders?.outputDestination,
    TONY_OUTPUT_LOCAL_DIR: start.folders?.output,
    TONY_PROGRESS_FILE: start.progressFile,
    TONY_NOTICE_FILE: start.noticeFile,
    // A Python that hangs can then be asked where it stands; see executor/hooks/stack-dump.ts.
    PYTHONFAULTHANDLER: spec.timeouts.progressMs === undefined ? undefined : "1",
  };
}

function trackedTasks(spec: JobSpec): number {
  const tracked = spec.roles.filter((role) => role.tracking === "tracked");
  return tracked.reduce((sum, role) => sum + role.instances, 0);
}

/**
 * A role without GPUs, in a job whose other roles have some, must not take theirs: frameworks grab every device they see. A job
 * that asks for none at all may run where GPUs are not scheduled but simply there, and keeps seeing them.
 */
function hiddenGpus(spec: JobSpec, role: RoleSpec): Partial<Record<keyof typeof roleVariables, string>> {
  const asks = (one: RoleSpec) => (one.resource.others["yarn.io/gpu"] ?? 0) > 0;
  const said = spec.containerEnvironment.CUDA_VISIBLE_DEVICES !== undefined;
  return spec.roles.some(asks) && !asks(role) && !said ? { CUDA_VISIBLE_DEVICES: "" } : {};
}
