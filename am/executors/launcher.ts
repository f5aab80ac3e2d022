import { logPrefixOf } from "../../src/job/launch/container-names.ts";
import { earlySections } from "../../src/job/launch/early-sections.ts";
import { executorVariables, launchCommand } from "../../src/job/launch/launch-command.ts";
import { aclsOf } from "../../src/job/launch/launch-context.ts";
import { escapeEnvironment, expandableEnvironment } from "../../src/job/launch/launch-script-text.ts";
import type { RoleSpec } from "../../src/job/spec.ts";
import type { JobFile, ShippedFile } from "../../src/job/stored/job-file.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { parseTaskId } from "../../src/job/task.ts";
import type { Launch } from "../core/state/effects.ts";
import type { ContainerCommand } from "../scheduler/scheduler.ts";

export interface LauncherOptions {
  readonly job: JobFile;
  readonly attempt: number;
  /** `host:port` at which executors find this ApplicationMaster. */
  readonly masterAddress: string;
  /** See executorCredentials. */
  readonly credentialsOf: (containerId: string) => Uint8Array;
  /** The memory that the container was granted. */
  readonly memoryMiBOf: (containerId: string) => number | undefined;
  /** Variables that tell programs of other systems. */
  readonly outletVariables: Readonly<Record<string, string>>;
  /** Whether a container that exceeds its memory is ended. */
  readonly memoryEnforced: boolean;
}

/** Decides how a task's container is started: its files, environment and command. */
export class Launcher {
  readonly #options: LauncherOptions;

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  command(launch: Launch): ContainerCommand {
    const { job, credentialsOf, outletVariables } = this.#options;
    const files = this.#filesOf(this.#roleOf(launch.task));
    return {
      containerId: launch.containerId,
      environment: {
        ...expandableEnvironment(job.spec.containerEnvironment),
        ...this.#roleOf(launch.task).image,
        ...escapeEnvironment({ ...outletVariables, ...this.#variables(launch) }),
      },
      commands: [launchCommand({ node: job.node, bundle: "executor.cjs", files })],
      files,
      credentials: credentialsOf(launch.containerId),
      acls: aclsOf(job.spec),
    };
  }

  /** The variables with which a task's executor starts in a container that had another task before. */
  variables(launch: Launch): Record<string, string> {
    return this.#variables(launch, logPrefixOf(launch.task));
  }

  #variables({ task, containerId, generation }: Launch, logPrefix?: string): Record<string, string> {
    const { job, attempt, masterAddress, memoryMiBOf, memoryEnforced } = this.#options;
    const { spec, applicationId } = job;
    const role = this.#roleOf(task);
    return executorVariables({
      task,
      applicationId,
      masterAddress,
      staging: stagingLocation(job),
      attempt,
      generation,
      isolationMs: spec.timeouts.isolationMs,
      sections: earlySections(spec),
      ...(role.ports && { portNames: role.ports }),
      tensorBoard: spec.tensorBoardTask === task,
      reusePort: role.reusePort,
      ...(memoryEnforced && { memoryMiB: memoryMiBOf(containerId) ?? role.resource.memoryMiB }),
      ...(logPrefix !== undefined && { logPrefix }),
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
