import { keyWords } from "../reasons/words.ts";
import { gridSize } from "../search/grid.ts";
import { MOST_TRIALS, type Search } from "../search/trials.ts";
import { countTasks, type JobSpec } from "../spec.ts";

/** More tasks than one ApplicationMaster can manage. */
const MOST_TASKS = 10_000;

/**
 * The job that runs a search's trials. A trial with one task is a task of the search's only role, which starts when it can and leaves its
 * container to the next trial; one with several is a gang of the job's roles. A failed trial ends nothing, and has its own restarts.
 */
export function searchRun(spec: JobSpec, search: Search): JobSpec {
  const ofOne = isOfOneTask(spec);
  const roles = spec.roles.map(({ retryCount: _, ...role }) => role);
  const budgets = { ...spec.failure.budgets, program: ofOne ? 0 : search.retries };
  const trials = countOf(search);
  return ofOne
    ? {
        ...spec,
        search,
        distributedMode: "fcfs",
        failure: { ...spec.failure, onWorkerFailure: "tolerate", budgets },
        roles: roles.map((role) => ({ ...role, instances: trials, chief: "none" })),
      }
    : {
        ...spec,
        search,
        trials,
        failure: { ...spec.failure, onWorkerFailure: "fail", budgets },
        roles: roles.map((role) => ({ ...role, restartPolicy: "gang" })),
      };
}

/** Why a search cannot be run, and where the job says so; undefined: it can. */
export function notRun(spec: JobSpec, search: Search): string | undefined {
  const refusal = isOfOneTask(spec) ? undefined : REFUSALS.find(({ is }) => is(spec, search));
  const key = refusal && Object.keys(spec.sources).find((one) => refusal.by.test(one));
  return key === undefined ? refusal?.why : `${refusal?.why}: ${keyWords({ spec }, key)}`;
}

function isOfOneTask({ roles: [role, ...others] }: JobSpec): boolean {
  return others.length === 0 && role?.instances === 1;
}

/** What trials of several tasks cannot combine with. */
const REFUSALS: readonly { readonly why: string; readonly by: RegExp; is(spec: JobSpec, search: Search): boolean }[] = [
  {
    why: "trials of several tasks start all their tasks together",
    by: /^tony\.application\.distributed-mode$/,
    is: ({ distributedMode }) => distributedMode === "fcfs",
  },
  {
    why: "trials of several tasks are not started by mpirun",
    by: /^tony\.application\.framework$/,
    is: ({ framework }) => framework === "mpi",
  },
  {
    why: "trials of several tasks never start with fewer of them",
    by: /\.min-instances$/,
    is: ({ roles }) => roles.some(({ minInstances }) => minInstances !== undefined),
  },
  {
    why: "trials of several tasks cannot run one in the ApplicationMaster's container",
    by: /\.in-am$|^tony\.am\.command$/,
    is: ({ roles }) => roles.some(({ inMaster }) => inMaster === true),
  },
  {
    why: "trials of several tasks start again as a whole, whatever their roles say",
    by: /\.restart-policy$/,
    is: ({ roles }) => roles.some(({ restartPolicy, tracking }) => restartPolicy !== "gang" && tracking !== "sidecar"),
  },
  {
    why: "trials of several tasks have no time limits between groups of roles",
    by: /^tony\.application\.dependency\./,
    is: ({ groupLimits }) => groupLimits.length > 0,
  },
  {
    why: "trials of several tasks do not share feeds",
    by: /^tony\.feed\./,
    is: ({ feeds = [] }) => feeds.length > 0,
  },
  {
    why: `its trials have more than ${MOST_TASKS} tasks together: lower their number`,
    by: /^tony\.search\.max-trials$/,
    is: (spec, search) => countTasks({ roles: spec.roles, trials: countOf(search) }) > MOST_TASKS,
  },
];

function countOf({ space, maxTrials = MOST_TRIALS }: Search): number {
  return Math.min(maxTrials, gridSize(space));
}
