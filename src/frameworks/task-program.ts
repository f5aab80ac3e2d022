import type { RequestListener } from "node:http";
import type { HostPort } from "../hadoop/conf/values.ts";
import type { ClusterSpec, NamedPorts } from "../job/cluster-spec.ts";
import type { Parameters } from "../job/search/space.ts";
import { fillCommand, trialVariables } from "../job/search/trial-program.ts";
import type { JobSpec, RoleSpec } from "../job/spec.ts";
import type { TaskName } from "../job/task.ts";
import { namedAddressesOf } from "./addresses.ts";
import type { GangTask, Hosts } from "./framework.ts";
import { frameworks } from "./frameworks.ts";
import { hasGpus } from "./ranks.ts";
import type { programVariables, roleVariables } from "./variables.ts";

/** One start of one task's program. */
export interface ProgramStart {
  readonly spec: JobSpec;
  readonly task: TaskName;
  /** Absent in distributed mode fcfs, where a program starts before the others exist. */
  readonly cluster?: ClusterSpec;
  readonly applicationId: string;
  /** The ApplicationMaster's attempt, from 1. */
  readonly attempt: number;
  /** From 1. */
  readonly generation: number;
  readonly amHost: string;
  readonly amPort: number;
  /** The result of the program that ran before all others (preprocessing). */
  readonly modelParameters?: string;
  /** In a search. */
  readonly trial?: { readonly number: number; readonly parameters: Parameters };
  /** Where this task may listen; absent when unknown. */
  readonly address?: HostPort;
  /** Its other addresses, by the names that its role gives the ports. */
  readonly ports?: NamedPorts;
  /** IP addresses of the hosts that the framework looks up. */
  readonly ips?: ReadonlyMap<string, string>;
  /** The network interface by which this node reaches the other tasks; absent where it is unknown or not needed. */
  readonly networkInterface?: string;
  /** Where this task may serve TensorBoard or another page. */
  readonly tensorBoardPort?: number;
  /** Why the life before this one ended. */
  readonly restartReason?: string;
  /** The number of earlier lives; TonY's sessions. */
  readonly restarts: number;
  /** The job's furthest complete checkpoint that the task can read: as a program named it, or the path that it was restored to. */
  readonly checkpoint?: string;
  /** The file for the program's progress reports. */
  readonly progressFile?: string;
  /** The file that tells the program that its container will be taken back. */
  readonly noticeFile?: string;
  /** The socket of TONY_API. */
  readonly apiSocket?: string;
  readonly folders?: ProgramFolders;
  /** The container's folder for what the program needs to run commands in other tasks. */
  readonly hostsFolder?: string;
}

/** Folders of the container whose content is uploaded. */
export interface ProgramFolders {
  /** For checkpoints, in the container. */
  readonly checkpoints?: string;
  /** For results, in the container. */
  readonly output?: string;
  /** Where the results of this task are uploaded to. */
  readonly outputDestination?: string;
}

/** Slows down programs with many threads; the NodeManager's default environment sets it for JVMs (TonY issue 346). */
const REMOVED = ["MALLOC_ARENA_MAX"];

/** Python buffers what it prints to a file until 8 KiB are full: nothing would be visible for minutes, and a kill would lose it. */
const UNBUFFERED = { PYTHONUNBUFFERED: "1" };

const FAULT_HANDLER = "PYTHONFAULTHANDLER";

export type Environment = Readonly<Record<string, string>>;

/** What a task runs: the command, once for each environment. */
export interface TaskProgram {
  /** Served at the task's port while it runs. */
  readonly serve?: RequestListener;
  /** Tasks in which it may run commands. */
  readonly hosts?: Hosts;
  readonly command: string;
  /** What the shell of each process runs before the command. */
  readonly prelude?: string;
  readonly environments: readonly [Environment, ...Environment[]];
}

/**
 * The command of a task's program, and the whole environment of each of its processes: the container's, overridden by the role's own,
 * then the variables of every program and of its framework, by TonY's names.
 * @param inherited the container's environment, `containerEnvironment` of the spec included, without the executor's own variables
 * @throws RangeError when the spec has no such task
 */
export function taskProgram(inherited: Readonly<Record<string, string | undefined>>, start: ProgramStart): TaskProgram {
  const role = start.spec.roles.find(({ name }) => name === start.task.role);
  if (role === undefined) throw new RangeError(`the job has no role ${start.task.role}`);
  const framework = frameworks[start.spec.framework];
  const gangTask = gangTaskOf(start, role);
  const given = (text: string) => (start.trial === undefined ? text : fillCommand(text, start.trial.parameters));
  const fill = (text: string) => given((gangTask && framework.fill?.(text, gangTask)) ?? text);
  const hosts = gangTask && framework.hosts?.(gangTask);
  const own = Object.entries(role.environment).map(([name, value]) => [name, fill(value)]);
  const path = { ...inherited, ...Object.fromEntries(own) }.PATH ?? "";
  const environment = (process: number) => {
    const place = gangTask && { ...gangTask, process };
    const told = place && framework.environment(place);
    return present({
      ...UNBUFFERED,
      ...(told && framework.defaults?.(place)),
      ...interfaceNames(start),
      ...inherited,
      ...hiddenGpus(start.spec, role),
      ...Object.fromEntries(own),
      ...(hosts && { PATH: `${start.hostsFolder}:${path}` }),
      ...everyProgram(start, role),
      ...(start.trial && trialVariables(start.trial)),
      ...faultHandler(start.spec),
      ...namedPorts(start, gangTask),
      ...told,
    });
  };
  const several = framework.severalProcesses === "executor" ? role.processes - 1 : 0;
  const others = Array.from({ length: several }, (_, before) => environment(before + 1));
  const serve = gangTask && framework.serve?.(gangTask);
  const prelude = gangTask && framework.prelude?.(gangTask);
  return {
    command: fill(role.command),
    ...(prelude && { prelude }),
    environments: [environment(0), ...others],
    ...(serve && { serve }),
    ...(hosts && { hosts }),
  };
}

/** The hosts whose addresses `ips` should contain. */
export function hostsToLookUp(start: ProgramStart): readonly string[] {
  const role = start.spec.roles.find(({ name }) => name === start.task.role);
  const gangTask = role && gangTaskOf(start, role);
  return (gangTask && frameworks[start.spec.framework].lookedUp?.(gangTask)) ?? [];
}

/** Undefined in distributed mode fcfs, and in the ApplicationMaster's container. */
function gangTaskOf({ spec, cluster, task, ips, hostsFolder }: ProgramStart, role: RoleSpec): GangTask | undefined {
  if (cluster === undefined || spec.distributedMode === "fcfs" || role.inMaster === true) return undefined;
  return {
    spec,
    cluster,
    role,
    index: task.index,
    process: 0,
    ips: ips ?? new Map(),
    ...(hostsFolder && { hostsFolder }),
  };
}

function present(variables: Readonly<Record<string, string | undefined>>): Environment {
  const kept = Object.entries(variables).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !REMOVED.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

/** TonY's variables of every task, then ours; all are text. */
function everyProgram(
  start: ProgramStart,
  role: RoleSpec,
): Record<Exclude<keyof typeof programVariables, `PYTHON${string}`>, string | undefined> {
  const { spec, task, generation, restarts } = start;
  const chief = role.chief === "all" || (role.chief === "first" && task.index === 0);
  return {
    JOB_NAME: task.role,
    JOB_ID: start.applicationId,
    appid: start.applicationId,
    TASK_INDEX: String(task.index),
    TASK_NUM: String(role.inMaster === true ? role.instances : trackedTasks(spec)),
    DISTRIBUTED_MODE: spec.distributedMode.toUpperCase(),
    SESSION_ID: String(restarts),
    // TonY counts its attempts from 0.
    ATTEMPT_NUMBER: String(start.attempt - 1),
    NUM_AM_RETRIES: restarts > 0 ? String(restarts) : undefined,
    IS_CHIEF: chief ? "true" : undefined,
    AM_HOST: start.amHost,
    AM_PORT: String(start.amPort),
    MODEL_PARAMS: start.modelParameters,
    TONY_HOST: start.address?.host,
    TONY_PORT: start.address === undefined ? undefined : String(start.address.port),
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
    TONY_API: start.apiSocket,
  };
}

/**
 * Frameworks would otherwise look up the machine's own name, which on many machines resolves to loopback, or to a network that the others
 * cannot reach. No key of a job could set it: interfaces have different names on each node.
 */
function interfaceNames({ networkInterface }: ProgramStart): Partial<Record<keyof typeof roleVariables, string>> {
  if (networkInterface === undefined) return {};
  return {
    GLOO_SOCKET_IFNAME: networkInterface,
    NCCL_SOCKET_IFNAME: networkInterface,
    HOROVOD_GLOO_IFACE: networkInterface,
  };
}

/** Lets a hanging Python be asked for its stack; see executor/monitoring/stack-dump.ts. Otherwise it is as the job sets it. */
function faultHandler({ timeouts }: JobSpec): Partial<Record<typeof FAULT_HANDLER, string>> {
  return timeouts.progressMs === undefined ? {} : { [FAULT_HANDLER]: "1" };
}

/** The named ports of roles: this task's, each in a variable of its own, and those of all tasks. */
function namedPorts({ ports = {} }: ProgramStart, gangTask: GangTask | undefined): Readonly<Record<string, string>> {
  const own = Object.entries(ports).map(([name, port]) => [
    `TONY_PORT_${name.toUpperCase().replaceAll("-", "_")}`,
    String(port),
  ]);
  const all = gangTask === undefined ? {} : namedAddressesOf(gangTask);
  return { ...Object.fromEntries(own), ...(Object.keys(all).length > 0 && { TONY_PORTS: JSON.stringify(all) }) };
}

function trackedTasks(spec: JobSpec): number {
  const tracked = spec.roles.filter((role) => role.tracking === "tracked" && role.inMaster === undefined);
  return tracked.reduce((sum, role) => sum + role.instances, 0);
}

/** NVIDIA's, and AMD's for its driver and its runtime. */
const GPU_MASKS = ["CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"] as const;

/**
 * A role without GPUs, in a job whose other roles have some, must not take theirs: frameworks grab every device they see. A job
 * that requests none at all may run where GPUs exist but are not scheduled, and keeps seeing them.
 */
function hiddenGpus(spec: JobSpec, role: RoleSpec): Partial<Record<keyof typeof roleVariables, string>> {
  if (!spec.roles.some((one) => hasGpus(spec, one)) || hasGpus(spec, role)) return {};
  const unsaid = GPU_MASKS.filter((mask) => spec.containerEnvironment[mask] === undefined);
  return Object.fromEntries(unsaid.map((mask) => [mask, ""]));
}
