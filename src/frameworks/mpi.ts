import type { RoleSpec } from "../job/spec.ts";
import { formatTaskId, type TaskId } from "../job/task.ts";
import {
  exactlyOne,
  type FrameworkDefinition,
  type FrameworkJob,
  type FrameworkProblem,
  type GangTask,
  gangOnly,
} from "./framework.ts";
import type { mpiHostVariables, mpiVariables } from "./variables.ts";

const LAUNCHER = "launcher";
const HOST_FILE = "hostfile";
/**
 * Where a host lacks the launcher's working directory, Open MPI starts a program in the home directory. It names the shared memory of a
 * host's processes by the machine and their number on the host (opal/mca/btl/sm): two containers of one machine, which are two hosts,
 * must not keep it in one folder.
 */
const FOLDER_VARIABLES: readonly (keyof typeof mpiHostVariables)[] = [
  "HOME",
  "OMPI_MCA_btl_sm_backing_directory",
  "OMPI_MCA_btl_vader_backing_directory",
];

/**
 * Open MPI: one task runs `mpirun`, which starts the processes in the containers of the others by `ssh`; the executor provides a
 * command of that name. The tasks are hosts: `worker:0` has the name `worker-0`. Only the launcher starts daemons: only its
 * container has that command.
 */
export const mpi: FrameworkDefinition<keyof typeof mpiVariables> = {
  check: (job) => [
    ...gangOnly(job, "MPI"),
    ...exactlyOne(job, LAUNCHER, "the task that starts the processes of all others"),
    ...hostsThatWait(job),
  ],
  severalProcesses: "program",
  hosts: (task) => {
    if (task.role.name !== LAUNCHER) return undefined;
    const hosts = hostsOf(task);
    return {
      tasks: new Map(hosts.map(({ name, task: id }) => [name, id])),
      files: { [HOST_FILE]: hosts.map(({ name, processes }) => `${name} slots=${processes}\n`).join("") },
      folderVariables: FOLDER_VARIABLES,
    };
  },
  environment: ({ role, hostsFolder }) => {
    if (role.name !== LAUNCHER || hostsFolder === undefined) return undefined;
    const hostFile = `${hostsFolder}/${HOST_FILE}`;
    return {
      TONY_HOSTFILE: hostFile,
      OMPI_MCA_orte_default_hostfile: hostFile,
      OMPI_MCA_plm_rsh_no_tree_spawn: "1",
      PRTE_MCA_prte_default_hostfile: hostFile,
      PRTE_MCA_plm_ssh_no_tree_spawn: "1",
      SHELL: "/bin/bash",
    };
  },
};

interface Host {
  readonly name: string;
  readonly task: TaskId;
  readonly processes: number;
}

/** Every role except the launcher's and sidecars. */
function isHost({ name, tracking }: RoleSpec): boolean {
  return name !== LAUNCHER && tracking !== "sidecar";
}

/** Their tasks, in the job's order. */
function hostsOf({ spec }: GangTask): Host[] {
  return spec.roles.filter(isHost).flatMap(({ name, instances, processes }) =>
    Array.from({ length: instances }, (_, index) => {
      return { name: `${name}-${index}`, task: formatTaskId(name, index), processes };
    }),
  );
}

/** A program that waits in a host's container until the launcher is done never ends by itself: the job must not wait for it. */
function hostsThatWait({ roles }: FrameworkJob): FrameworkProblem[] {
  const hosts = roles.filter(isHost);
  if (hosts.length === 0) {
    const message = "is missing: the launcher starts processes in the containers of another role";
    return [{ severity: "error", key: "tony.worker.instances", message }];
  }
  const awaited = hosts.filter(({ tracking }) => tracking === "tracked").map(({ name }) => name);
  if (awaited.length === 0) return [];
  const message = `must name ${awaited.join(",")}: the job ends when the launcher does`;
  return [{ severity: "error", key: "tony.application.untracked.jobtypes", message }];
}
