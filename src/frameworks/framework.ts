import type { RequestListener } from "node:http";
import type { ClusterSpec } from "../job/cluster-spec.ts";
import type { MissedMeeting } from "../job/execution.ts";
import type { DistributedMode, JobSpec, RoleSpec } from "../job/spec.ts";
import type { TaskId } from "../job/task.ts";

/** One process of one task in a complete gang, as a framework sees it. */
export interface GangTask {
  readonly spec: JobSpec;
  readonly cluster: ClusterSpec;
  readonly role: RoleSpec;
  readonly index: number;
  /** The number of the process within its container, from 0. */
  readonly process: number;
  /** IP addresses of the hosts named by `lookedUp`. */
  readonly ips: ReadonlyMap<string, string>;
  /** The container's folder for the files that `hosts` requests; undefined where it requests none. */
  readonly hostsFolder?: string;
}

/** Other tasks as hosts in which the program may run commands. */
export interface Hosts {
  /** By the names that the program uses for them. */
  readonly tasks: ReadonlyMap<string, TaskId>;
  /** Host lists, by file name. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables that are set to the task's working directory, in commands run there. */
  readonly folderVariables: readonly string[];
}

/** The parts of a job that a framework may refuse. */
export interface FrameworkJob {
  readonly roles: readonly RoleSpec[];
  readonly distributedMode: DistributedMode;
  /** Its commands contain the parameters of a search, which build-search.ts checks. */
  readonly isSearch?: boolean;
}

/** A framework's complaint about a job: `<key> <message>`. */
export interface FrameworkProblem {
  readonly severity: "error" | "warning";
  readonly key: string;
  readonly message: string;
}

/** How programs of a gang that may be incomplete (`tony.{role}.min-instances`) continue: they meet again whenever one joins or leaves. */
export interface Elastic {
  /** Whether the others continue when a program exits by itself with a code other than 0, as they do when its container is lost. */
  readonly outlivesExits: boolean;
  /** The last lines of a program that came late: the others have closed their meeting, or nobody is where they meet. */
  readonly missed: Readonly<Record<MissedMeeting, RegExp>>;
}

/**
 * What a framework contributes to a job, at each place that the job passes through: one file per framework, and its variables in
 * `variables.ts`. Everything is pure except what `serve` returns.
 */
export interface FrameworkDefinition<Variable extends string = string, Default extends string = string> {
  /** In the client: finds what the framework cannot run. */
  readonly check?: (job: FrameworkJob) => readonly FrameworkProblem[];
  /** Absent: its programs need their whole gang. */
  readonly elastic?: Elastic;
  /**
   * Who starts several processes in a container (`tony.{role}.processes`): the executor, each with its own environment, or the
   * program. Absent: nobody, and the key is refused.
   */
  readonly severalProcesses?: "executor" | "program";
  /** In the executor: hosts whose IP addresses the environment needs. */
  readonly lookedUp?: (task: GangTask) => readonly string[];
  /** In the executor: variables that are set unless the job or the node sets them. */
  readonly defaults?: (task: GangTask) => Readonly<Record<Default, string>>;
  /** In the executor: variables by name, in addition to those of every program; undefined for a task that does not take part. */
  readonly environment: (task: GangTask) => Readonly<Record<Variable, string>> | undefined;
  /** In the executor: the tasks in which the program runs commands with an `ssh` that is first on its path; undefined: there is none. */
  readonly hosts?: (task: GangTask) => Hosts | undefined;
  /** In the executor: served at the task's own port while its program runs, which then cannot listen there. */
  readonly serve?: (task: GangTask) => RequestListener | undefined;
  /** In the executor: what the shell of each process runs before the command. */
  readonly prelude?: (task: GangTask) => string | undefined;
  /** In the executor: fills templates in the command and in the values of the role's environment. */
  readonly fill?: (text: string, task: GangTask) => string;
}

const MODE = "tony.application.distributed-mode";

/** Refuses a job whose programs start before the others exist. */
export function gangOnly({ distributedMode }: FrameworkJob, framework: string): FrameworkProblem[] {
  if (distributedMode === "gang") return [];
  const message = `= fcfs starts programs before the others are there, and ${framework} needs their addresses: take it out`;
  return [{ severity: "error", key: MODE, message }];
}

/** Refuses a job in which a role that must have exactly one task has none or several. */
export function exactlyOne({ roles }: FrameworkJob, role: string, what: string): FrameworkProblem[] {
  const instances = roles.find(({ name }) => name === role)?.instances ?? 0;
  if (instances === 1) return [];
  return [{ severity: "error", key: `tony.${role}.instances`, message: `must be 1, not ${instances}: it is ${what}` }];
}
