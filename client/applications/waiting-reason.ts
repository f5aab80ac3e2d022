import type { ApplicationReport, QueueInfo } from "../../src/hadoop/yarn/records.ts";
import { awaitsRegistration, masterIsToRegister } from "./registered-report.ts";

/**
 * Why an application's AM does not run yet, in words, from the ResourceManager's diagnostics and the queue. The texts searched for are
 * those of org.apache.hadoop.yarn.server.resourcemanager.scheduler (SchedulerApplicationAttempt.AMState and
 * capacity.CSAMContainerLaunchDiagnosticsConstants).
 */
export function waitingReason(report: ApplicationReport, queue: QueueInfo | undefined): string {
  const { diagnostics, state } = report;
  if (state === "NEW" || state === "NEW_SAVING") return "the ResourceManager is storing the application";
  if (state === "SUBMITTED") return "the scheduler has not taken the application up yet";
  if (awaitsRegistration(report)) return masterIsToRegister;
  if (diagnostics.includes("Queue's AM resource limit exceeded"))
    return `${queueName(report)} is at its limit for AMs${limits(diagnostics, queue)}`;
  if (diagnostics.includes("User's AM resource limit exceeded")) {
    return `${report.user} is at the limit for AMs of one user in ${queueName(report)}${limits(diagnostics, queue)}`;
  }
  if (diagnostics.includes("cluster resource is empty")) return "the cluster has no running NodeManager";
  if (diagnostics.includes("waiting for AM container to be launched"))
    return "the AM has its container, which is being started";
  if (diagnostics.includes("waiting for AM container to Register")) return "the AM is starting";
  if (diagnostics.includes("partition"))
    return `no node with the label that the AM asks for has room (${firstSentence(diagnostics)})`;
  if (diagnostics.includes("waiting for resources to be assigned for AM")) {
    return `no container for the AM in ${queueName(report)} yet${busy(queue)}`;
  }
  return diagnostics.trim() === "" ? `waiting in ${queueName(report)}` : firstSentence(diagnostics);
}

/** Reports name the whole path of a queue, people its last word. */
function queueName({ queue }: ApplicationReport): string {
  return `queue ${queue.slice(queue.lastIndexOf(".") + 1)}`;
}

/** ` (limit 409 MiB, in use 0 MiB by 2 applications); tony-ts list --queue ml shows them` */
function limits(diagnostics: string, queue: QueueInfo | undefined): string {
  const limit = /(?:Queue|User AM) Resource Limit (?:for AM|of the queue) = <memory:(\d+)/.exec(diagnostics)?.[1];
  const used = /(?:Queue|User) AM Resource Usage = <memory:(\d+)/.exec(diagnostics)?.[1];
  const amounts = limit === undefined ? "" : ` (${limit} MiB${used === undefined ? "" : `, in use ${used} MiB`})`;
  return `${amounts}${busy(queue)}`;
}

function busy(queue: QueueInfo | undefined): string {
  if (queue === undefined || queue.applications.length === 0) return "";
  return `; tony-ts list --queue ${queue.name} shows what runs there`;
}

/** Without the time stamp that the ResourceManager puts before it. */
function firstSentence(diagnostics: string): string {
  const text = diagnostics.replace(/^\s*\[[^\]]*\]\s*/, "").trim();
  return text.split(/(?<=\.)\s/)[0] ?? text;
}
