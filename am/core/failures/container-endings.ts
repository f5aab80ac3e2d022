import { archiveOf } from "../../../src/job/archive-of.ts";
import type { ContainerDiagnostics } from "../../../src/job/diagnosis/container-diagnostics.ts";
import { isLeaving } from "../containers/kept-off.ts";
import type { Ending } from "../state/failures.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { roleOf, type Step } from "../state/step.ts";
import { whenGone, where } from "./ending-facts.ts";
import { exitMeaning, isOrdered } from "./exit-status.ts";
import { memoryRemedy } from "./remedies.ts";
import { orderedEnding } from "./stop-endings.ts";
import { Strength } from "./strength.ts";

/** A container that YARN says is over, not by our doing. */
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

/** HDFS took the job's token no more, as it will not from the next node. */
function endedTokenEnding(step: Step, task: TaskRecord, container: ContainerRecord, words: readonly string[]): Ending {
  return {
    ...ofTheJob(step, task, container),
    reason: { code: "files-not-fetched", task: task.id, host: container.host },
    exit: "-1000",
    lines: words.slice(-20),
    remedy: { code: "outlive-tokens" },
  };
}

/** The launch script met a file of the job that it may not read, as the next one on any node will. */
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

/** YARN tells of something that the job brought along: no machine is at fault. */
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

/** What the container's node says is wrong with it: why YARN took all containers from it. */
function healthReportOf({ state }: Step, { host }: ContainerRecord): string | undefined {
  return Object.values(state.nodes).find((candidate) => candidate.host === host)?.healthReport;
}

/** What one of our programs said as it ended; its lines begin with the program's name. */
function ownLastWord(stderr: readonly string[]): string | undefined {
  const prefix = "tony-ts: ";
  const line = stderr.findLast((text) => text.startsWith(prefix));
  return line?.slice(prefix.length).replace(/\.$/, "");
}
