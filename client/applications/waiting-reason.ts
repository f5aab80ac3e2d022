import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { awaitsRegistration, masterIsToRegister } from "./registered-report.ts";

/**
 * Why an application's AM does not run yet, in words, from the ResourceManager's diagnostics. The texts searched for are
 * those of org.apache.hadoop.yarn.server.resourcemanager.scheduler (SchedulerApplicationAttempt.AMState and
 * capacity.CSAMContainerLaunchDiagnosticsConstants).
 */
export function waitingReason(report: ApplicationReport): string {
  const { diagnostics, state } = report;
  if (state === "NEW" || state === "NEW_SAVING") return "the ResourceManager is storing the application";
  if (state === "SUBMITTED") return "the scheduler has not taken the application up yet";
  if (awaitsRegistration(report)) return masterIsToRegister;
  if (diagnostics.includes("Queue's AM resource limit exceeded"))
    return `${queueName(report)} is at its limit for AMs${limits(report)}`;
  if (diagnostics.includes("User's AM resource limit exceeded")) {
    return `${report.user} is at the limit for AMs of one user in ${queueName(report)}${limits(report)}`;
  }
  if (diagnostics.includes("cluster resource is empty")) return "the cluster has no running NodeManager";
  if (diagnostics.includes("waiting for AM container to be launched"))
    return "the AM has its container, which is being started";
  if (diagnostics.includes("waiting for AM container to Register")) return "the AM is starting";
  if (diagnostics.includes("partition"))
    return `no node with the label that the AM asks for has room (${firstSentence(diagnostics)})`;
  if (diagnostics.includes("waiting for resources to be assigned for AM")) {
    return `no container for the AM in ${queueName(report)} yet${whoIsThere(report)}`;
  }
  return diagnostics.trim() === "" ? `waiting in ${queueName(report)}` : firstSentence(diagnostics);
}

/** Reports name the whole path of a queue, people its last word. */
function shortName({ queue }: ApplicationReport): string {
  return queue.slice(queue.lastIndexOf(".") + 1);
}

function queueName(report: ApplicationReport): string {
  return `queue ${shortName(report)}`;
}

/** ` (820 MiB, in use 819 MiB); tony-ts list --queue ml shows what runs there` */
function limits(report: ApplicationReport): string {
  const { diagnostics } = report;
  const limit = /(?:Queue|User AM) Resource Limit (?:for AM|of the queue) = <memory:(\d+)/.exec(diagnostics)?.[1];
  const used = /(?:Queue|User) AM Resource Usage = <memory:(\d+)/.exec(diagnostics)?.[1];
  const amounts = limit === undefined ? "" : ` (${limit} MiB${used === undefined ? "" : `, in use ${used} MiB`})`;
  return `${amounts}${whoIsThere(report)}`;
}

function whoIsThere(report: ApplicationReport): string {
  return `; tony-ts list --queue ${shortName(report)} shows what runs there`;
}

/** Without the time stamp that the ResourceManager puts before it. */
function firstSentence(diagnostics: string): string {
  const text = diagnostics.replace(/^\s*\[[^\]]*\]\s*/, "").trim();
  return text.split(/(?<=\.)\s/)[0] ?? text;
}
