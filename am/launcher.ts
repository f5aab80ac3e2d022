import type { JobFile, ShippedFile } from "../src/job/job-file.ts";
import { executorEnvironment, launchCommand } from "../src/job/launch-command.ts";
import { logPrefixOf } from "../src/job/log-prefix.ts";
import type { RoleSpec } from "../src/job/spec.ts";
import { stagingLocation } from "../src/job/staging-location.ts";
import { parseTaskId } from "../src/job/task.ts";
import type { Launch } from "./core/state/effects.ts";
import type { ContainerCommand } from "./scheduler/scheduler.ts";

export interface LauncherOptions {
  readonly job: JobFile;
  readonly attempt: number;
  /** `host:port` that executors find this ApplicationMaster at. */
  readonly masterAddress: string;
  /** See executorCredentials. */
  readonly credentials: Uint8Array;
  /** The memory that the container was granted. */
  readonly memoryMiBOf: (containerId: string) => number | undefined;
  /** Whether a container that exceeds its memory is ended. */
  readonly memoryEnforced: boolean;
}

/** Says how a task's container is started: with which files, environment and command. */
export class Launcher {
  readonly #options: LauncherOptions;

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  /** @param again the container has had another task before, whose log files keep their names */
  command(launch: Launch, { again = false } = {}): ContainerCommand {
    const { job, credentials } = this.#options;
    const role = this.#roleOf(launch.task);
    const logPrefix = again ? logPrefixOf(launch.task) : "";
    return {
      containerId: launch.containerId,
      environment: {
        ...expandable(job.spec.containerEnvironment),
        ...this.#executorEnvironment(launch, role, logPrefix),
      },
      commands: [launchCommand({ node: job.node, bundle: "executor.cjs", logPrefix })],
      files: this.#filesOf(role),
      credentials,
    };
  }

  #executorEnvironment(
    { task, containerId, generation }: Launch,
    role: RoleSpec,
    logPrefix: string,
  ): Record<string, string> {
    const { job, attempt, masterAddress, memoryMiBOf, memoryEnforced } = this.#options;
    const { spec, applicationId } = job;
    return executorEnvironment({
      task,
      applicationId,
      masterAddress,
      staging: stagingLocation(job),
      attempt,
      generation,
      ...(spec.ports.task === undefined ? {} : { portRange: spec.ports.task }),
      tensorBoard: spec.tensorBoardTask === task,
      reusePort: role.reusePort,
      ...(memoryEnforced && { memoryMiB: memoryMiBOf(containerId) ?? role.resource.memoryMiB }),
      logLevel: spec.logs.level,
      ...(logPrefix !== "" && { logPrefix }),
    });
  }

  #filesOf(role: RoleSpec): readonly ShippedFile[] {
    const { files } = this.#options.job;
    return [...files.all, ...(files.byRole[role.name] ?? [])];
  }

  #roleOf(task: string): RoleSpec {
    const name = parseTaskId(task)?.role;
    const role = this.#options.job.spec.roles.find((candidate) => candidate.name === name);
    if (role === undefined) throw new RangeError(`the job has no role of task ${task}`);
    return role;
  }
}

/**
 * A user's values stand in double quotes in the launch script. There bash expands `$NAME`, which is intended; `\$` prevents it. Everything
 * else that would end the quotes or run a command is escaped.
 */
function expandable(environment: Readonly<Record<string, string>>): Record<string, string> {
  const escaped = (value: string): string => value.replace(/\\(?!\$)|["`]|\$(?=\()/g, "\\$&");
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, escaped(value)]));
}
