import path from "node:path";
import { decodeClusterSpec } from "../src/api/cluster-spec-codec.ts";
import type { MasterCommand } from "../src/api/messages.ts";
import { TonyError } from "../src/errors.ts";
import { type ProgramFolders, programEnvironment } from "../src/frameworks/program-environment.ts";
import { parseHostPort } from "../src/hadoop/conf/values.ts";
import type { ExecutorJob } from "../src/job/executor-job.ts";
import { PROGRAM_MARKER } from "../src/job/launch-command.ts";
import { folderOfTask } from "./carrier/names.ts";
import type { ProgramPlan } from "./generation.ts";
import type { MasterAddress } from "./master-address.ts";
import { type ExecutorSettings, inheritedEnvironment } from "./settings.ts";
import { unusableProgram } from "./unusable-program.ts";

export interface PlanOptions {
  readonly settings: ExecutorSettings;
  readonly job: ExecutorJob;
  readonly command: Extract<MasterCommand, { type: "start-child" }>;
  readonly master: MasterAddress;
  readonly generation: number;
  /** 0 where there is none. */
  readonly ports: { readonly tensorBoard: number };
  /** The container's. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workFolder: string;
  /** The path of the checkpoint that the program resumes from; empty: none. */
  readonly checkpoint: string;
}

/**
 * The command and environment of a program, or why it cannot be run. Throws a TonyError with code `UNKNOWN_ROLE` or `INVALID_CLUSTER_SPEC`.
 */
export function planProgram(options: PlanOptions): ProgramPlan {
  const { settings, job, command, master, generation, ports, environment, workFolder, checkpoint } = options;
  const { task, applicationId, containerId } = settings;
  const role = job.spec.roles.find(({ name }) => name === task.role);
  if (role === undefined) throw new TonyError(`The job has no role ${task.role}`, { code: "UNKNOWN_ROLE" });
  const address = parseHostPort(master.address) ?? { host: "", port: 0 };
  const progressFile = path.join(workFolder, `tony-progress-${generation}.jsonl`);
  const noticeFile = path.join(workFolder, `tony-notice-${generation}.json`);
  const own = programEnvironment(inheritedEnvironment(environment), {
    spec: job.spec,
    task,
    ...(command.clusterSpec.length > 0 && { cluster: decodeClusterSpec(command.clusterSpec) }),
    applicationId,
    attempt: master.attempt,
    generation,
    amHost: address.host,
    amPort: address.port,
    ...(ports.tensorBoard > 0 && { tensorBoardPort: ports.tensorBoard }),
    restartReason: command.restartReason,
    checkpoint,
    progressFile,
    noticeFile,
    folders: programFolders(options),
  });
  const { command: program } = role;
  const unusable = unusableProgram({
    command: program,
    files: [...job.spec.files, ...role.files],
    workFolder,
  });
  return {
    job,
    command: program,
    ...(unusable !== undefined && { unusable }),
    environment: { ...own, [PROGRAM_MARKER]: containerId },
    marker: `${PROGRAM_MARKER}=${containerId}`,
    progressFile,
    noticeFile,
  };
}

/** The container's folders that are uploaded, and where the output is uploaded to. */
function programFolders({ settings, job, workFolder }: PlanOptions): ProgramFolders {
  const { checkpoints, output } = job.spec.carrier ?? {};
  return {
    ...(checkpoints && { checkpoints: path.join(workFolder, checkpoints.localDir) }),
    ...(output && {
      output: path.join(workFolder, output.localDir),
      outputDestination: folderOfTask(output.dir, settings.applicationId, settings.task),
    }),
  };
}
