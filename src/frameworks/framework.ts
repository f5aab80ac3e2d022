import type { RequestListener } from "node:http";
import type { ClusterSpec } from "../job/cluster-spec.ts";
import type { MissedMeeting } from "../job/execution.ts";
import type { DistributedMode, JobSpec, RoleSpec } from "../job/spec.ts";
import type { TaskId } from "../job/task.ts";

/** One process of one task of a gang that is complete, as a framework sees it. */
export interface GangTask {
  readonly spec: JobSpec;
  readonly cluster: ClusterSpec;
  readonly role: RoleSpec;
  readonly index: number;
  /** Which of the processes of its container it is, from 0. */
  readonly process: number;
  /** IP addresses of the hosts that `lookedUp` names. */
  readonly ips: ReadonlyMap<string, string>;
  /** The container's folder with the files that `hosts` asks for; undefined where it asks for none. */
  readonly hostsFolder?: string;
}

/** Other tasks as hosts in which the program may run commands. */
export interface Hosts {
  /** By the names that the program has for them. */
  readonly tasks: ReadonlyMap<string, TaskId>;
  /** Lists of them, by file name. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables that name the task's working directory, in what is run there. */
  readonly folderVariables: readonly string[];
}

/** What of a job a framework may refuse. */
export interface FrameworkJob {
  readonly roles: readonly RoleSpec[];
  readonly distributedMode: DistributedMode;
  /** Its commands have the parameters of a search, which build-search.ts looks at. */
  readonly isSearch?: boolean;
}

/** What a framework says of a job: `<key> <message>`. */
export interface FrameworkProblem {
  readonly severity: "error" | "warning";
  readonly key: string;
  readonly message: string;
}

/** How programs go on whose gang may be smaller (`tony.{role}.min-instances`): they meet anew when one comes or goes. */
export interface Elastic {
  /** Whether the others go on when the program of one exits by itself with another code than 0, as they do when its container is lost. */
  readonly outlivesExits: boolean;
  /** Lines by which a program that came late ends, when the others have closed their meeting, or nobody is where they meet. */
  readonly missed: Readonly<Record<MissedMeeting, RegExp>>;
}

/**
 * What a framework adds to a job, at each place where the job passes: one file each, and its variables in `variables.ts`. Everything is
 * pure but what `serve` returns.
 */
export interface FrameworkDefinition<Variable extends string = string, Default extends string = string> {
  /** In the client: what of the job the framework cannot run. */
  readonly check?: (job: FrameworkJob) => readonly FrameworkProblem[];
  /** Absent: its programs need all of their gang. */
  readonly elastic?: Elastic;
  /**
   * Who makes several processes of a container (`tony.{role}.processes`): the executor, each with an environment of its own, or the
   * program. Absent: nobody, and the key is refused.
   */
  readonly severalProcesses?: "executor" | "program";
  /** In the executor: hosts of which the environment needs IP addresses. */
  readonly lookedUp?: (task: GangTask) => readonly string[];
  /** In the executor: variables that are set unless the job or the node sets them. */
  readonly defaults?: (task: GangTask) => Readonly<Record<Default, string>>;
  /** In the executor: variables by name, beside those that every program gets; undefined for a task that takes no part. */
  readonly environment: (task: GangTask) => Readonly<Record<Variable, string>> | undefined;
  /** In the executor: the tasks in which the program runs commands by a `ssh` that is first on its path; undefined: it has none. */
  readonly hosts?: (task: GangTask) => Hosts | undefined;
  /** In the executor: what is served at the task's own port while its program runs, which then cannot listen there. */
  readonly serve?: (task: GangTask) => RequestListener | undefined;
  /** In the executor: what the shell of each process does before the command. */
  readonly prelude?: (task: GangTask) => string | undefined;
  /** In the executor: the command and the values of the role's environment, as they are run. */
  readonly fill?: (text: string, task: GangTask) => string;
}

const MODE = "tony.application.distributed-mode";

/** Refuses a job whose programs start before the others are there. */
export function gangOnly({ distributedMode }: FrameworkJob, framework: string): FrameworkProblem[] {
  if (distributedMode === "gang") return [];
  const message = `= fcfs starts programs before the others are there, and ${framework} needs their addresses: take it out`;
  return [{ severity: "error", key: MODE, message }];
}

/** Refuses a job in which a role, of which there is to be one task, has none or several. */
export function exactlyOne({ roles }: FrameworkJob, role: string, what: string): FrameworkProblem[] {
  const instances = roles.find(({ name }) => name === role)?.instances ?? 0;
  if (instances === 1) return [];
  return [{ severity: "error", key: `tony.${role}.instances`, message: `must be 1, not ${instances}: it is ${what}` }];
}
