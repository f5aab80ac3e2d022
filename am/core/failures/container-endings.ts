import type { ContainerDiagnostics } from "../../../src/job/diagnosis/container-diagnostics.ts";
import type { containerReasons } from "../../../src/job/reasons/endings.ts";
import { archiveOf } from "../../../src/job/spec.ts";
import type { FailureClass } from "../../../src/job/status.ts";
import { isLeaving } from "../containers/kept-off.ts";
import type { Ending } from "../state/failures.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { roleOf, type Step } from "../state/step.ts";
import { orderedEnding, Strength, whenGone, where } from "./endings.ts";
import { memoryRemedy } from "./remedies.ts";

/** The meaning of a container's exit status (org.apache.hadoop.yarn.api.records.ContainerExitStatus). */
export interface ExitMeaning {
  readonly class: FailureClass;
  /** Whether the machine may be at fault. */
  readonly machine: boolean;
  readonly code: keyof typeof containerReasons;
  /** Which of YARN's two limits the container exceeded. */
  readonly memory?: "physical" | "virtual";
}

const KNOWN: Readonly<Record<string, ExitMeaning>> = {
  "-1000": { class: "infrastructure", machine: true, code: "files-not-fetched" },
  "-101": { class: "infrastructure", machine: true, code: "disks-failed" },
  "-102": { class: "infrastructure", machine: false, code: "container-preempted" },
  "-103": { class: "program", machine: false, code: "exceeded-virtual-memory", memory: "virtual" },
  "-104": { class: "program", machine: false, code: "ran-out-of-memory", memory: "physical" },
  "-106": { class: "infrastructure", machine: false, code: "container-ended-by-manager" },
  "-108": { class: "infrastructure", machine: false, code: "container-ended-by-node" },
  "-109": { class: "program", machine: false, code: "wrote-too-many-logs" },
};

/** The executor's exit code when an ApplicationMaster told it to end (executor/exit-codes.ts). */
const ORDERED = 0;
/** org.apache.hadoop.yarn.api.records.ContainerExitStatus#KILLED_BY_APPMASTER */
const STOPPED = -105;
/** org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils#RELEASED_CONTAINER */
const RELEASED = /released by application/i;

/** For a container that did not run yet when its attempt ended; a later attempt hears of it (SchedulerUtils#COMPLETED_APPLICATION). */
const ATTEMPT_ENDED = /of a completed application/i;

/**
 * The NodeManager could not write what a container needs (org.apache.hadoop.fs.LocalDirAllocator, and the operating system's own
 * words).
 */
const NO_SPACE = /No space (available in any of the local directories|left on device)/i;
/** Exit statuses of a container that its NodeManager could not launch, or whose files it could not fetch. */
const UNLAUNCHED: ReadonlySet<number> = new Set([-1, -1000]);

/** Whether an ApplicationMaster of the job stopped the container, or gave it back. */
export function isGivenUp(exitStatus: number, words: readonly string[]): boolean {
  return exitStatus === STOPPED || (exitStatus === -100 && words.some((line) => RELEASED.test(line)));
}

/** Whether the container ended because an ApplicationMaster of the job wanted it to. */
export function isOrdered(exitStatus: number, words: readonly string[]): boolean {
  return exitStatus === ORDERED || isGivenUp(exitStatus, words);
}

/**
 * The meaning of the end of a container that the AM did not order. −100 has four causes: released by us (the caller rules that out
 * first), an allocation never started in time, an attempt that ended before it ran, and a lost node; only YARN's words tell the last
 * three apart.
 * `nodeLeaves`: the node is being taken out of the cluster, or has been.
 */
export function exitMeaning(exitStatus: number, words: readonly string[], nodeLeaves = false): ExitMeaning {
  if (UNLAUNCHED.has(exitStatus) && words.some((line) => NO_SPACE.test(line))) {
    return { class: "infrastructure", machine: true, code: "disks-full" };
  }
  const known = KNOWN[String(exitStatus)];
  if (known !== undefined) {
    return known;
  }
  if (exitStatus === -100) {
    if (words.some((line) => /expired/i.test(line))) {
      return { class: "infrastructure", machine: false, code: "container-expired" };
    }
    if (words.some((line) => ATTEMPT_ENDED.test(line))) {
      return { class: "infrastructure", machine: false, code: "container-ended-by-manager" };
    }
    return nodeLeaves
      ? { class: "infrastructure", machine: false, code: "node-decommissioned" }
      : { class: "infrastructure", machine: true, code: "node-lost" };
  }
  if (exitStatus === 137 || exitStatus === 143) {
    return { class: "infrastructure", machine: true, code: "container-killed" };
  }
  return { class: "infrastructure", machine: true, code: "executor-died" };
}

/** A container that ended according to YARN, without the AM's doing. */
export function containerEnding(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  exitStatus: number,
  diagnostics: ContainerDiagnostics,
): Ending {
  const { memory, resource, stderr, words } = diagnostics;
  const unreadable = exitStatus === 1 && stderr.length === 0 ? diagnostics.unreadable : undefined;
  if (unreadable !== undefined) {
    return unreadableEnding(step, task, container, unreadable);
  }
  if (container.inherited && isOrdered(exitStatus, words)) {
    const why = `container exit ${exitStatus}`;
    return orderedEnding(step, task, container, { why, source: "yarn", exit: String(exitStatus) });
  }
  const meaning = exitMeaning(exitStatus, words, isLeaving(step, container.host));
  if (meaning.code === "files-not-fetched" && diagnostics.endedToken !== undefined) {
    return endedTokenEnding(step, task, container, words);
  }
  const ownWords = ownLastWord(stderr) ?? (meaning.machine ? healthReportOf(step, container) : undefined);
  const detail = resource === undefined ? ownWords : words[0];
  return {
    ...where(task, container),
    ...whenGone(step, container),
    source: "yarn",
    strength: Strength.outside,
    class: meaning.class,
    machine: meaning.machine,
    reason: {
      code: meaning.code,
      task: task.id,
      host: container.host,
      exitStatus,
      ...(detail === undefined ? {} : { detail }),
      ...(resource === undefined ? {} : { file: resource }),
      ...(memory === undefined ? {} : { used: memory.used, limit: memory.limit, usedMiB: memory.usedMiB }),
    },
    exit: String(exitStatus),
    lines: memory === undefined ? (stderr.length > 0 ? stderr : words).slice(-20) : [],
    remedy: meaning.memory === undefined ? undefined : memoryRemedy(step, task, meaning.memory, memory),
    ...(resource === undefined ? {} : { resource }),
  };
}

/** HDFS no longer accepted the job's token, and will not from the next node either. */
function endedTokenEnding(step: Step, task: TaskRecord, container: ContainerRecord, words: readonly string[]): Ending {
  return {
    ...ofTheJob(step, task, container),
    reason: { code: "files-not-fetched", task: task.id, host: container.host },
    exit: "-1000",
    lines: words.slice(-20),
    remedy: { code: "outlive-tokens" },
  };
}

/** The launch script met a file of the job that it may not read; the next one on any node will meet it, too. */
function unreadableEnding(step: Step, task: TaskRecord, container: ContainerRecord, file: string): Ending {
  const archive = archiveOf(file, [...step.spec.files, ...roleOf(step, task).files]);
  const origin = archive === undefined ? {} : { archive: archive.source };
  return {
    ...ofTheJob(step, task, container),
    reason: { code: "file-unreadable", task: task.id, host: container.host, file, ...origin },
    exit: "1",
    lines: [],
    remedy: { code: "pack-copies" },
  };
}

/** YARN reports a fault in something that the job brought along: no machine is at fault. */
function ofTheJob(step: Step, task: TaskRecord, container: ContainerRecord) {
  return {
    ...where(task, container),
    ...whenGone(step, container),
    source: "yarn",
    strength: Strength.outside,
    class: "program",
    machine: false,
  } as const;
}

/** What the container's node reports to be wrong with it: why YARN took all containers from it. */
function healthReportOf({ state }: Step, { host }: ContainerRecord): string | undefined {
  return Object.values(state.nodes).find((candidate) => candidate.host === host)?.healthReport;
}

/** What one of our programs wrote as it ended; its lines begin with the program's name. */
function ownLastWord(stderr: readonly string[]): string | undefined {
  const prefix = "tony-ts: ";
  const line = stderr.findLast((text) => text.startsWith(prefix));
  return line?.slice(prefix.length).replace(/\.$/, "");
}
