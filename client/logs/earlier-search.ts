import { shownNameInTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus, TaskStatus } from "../../src/job/status.ts";
import { taskSpans } from "../../src/job/task.ts";

/** What can be requested for a trial: the command, and the words for what an application has. */
const ASKED = {
  logs: { command: "logs", has: { one: "its logs", all: "their logs" } },
  get: { command: "get", has: { one: "what it left", all: "what they left" } },
} as const;
type Asked = keyof typeof ASKED;

/** The message for a request that concerns a trial which ended in an earlier search, named by trial or task; undefined: it did not. */
export function earlierWords(status: JobStatus, name: string, what: Asked): string | undefined {
  const byTrial = name.startsWith("trial:") ? name : (shownNameInTrial(status, name) ?? name);
  const trial = trialOf(byTrial);
  const application = status.tasks.find((task) => applicationOf(task) && trialNameOf(status, task) === trial)?.trial
    ?.application;
  return application === undefined ? undefined : endedWords([trial], application, what, byTrial);
}

/** The same for all trials that ended in earlier searches, one sentence per search. */
export function allEarlierWords(status: JobStatus, what: Asked): string[] {
  const applications = new Set(status.tasks.flatMap((task) => applicationOf(task) ?? []));
  return [...applications].map((application) => {
    const own = status.tasks.filter((task) => applicationOf(task) === application);
    const trials = new Set(own.flatMap((task) => trialNameOf(status, task) ?? []));
    return endedWords([...trials], application, what);
  });
}

function endedWords(trials: readonly string[], application: string, what: Asked, named = ""): string {
  const { command, has } = ASKED[what];
  const words = ["tony-ts", command, application, named].filter((word) => word !== "").join(" ");
  return `${taskSpans(trials)} ended in ${application}, which has ${trials.length > 1 ? has.all : has.one}: ${words}`;
}

function applicationOf({ trial }: TaskStatus): string | undefined {
  return trial?.application;
}

function trialNameOf(status: JobStatus, { task }: TaskStatus): string | undefined {
  const name = shownNameInTrial(status, task);
  return name && trialOf(name);
}

/** `trial:17` of `trial:17/worker:0` */
function trialOf(name: string): string {
  return name.replace(/\/.*/, "");
}
