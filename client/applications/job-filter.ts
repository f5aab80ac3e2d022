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

/** Which of the jobs that a source knows. */
export interface JobFilter {
  /** Also jobs that have ended; `states` is more precise. */
  readonly all: boolean;
  readonly states: readonly StateWord[] | undefined;
  /** A part of the name, in upper or lower case. */
  readonly name: string | undefined;
  /** All users' jobs in the queue and the queues below it; the queue by its name, or by its path from the root. */
  readonly queue: string | undefined;
  /** Default: the caller, or all users where a queue is given. */
  readonly user: string | undefined;
  readonly allUsers: boolean;
  /** When it was submitted, milliseconds since the epoch, both ends included. */
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

/** Asks a source for the jobs that match. @throws UserError (`UNKNOWN_QUEUE`) */
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

/** The queue and those below it; where the source has no queues, the queue as it was asked for. */
async function queuesOf({ queuesBelow }: Applications, queue: string): Promise<readonly string[]> {
  return queuesBelow === undefined ? [queue] : await queuesBelow(queue);
}

function nameAndPath(queue: string): string[] {
  return [queue, queueName(queue)];
}

function isWithin(atMs: number, { from = 0, to = Number.POSITIVE_INFINITY }: TimeRange): boolean {
  return atMs >= from && atMs <= to;
}

/** The last part of a queue's path, by which CapacityScheduler names it. */
export function queueName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** A report has a queue's name or its path, depending on the ResourceManager's release; where both are paths, the whole path counts. */
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
