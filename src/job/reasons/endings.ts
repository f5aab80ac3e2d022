import type { Notice } from "../execution.ts";
import type { FactsOf } from "./facts.ts";
import { type ReasonOf, reason } from "./reason.ts";
import { ranTooLongWords, stopWords } from "./stops.ts";
import { durationWords, listWords } from "./words.ts";

/** The task that ended. */
const where = { task: "text", host: "text" } as const;

/** Further facts in YARN's report of a container's end. */
const container = {
  ...where,
  /** A value of org.apache.hadoop.yarn.api.records.ContainerExitStatus. */
  exitStatus: "number?",
  /** The last line of its stderr, or the node's health report. */
  detail: "text?",
  /** The address of a file that its node could not fetch. */
  file: "text?",
  /** What it used and what its limit is, in the source's format. */
  used: "text?",
  limit: "text?",
  usedMiB: "number?",
} as const;

type Container = FactsOf<typeof container>;

/** Why a container ended, by YARN's completion status; the executor may report a lack of memory earlier. */
export const containerReasons = {
  "ran-out-of-memory": ended("ran out of memory"),
  "exceeded-virtual-memory": ended("used more virtual memory than YARN allows"),
  "wrote-too-many-logs": ended("wrote more logs than YARN allows"),
  "files-not-fetched": ended("could not get its files"),
  "disks-full": ended("could not be launched: no space is left in the local folders (yarn.nodemanager.local-dirs)"),
  "disks-failed": ended("lost its container: the node's disks failed"),
  "container-preempted": ended("was preempted by the ResourceManager"),
  "container-ended-by-manager": ended("lost its container: the ResourceManager ended it"),
  "container-ended-by-node": ended("lost its container: the node's scheduler ended it"),
  "container-expired": ended("lost its container: it was not started in time"),
  "container-killed": ended("lost its container to a signal of unknown origin"),
  "node-lost": ended("lost its node"),
  "node-decommissioned": ended("lost its node, which was taken out of the cluster,"),
  "executor-died": reason(
    { ...container, exitStatus: "number" },
    (it) => `${it.task} lost its executor (container exit ${it.exitStatus}) on ${it.host}${rest(it)}`,
  ),
};

/** How a task failed. */
export const endingReasons = {
  ...containerReasons,
  "file-unreadable": reason({ ...where, file: "text", archive: "text?" }, ({ task, host, file, archive }) => {
    const origin = archive === undefined ? "" : ` of ${archive}`;
    return `${task} could not be launched on ${host}: the node's user may not read ${file}${origin}, or what it links to`;
  }),
  "launch-failed": reason(
    { ...where, message: "text" },
    ({ task, host, message }) => `${task} on ${host} could not be launched: ${message}`,
  ),
  "program-not-started": reason(
    { ...where, error: "text?" },
    ({ task, host, error }) => `${task} could not start its program on ${host}${after(error)}`,
  ),
  /** `exitCode`: the shell's code for the signal. `awaited`: YARN may yet report that it ended the container, and why. */
  "program-signalled": reason(
    { ...where, signal: "text", exitCode: "number?", awaited: "flag?" },
    ({ task, host, signal, exitCode, awaited }) => {
      const how =
        exitCode === undefined
          ? `was ended by ${signal} on ${host}`
          : `exited ${exitCode} on ${host}, as a shell does after ${signal}`;
      return `${task} ${how}${mayFollow(awaited)}`;
    },
  ),
  /** `before`: an exception that it printed and may have caught. */
  "program-exited": reason(
    { ...where, exitCode: "number", error: "text?", before: "text?", awaited: "flag?" },
    ({ task, host, exitCode, error, before, awaited }) =>
      `${task} exited ${exitCode} on ${host}${after(error)}${saidBefore(before)}${mayFollow(awaited)}`,
  ),
  "no-metric": reason(
    { ...where, metric: "text", value: "text?", reported: "names?" },
    ({ task, host, metric, value, reported }) =>
      `${task} exited 0 on ${host} but reported ${value === undefined ? "no" : `${value} as`} ${metric}${others(reported)}`,
  ),
  /** Its exception came first, however long its process took to end. */
  "program-failed-before-stop": reason(
    { ...where, error: "text" },
    ({ task, host, error }) => `${task} failed on ${host}, and had not ended when it was stopped: ${error}`,
  ),
  "port-taken": reason(
    { ...where, error: "text?" },
    ({ task, host, error }) => `${task} found a port taken that was reserved for it on ${host}${after(error)}`,
  ),
  "program-ended-early": reason(
    { ...where, ranForMs: "number" },
    ({ task, host, ranForMs }) => `${task} exited 0 after ${durationWords(ranForMs)} on ${host}, before the others`,
  ),
  "node-cut-off": reason(
    { ...where, suspendedMs: "number" },
    ({ task, host, suspendedMs }) =>
      `${task} was suspended for ${durationWords(suspendedMs)}, while its node ${host} was cut off`,
  ),
  "gave-way-to-preemption": reason(
    where,
    ({ task, host }) => `${task} ended after YARN's preemption notice on ${host}`,
  ),
  "gave-way-to-decommissioning": reason(
    where,
    ({ task, host }) => `${task} ended after the notice that ${host} is being taken out of the cluster`,
  ),
  /** `checkpointStep`: the step of the checkpoint that was completed in time, 0 where there was none; absent where no program had started. */
  "left-node": reason({ ...where, checkpointStep: "number?" }, ({ task, host, checkpointStep }) => {
    const left = `${task} left ${host}, which is being taken out of the cluster`;
    if (checkpointStep === undefined) return left;
    return checkpointStep === 0
      ? `${left}, before a new checkpoint was complete`
      : `${left}, after the checkpoint of step ${checkpointStep} was complete`;
  }),
  "program-hung": reason(
    { ...where, noProgressMs: "number", step: "number", places: "names?", holder: "text?" },
    ({ task, host, places, holder, ...hang }) => {
      if (places === undefined) return `${task} on ${host} ${stopWords({ code: "hung", ...hang })}`;
      const rest = [`no progress for ${durationWords(hang.noProgressMs)} at step ${hang.step}`, ...places].join("; ");
      return holder === undefined ? `the tasks hung: ${rest}` : `${holder} holds up the others: ${rest}`;
    },
  ),
  "ran-too-long": reason(
    { ...where, limitMs: "number", setting: "setting?" },
    ({ task, host, limitMs, setting }) => `${task} on ${host} ${ranTooLongWords(limitMs, setting?.at)}`,
  ),
  "executor-silent": reason(
    { ...where, silentMs: "number" },
    ({ task, host, silentMs }) => `${task} on ${host} was silent for ${Math.round(silentMs / 1000)} s or more`,
  ),
  "gone-with-node": reason(
    where,
    ({ task, host }) => `${task} stopped responding: ${host} is being taken out of the cluster`,
  ),
  "executor-vanished": onHost("lost its executor: its connection broke and was not restored"),
  "executor-not-back": onHost("did not connect to the new attempt of the ApplicationMaster"),
  "executor-not-started": reason(
    { ...where, limitMs: "number" },
    ({ task, host, limitMs }) => `${task} on ${host} did not start its executor within ${durationWords(limitMs)}`,
  ),
  "executor-not-ready": onHost("did not prepare for the next generation in time"),
  "program-start-unheard": onHost("did not start its program in time"),
  /** Nothing more is known until YARN says why. */
  "told-to-end": reason(
    where,
    ({ task, host }) => `the executor of ${task} on ${host} ended, and YARN has not said why`,
  ),
  "stopped-by-earlier-attempt": reason(
    { ...where, why: "text" },
    ({ task, host, why }) => `${task} on ${host} was stopped by an earlier attempt of the ApplicationMaster: ${why}`,
  ),
  "not-stopped": onHost("did not stop in time"),
  "silent-and-not-stopped": onHost("was silent and did not stop in time"),
};

export type EndingReason = ReasonOf<typeof endingReasons>;

/** An ending without its task and host. */
export type EndingFacts = EndingReason extends infer R ? (R extends unknown ? Omit<R, "task" | "host"> : never) : never;

/**
 * - `consequence`: it followed from another task's end, or from an order of the AM · `not-counted`: it ended with 0
 * - `also-failed`: it failed by itself, for the same reason or another one
 * - `possible-consequence`: it lost a connection, which may or may not have been to the root
 */
export type Relation = "consequence" | "not-counted" | "also-failed" | "possible-consequence";

/** The end of another task, after or before the root cause. */
export interface Consequence {
  readonly reason: EndingReason;
  readonly relation: Relation;
  /** After the root; negative: before it. */
  readonly laterMs: number;
}

/** Why a container was taken back, by the code of its ending. */
const TAKEN_BACK: Readonly<Record<string, Notice["cause"]>> = {
  "container-preempted": "preemption",
  "gave-way-to-preemption": "preemption",
  "node-decommissioned": "decommissioning",
  "gave-way-to-decommissioning": "decommissioning",
  "left-node": "decommissioning",
  "gone-with-node": "decommissioning",
};

/** Why a container was taken back, which is never charged to a budget; undefined for any other ending. */
export function takenBackFor({ code }: { readonly code: string }): Notice["cause"] | undefined {
  return TAKEN_BACK[code];
}

export function endingWords(ending: EndingReason): string {
  return endingReasons[ending.code].words(ending);
}

/** What else ended: `worker:0 exited 1 on n1, 0.2 s later (a consequence, not counted)` */
export function consequenceWords({ reason: ending, relation, laterMs }: Consequence): string {
  const when = `${(Math.abs(laterMs) / 1000).toFixed(1)} s ${laterMs < 0 ? "earlier" : "later"}`;
  return `${endingWords(ending)}, ${when} (${relationWords[relation]})`;
}

const relationWords: Readonly<Record<Relation, string>> = {
  consequence: "a consequence, not counted",
  "not-counted": "not counted",
  "also-failed": "also failed",
  "possible-consequence": "may be a consequence, not counted",
};

/** The container's end, as YARN reports it. */
function ended(how: string) {
  return reason(container, (it) => `${it.task} ${how} on ${it.host}${rest(it)}`);
}

function onHost(what: string) {
  return reason(where, ({ task, host }) => `${task} on ${host} ${what}`);
}

function rest({ detail, used, limit }: Pick<Container, "detail" | "used" | "limit">): string {
  const measured = used === undefined || limit === undefined ? "" : `: used ${used} of ${limit}`;
  return detail === undefined ? measured : `: ${detail}`;
}

function mayFollow(awaited: boolean | undefined): string {
  return awaited === true ? "; YARN may yet say why" : "";
}

function after(error: string | undefined): string {
  return error === undefined ? "" : `: ${error}`;
}

function saidBefore(before: string | undefined): string {
  return before === undefined ? "" : `; it had printed before: ${before}`;
}

/** The metrics that a program reported in place of the search's. */
function others(reported: readonly string[] | undefined): string {
  if (reported === undefined) return "";
  return reported.length === 0 ? ", nor any other numeric metric" : ` (only ${listWords(reported)})`;
}
