import { lookup } from "node:dns/promises";
import path from "node:path";
import { decodeClusterSpec } from "../../src/api/cluster-spec-codec.ts";
import type { MasterCommand } from "../../src/api/messages.ts";
import { TonyError } from "../../src/errors.ts";
import {
  type Environment,
  hostsToLookUp,
  type ProgramFolders,
  type ProgramStart,
  taskProgram,
} from "../../src/frameworks/task-program.ts";
import { parseHostPort } from "../../src/hadoop/conf/values.ts";
import { generationFiles } from "../../src/job/launch/container-names.ts";
import { PROGRAM_MARKER } from "../../src/job/launch/launch-command.ts";
import { clusterOfTrial, inTrial } from "../../src/job/search/trial-tasks.ts";
import type { FileToShip } from "../../src/job/spec.ts";
import { folderOfTask } from "../../src/job/stored/carried-names.ts";
import type { ExecutorJob } from "../../src/job/stored/executor-job.ts";
import { parametersShape } from "../../src/job/stored/search-shape.ts";
import type { MasterAddress } from "../core/master.ts";
import { prepareStacks } from "../monitoring/python-stacks.ts";
import { hadoopClientVariables } from "../preparation/hadoop-client.ts";
import { unusableProgram } from "../preparation/unusable-program.ts";
import { type ExecutorSettings, inheritedEnvironment } from "../settings.ts";
import type { ProgramPlan } from "./generation.ts";
import type { PortNumbers } from "./generation-ports.ts";
import { interfaceOfNode } from "./network-interface.ts";

export interface PlanOptions {
  readonly settings: ExecutorSettings;
  readonly job: ExecutorJob;
  readonly command: Extract<MasterCommand, { type: "start-child" }>;
  readonly master: MasterAddress;
  readonly generation: number;
  readonly ports: PortNumbers;
  /** The container's. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workFolder: string;
  /** The path of the checkpoint that the program resumes from; empty: none. */
  readonly checkpoint: string;
  /** The parameters found by the program that ran before all others; undefined: none. */
  readonly modelParameters: string | undefined;
  /** Where the program may call its executor; undefined: nowhere. */
  readonly apiSocket: string | undefined;
}

/**
 * The command and environments of a program, or why it cannot be run. Throws a TonyError with code `UNKNOWN_ROLE` or
 * `INVALID_CLUSTER_SPEC`, and an Error when a host has no IP address.
 */
export async function planProgram(options: PlanOptions): Promise<ProgramPlan> {
  const { settings, job, workFolder, environment, apiSocket } = options;
  const role = job.spec.roles.find(({ name }) => name === settings.task.role);
  if (role === undefined) throw new TonyError(`The job has no role ${settings.task.role}`, { code: "UNKNOWN_ROLE" });
  const { progress, notice, hosts: hostsName } = generationFiles(options.generation);
  const files = {
    progressFile: path.join(workFolder, progress),
    noticeFile: path.join(workFolder, notice),
    hostsFolder: path.join(workFolder, hostsName),
  };
  const start = { ...programStart(options), ...files, ...(apiSocket !== undefined && { apiSocket }) };
  const inherited = inheritedEnvironment(environment);
  const { memoryLimitBytes } = settings;
  const hadoop = await hadoopClientVariables(inherited, { user: job.user, memoryLimitBytes });
  const shipped = [...job.spec.files, ...role.files];
  const container = { ...inherited, ...hadoop, ...pexVariables(inherited, shipped) };
  const taskHosts = start.cluster?.tasks.map(({ host }) => host) ?? [];
  const networkInterface = await interfaceOfNode(settings.host, taskHosts);
  const { command, prelude, environments, serve, hosts } = taskProgram(container, {
    ...start,
    ...(networkInterface !== undefined && { networkInterface }),
    ips: await lookUp(hostsToLookUp(start)),
  });
  const [first, ...others] = environments;
  const unusable = unusableProgram({ command, searchPath: first.PATH, files: shipped, workFolder });
  const mark = (own: Environment) => {
    const pythonPath = prepareStacks(workFolder, own.PYTHONPATH);
    return {
      ...own,
      ...(pythonPath !== undefined && { PYTHONPATH: pythonPath }),
      [PROGRAM_MARKER]: settings.containerId,
    };
  };
  return {
    job,
    start,
    command: prelude === undefined ? command : `${prelude}\n${command}`,
    ...(unusable !== undefined && { unusable }),
    environments: [mark(first), ...others.map(mark)],
    marker: `${PROGRAM_MARKER}=${settings.containerId}`,
    ...(serve && { serve }),
    ...(hosts && { hosts }),
    ...files,
  };
}

function programStart(options: PlanOptions): ProgramStart {
  const { settings, job, command, master, generation, ports, checkpoint, modelParameters } = options;
  const amAddress = parseHostPort(master.address) ?? { host: "", port: 0 };
  const { number, task } = inTrial(job.spec, settings.task);
  const cluster = command.clusterSpec.length > 0 ? decodeClusterSpec(command.clusterSpec) : undefined;
  return {
    spec: job.spec,
    task,
    ...(cluster && { cluster: clusterOfTrial(job.spec, cluster) }),
    applicationId: settings.applicationId,
    attempt: master.attempt,
    generation,
    amHost: amAddress.host,
    amPort: amAddress.port,
    address: { host: settings.host, port: ports.task },
    ports: ports.named,
    ...(ports.tensorBoard > 0 && { tensorBoardPort: ports.tensorBoard }),
    restartReason: command.restartReason,
    restarts: command.restarts,
    checkpoint,
    ...(modelParameters !== undefined && { modelParameters }),
    ...(command.trialParams !== undefined && {
      trial: { number, parameters: parametersShape(JSON.parse(command.trialParams), "") },
    }),
    folders: programFolders(options),
  };
}

/** As the operating system resolves them, including /etc/hosts. */
async function lookUp(hosts: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = hosts.map(async (host): Promise<[string, string]> => [host, (await lookup(host)).address]);
  return new Map(await Promise.all(found));
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

/**
 * Where a PEX that the job ships unpacks itself: in the application's own folder on the node, once for all its containers there. By
 * default it uses ~/.cache/pex and, without a home that containers can write to (yarn.nodemanager.user-home-dir), a new folder each time.
 */
export function pexVariables(
  environment: Readonly<Record<string, string | undefined>>,
  shipped: readonly FileToShip[],
): Record<string, string> {
  const [folder] = environment.LOCAL_DIRS?.split(",") ?? [];
  if (!folder || environment.PEX_ROOT !== undefined || !shipped.some(({ name }) => /\.pex$/i.test(name))) return {};
  return { PEX_ROOT: path.join(folder, "pex") };
}
