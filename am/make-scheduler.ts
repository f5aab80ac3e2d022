import path from "node:path";
import type { Configuration } from "../src/hadoop/conf/configuration.ts";
import type { Credentials } from "../src/hadoop/security/credentials.ts";
import { resourceManagerEndpoints } from "../src/hadoop/yarn/endpoints.ts";
import { NodeManagerPool } from "../src/hadoop/yarn/node-manager.ts";
import { SchedulerClient } from "../src/hadoop/yarn/scheduler.ts";
import type { JobFile } from "../src/job/job-file.ts";
import type { Log } from "../src/log.ts";
import { thisMachine } from "../src/machine.ts";
import { systemClock } from "./clock.ts";
import { masterToken } from "./credentials.ts";
import { LocalScheduler } from "./scheduler/local/local-scheduler.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import { NodeTable } from "./scheduler/yarn/node-table.ts";
import { YarnScheduler } from "./scheduler/yarn/yarn-scheduler.ts";
import type { Surroundings } from "./surroundings.ts";

export interface SchedulerInput {
  readonly job: JobFile;
  readonly surroundings: Surroundings;
  readonly configuration: Configuration;
  readonly credentials: Credentials;
  readonly log: Log;
}

/** The scheduler of whoever started this process. */
export function makeScheduler(input: SchedulerInput): Scheduler {
  return input.surroundings.local ? localScheduler(input) : yarnScheduler(input);
}

function localScheduler({ job, surroundings }: SchedulerInput): Scheduler {
  return new LocalScheduler({
    ownContainerId: surroundings.containerId,
    folder: path.resolve(surroundings.localFolder),
    user: job.user,
    machine: thisMachine(process.env),
  });
}

function yarnScheduler({ job, surroundings, configuration, credentials, log }: SchedulerInput): Scheduler {
  const token = masterToken(credentials, surroundings.tokenFile);
  return new YarnScheduler({
    master: new SchedulerClient({
      endpoints: resourceManagerEndpoints(configuration, "scheduler"),
      token,
      resourceTypes: job.resourceTypes,
    }),
    nodeManagers: new NodeManagerPool(),
    attempt: surroundings.attempt,
    nodes: new NodeTable(job, { host: surroundings.host, resource: job.spec.am.resource }),
    clock: systemClock,
    log,
  });
}
