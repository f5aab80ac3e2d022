import type { ApplicationReport, ApplicationState } from "../../src/hadoop/yarn/records.ts";
import type { TimeRange } from "../../src/hadoop/yarn/submission.ts";
import { type Applications, finalState } from "./applications.ts";

/** What a job is doing, in the words that people choose by, and YARN's states behind each. */
const states = {
  waiting: ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED"],
  running: ["RUNNING"],
  succeeded: ["FINISHED"],
  failed: ["FINISHED", "FAILED"],
  killed: ["FINISHED", "KILLED"],
} as const satisfies Readonly<Record<string, readonly ApplicationState[]>>;

export type StateWord = keyof typeof states;
export const stateWords: readonly StateWord[] = ["waiting", "running", "succeeded", "failed", "killed"];
const live: readonly StateWord[] = ["waiting", "running"];

/** Which of the jobs that a place knows. */
export interface JobFilter {
  /** Also jobs that have ended; `states` says it more exactly. */
  readonly all: boolean;
  readonly states: readonly StateWord[] | undefined;
  /** A part of the name, in any case of letters. */
  readonly name: string | undefined;
  /** Everything in the queue and those below it, whoever's it is: by its name, or by its path from root on. */
  readonly queue: string | undefined;
  /** Default: the caller, or everybody in a queue. */
  readonly user: string | undefined;
  readonly allUsers: boolean;
  /** Submitted then, milliseconds since the epoch, both ends included. */
  readonly submittedMs: TimeRange;
}

/** The caller's own jobs that have not ended. */
export const ownJobs: JobFilter = {
  all: false,
  states: undefined,
  name: undefined,
  queue: undefined,
  user: undefined,
  allUsers: false,
  submittedMs: {},
};

/** Asks a place for the jobs that match. @throws UserError (`UNKNOWN_QUEUE`) */
export async function chooseJobs(applications: Applications, filter: JobFilter): Promise<ApplicationReport[]> {
  const { all, name = "", queue, user, allUsers, submittedMs } = filter;
  const words = filter.states ?? (all ? stateWords : live);
  const queues = queue === undefined ? undefined : await queuesOf(applications, queue);
  const isEverybodys = user === undefined && (allUsers || queue !== undefined);
  const reports = await applications.reports({
    ...(queues === undefined ? { types: ["TONY"] } : { queues: [...new Set(queues.flatMap(nameAndPath))] }),
    ...(isEverybodys ? {} : { users: [user ?? applications.user] }),
    states: [...new Set(words.flatMap((word): readonly ApplicationState[] => states[word]))],
    ...(submittedMs.from === undefined && submittedMs.to === undefined ? {} : { startedMs: submittedMs }),
  });
  const inName = name.toLowerCase();
  return reports.filter(
    (report) =>
      words.includes(wordOf(report)) &&
      report.name.toLowerCase().includes(inName) &&
      isWithin(report.startTimeMs, submittedMs) &&
      (queues === undefined || queues.some((one) => isQueue(report.queue, one))),
  );
}

/** The queue and those below it; of a place that has none it is what was asked for. */
async function queuesOf({ queuesBelow }: Applications, queue: string): Promise<readonly string[]> {
  return queuesBelow === undefined ? [queue] : await queuesBelow(queue);
}

function nameAndPath(queue: string): string[] {
  return [queue, queueName(queue)];
}

function isWithin(atMs: number, { from = 0, to = Number.POSITIVE_INFINITY }: TimeRange): boolean {
  return atMs >= from && atMs <= to;
}

/** The last part of a queue's path, which is how CapacityScheduler names it. */
export function queueName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** Reports have a queue's name or its path, depending on the ResourceManager's age; where both are paths all of them counts. */
function isQueue(reported: string, asked: string): boolean {
  const arePaths = reported.includes(".") && asked.includes(".");
  return arePaths ? reported === asked : queueName(reported) === queueName(asked);
}

function wordOf(report: ApplicationReport): StateWord {
  switch (finalState(report)) {
    case "RUNNING":
      return "running";
    case "SUCCEEDED":
    case "ENDED":
      return "succeeded";
    case "FAILED":
      return "failed";
    case "KILLED":
      return "killed";
    default:
      return report.state === "FINISHED" ? "failed" : "waiting";
  }
}
