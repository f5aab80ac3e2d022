import path from "node:path";
import { wallClock } from "../src/hadoop/clock.ts";
import type { Configuration } from "../src/hadoop/conf/configuration.ts";
import type { CallTrouble } from "../src/hadoop/rpc/client.ts";
import { configuredProtections } from "../src/hadoop/security/configured-credentials.ts";
import type { Credentials } from "../src/hadoop/security/credentials.ts";
import { tokenCredentials } from "../src/hadoop/security/simple-credentials.ts";
import { resourceManagerEndpoints } from "../src/hadoop/yarn/endpoints.ts";
import { NodeManagerPool } from "../src/hadoop/yarn/node-manager.ts";
import { SchedulerClient } from "../src/hadoop/yarn/scheduler.ts";
import type { NodeSnapshot } from "../src/job/cluster-nodes.ts";
import { gpuTypesOf } from "../src/job/gpus.ts";
import type { JobFile } from "../src/job/stored/job-file.ts";
import type { Log } from "../src/log.ts";
import { thisMachine } from "../src/machine.ts";
import { InPlaceScheduler, LinkedFiles } from "./scheduler/in-place/in-place-scheduler.ts";
import { LocalScheduler } from "./scheduler/local/local-scheduler.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import { NodeTable } from "./scheduler/yarn/node-table.ts";
import { ResourceManagerSilence } from "./scheduler/yarn/silence.ts";
import { YarnScheduler } from "./scheduler/yarn/yarn-scheduler.ts";
import type { MasterSettings } from "./settings.ts";
import { masterToken } from "./tokens/credentials.ts";

export interface SchedulerInput {
  readonly job: JobFile;
  /** The cluster's nodes at the submission. */
  readonly nodes: readonly NodeSnapshot[];
  readonly settings: MasterSettings;
  readonly configuration: Configuration;
  readonly credentials: Credentials;
  readonly log: Log;
}

/** The scheduler that started this process: YARN, or the client on its own machine. */
export function makeScheduler(input: SchedulerInput): Scheduler {
  if (input.settings.local) return localScheduler(input);
  const roles = new Set(input.job.spec.roles.filter(({ inMaster }) => inMaster === true).map(({ name }) => name));
  const cluster = yarnScheduler(input);
  return roles.size === 0 ? cluster : new InPlaceScheduler({ cluster, own: ownScheduler(input), roles });
}

/** Gives this process's own container to tasks. Its devices are those that YARN shows this container. */
function ownScheduler({ job, settings }: SchedulerInput): Scheduler {
  const { memoryMiB, vcores } = job.spec.am.resource;
  return new LocalScheduler({
    ownContainerId: settings.containerId,
    firstNumber: 1,
    folder: path.resolve("tony-tasks"),
    logFolder: settings.logFolder,
    user: job.user,
    machine: { memoryMiB, vcores, gpus: [] },
    gpuTypes: [],
    node: settings.node,
    files: new LinkedFiles(process.cwd()),
  });
}

function localScheduler({ job, settings }: SchedulerInput): Scheduler {
  return new LocalScheduler({
    ownContainerId: settings.containerId,
    firstNumber: 2,
    folder: path.resolve(settings.localFolder),
    user: job.user,
    machine: thisMachine(process.env),
    gpuTypes: gpuTypesOf(job.spec),
    node: { host: "127.0.0.1", port: 0, httpAddress: "" },
  });
}

function yarnScheduler({ job, nodes, settings, configuration, credentials, log }: SchedulerInput): Scheduler {
  const token = masterToken(credentials, settings.tokenFile);
  const endpoints = resourceManagerEndpoints(configuration, "scheduler");
  const tokens = tokenCredentials({ protections: configuredProtections(configuration) });
  const silence = new ResourceManagerSilence({ endpoints, clock: wallClock, log });
  const onTrouble = (trouble: CallTrouble | undefined) =>
    trouble === undefined ? silence.ends() : silence.goesOn(trouble.error, trouble.elapsedMs);
  const { portalUrl } = job.spec.am;
  return new YarnScheduler({
    manager: new SchedulerClient({
      endpoints,
      token,
      credentials: tokens,
      resourceTypes: job.resourceTypes,
      onTrouble,
    }),
    nodeManagers: new NodeManagerPool({ credentials: tokens }),
    attempt: settings.attempt,
    ...(portalUrl !== undefined && { endedUrl: `${portalUrl.replace(/\/+$/, "")}/jobs/${job.applicationId}` }),
    nodes: new NodeTable({ ...job, nodes }, { host: settings.host, resource: job.spec.am.resource }),
    silence,
    clock: wallClock,
    log,
    defects: "log",
  });
}
