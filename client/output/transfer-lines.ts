import { stateWords, transferName } from "../../src/job/reasons/transfers.ts";
import { countWords, durationWords, sizeWords } from "../../src/job/reasons/words.ts";
import { spokenName } from "../../src/job/search/trial-tasks.ts";
import type { JobState, JobStatus, Transfer } from "../../src/job/status.ts";
import { taskSpans } from "../../src/job/task.ts";

/** The job has ended: no transfer is in progress any more. */
const endStates: readonly JobState[] = ["succeeded", "failed", "killed"];

/** What executors have transferred, are transferring, or could not transfer: the output of all tasks in one line, the rest where it is news. */
export function transferLines(job: Pick<JobStatus, "tasks" | "nowMs" | "state" | "search" | "roles">): string[] {
  const { tasks, nowMs, state } = job;
  const all = tasks.flatMap(({ task, transfers = [] }) =>
    transfers.map((transfer) => ({ task: spokenName(job, task), ...transfer })),
  );
  const failed = all.filter(({ state }) => state === "failed" || state === "incomplete");
  const remarks = all.filter(({ state, reason }) => state === "done" && reason !== "");
  const underWay = all.filter(({ state }) => state === "under-way");
  return [
    ...outputLine(
      all.filter(({ what, state }) => what === "output" && state === "done"),
      all.filter(({ state }) => state === "empty"),
    ),
    ...remarks.map(({ what, task, reason }) => (what === "restored" ? `${task} ${reason}` : `${task}: ${reason}`)),
    ...failed.map((one) => `${one.task}: its ${transferName(one)} ${stateWords(one)}`),
    ...underWay.map((one) => {
      const what = `${one.task}: its ${transferName(one)} (${sizeWords(one.bytes)})`;
      if (endStates.includes(state))
        return `${what} was not uploaded completely to ${one.url}: its container ended first`;
      return `${what} is being uploaded to ${one.url}, since ${durationWords(nowMs - one.atMs)}`;
    }),
  ];
}

type TransferOf = Transfer & { readonly task: string };

/** Often one task writes the output of all: the others get no line of their own. */
function outputLine(done: readonly TransferOf[], empty: readonly TransferOf[]): string[] {
  const [first, firstEmpty] = [done[0], empty[0]];
  const emptyTasks = taskSpans(empty.map(({ task }) => task));
  if (first === undefined) return firstEmpty === undefined ? [] : [`${emptyTasks}: ${firstEmpty.reason}`];
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const files = countWords(sum(done.map((one) => one.files)), "file");
  const bytes = sizeWords(sum(done.map((one) => one.bytes)));
  const where = done.length === 1 ? first.url : first.url.slice(0, first.url.lastIndexOf("/"));
  const tasks = done.length === 1 ? "" : `, of ${countWords(done.length, "task")}`;
  const none = firstEmpty === undefined ? "" : `; ${emptyTasks} left none`;
  return [`output ${where} (${files}, ${bytes}${tasks}${none})`];
}
