import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import { amountWords } from "../../src/job/reasons/words.ts";
import { queueName } from "./job-filter.ts";
import { awaitsRegistration } from "./registered-report.ts";
import { amPartition } from "./waiting-nodes.ts";

/**
 * Why an application's AM does not run yet, from the ResourceManager's report. The texts searched for are those of
 * org.apache.hadoop.yarn.server.resourcemanager.scheduler: SchedulerApplicationAttempt.AMState,
 * capacity.CSAMContainerLaunchDiagnosticsConstants, common.fica.FiCaSchedulerApp#getActivedAppDiagnosticMessage and
 * fair.FSAppAttempt#updateAMDiagnosticMsg.
 */
export function waitingReason(report: ApplicationReport): DelayReason {
  const { diagnostics, state } = report;
  if (state === "NEW" || state === "NEW_SAVING") return { code: "application-being-stored" };
  if (state === "SUBMITTED") return { code: "application-not-scheduled" };
  if (awaitsRegistration(report)) return { code: "am-registers-again" };
  const queue = queueName(report.queue);
  const says = (text: string) => diagnostics.includes(text);
  if (says("Queue's AM resource limit exceeded") || says("exceeds maximum AM resource allowed"))
    return { code: "am-limit-of-queue", queue, ...limitOfQueue(diagnostics) };
  if (says("User's AM resource limit exceeded"))
    return { code: "am-limit-of-user", queue, user: report.user, ...limitOfUser(diagnostics) };
  if (says("exceeds current queue or its parents maximum resource allowed")) return { code: "am-queue-full", queue };
  if (says("cluster resource is empty")) return { code: "no-node-running" };
  if (says("waiting for AM container to be launched")) return { code: "am-being-started" };
  if (says("waiting for AM container to Register")) return { code: "am-starting" };
  if (says("waiting for resources to be assigned for AM")) return notPlaced(queue, diagnostics);
  const words = firstSentence(diagnostics);
  return words === "" ? { code: "am-waits-in-queue", queue } : { code: "manager-says", words };
}

/** The reason of an AM that may have a container, and has none. */
function notPlaced(queue: string, diagnostics: string): DelayReason {
  const partition = amPartition(diagnostics) ?? "";
  const label = partition === "" ? {} : { label: partition };
  const usedPercent = percent(diagnostics, "used");
  const limitPercent = percent(diagnostics, "max");
  if (usedPercent !== undefined && limitPercent !== undefined && usedPercent >= limitPercent)
    return { code: "am-queue-full", queue, ...label, usedPercent, limitPercent };
  return { code: "am-not-placed", queue, ...label, ...lastNode(diagnostics, partition) };
}

/** The node that YARN tried last. One of another partition could not have taken the AM, however much it has free. */
function lastNode(diagnostics: string, wanted: string): { readonly host?: string; readonly free?: string } {
  const node =
    /Last Node which was processed for the application : (\S+):\d+ \( Partition : \[(.*?)\], .*? Available resource : <(.+?)> \)/.exec(
      diagnostics,
    );
  const [, host, partition = "", resource = ""] = node ?? [];
  const free = amountOf(resource);
  if (host === undefined || free === undefined || partition !== wanted) return {};
  return { host, free: amountWords(free) };
}

/** Reads what the ResourceManager writes as `memory:1664, vCores:31, yarn.io/gpu: 2`. */
function amountOf(text: string) {
  const amounts = new Map(
    text.split(", ").map((part) => {
      const at = part.lastIndexOf(":");
      return [part.slice(0, at), Number(part.slice(at + 1))];
    }),
  );
  const { memory, vCores, ...others }: Readonly<Record<string, number>> = Object.fromEntries(amounts);
  return memory === undefined || vCores === undefined ? undefined : { memoryMiB: memory, vcores: vCores, others };
}

/** The queue's share, to a tenth of a percent. */
function percent(diagnostics: string, which: "used" | "max"): number | undefined {
  const text = new RegExp(`Queue's Absolute ${which} capacity = ([0-9.E-]+) %`).exec(diagnostics)?.[1];
  return text === undefined ? undefined : Math.round(Number(text) * 10) / 10;
}

/** `usedMiB` is what all AMs of the queue use. */
function limitOfQueue(diagnostics: string): { readonly limitMiB?: number; readonly usedMiB?: number } {
  const limitMiB = memoryMiB(diagnostics, "Queue Resource Limit for AM");
  const usedMiB = memoryMiB(diagnostics, "Queue AM Resource Usage");
  return { ...(limitMiB === undefined ? {} : { limitMiB }), ...(usedMiB === undefined ? {} : { usedMiB }) };
}

function limitOfUser(diagnostics: string): { readonly limitMiB?: number } {
  const limitMiB = memoryMiB(diagnostics, "User AM Resource Limit of the queue");
  return limitMiB === undefined ? {} : { limitMiB };
}

/** The memory in an amount that the ResourceManager writes under a name. */
function memoryMiB(diagnostics: string, name: string): number | undefined {
  const text = new RegExp(`${name} = <memory:(\\d+)`).exec(diagnostics)?.[1];
  return text === undefined ? undefined : Number(text);
}

/** Without the time stamp that the ResourceManager puts in front. */
function firstSentence(diagnostics: string): string {
  const text = diagnostics.replace(/^\s*\[[^\]]*\]\s*/, "").trim();
  return text.split(/(?<=\.)\s/)[0] ?? text;
}
