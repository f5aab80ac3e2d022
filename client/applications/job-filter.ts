import type { ApplicationReport, ApplicationState } from "../../src/hadoop/yarn/records.ts";
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
  /** Everything in the queue, whoever's it is: by its name, or by its path from root on. */
  readonly queue: string | undefined;
  /** Default: the caller. */
  readonly user: string | undefined;
}

/** Asks a place for the jobs that match. */
export async function chooseJobs(applications: Applications, filter: JobFilter): Promise<ApplicationReport[]> {
  const { all, name = "", queue, user = applications.user } = filter;
  const words = filter.states ?? (all ? stateWords : live);
  const whose =
    queue === undefined ? { users: [user], types: ["TONY"] } : { queues: [...new Set([queue, queueName(queue)])] };
  const asked = [...new Set(words.flatMap((word): readonly ApplicationState[] => states[word]))];
  const reports = await applications.reports({ ...whose, states: asked });
  const inName = name.toLowerCase();
  return reports.filter(
    (report) =>
      words.includes(wordOf(report)) &&
      report.name.toLowerCase().includes(inName) &&
      (queue === undefined || isQueue(report.queue, queue)),
  );
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
