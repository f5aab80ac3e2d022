import type { ContainerId } from "../../src/hadoop/yarn/records.ts";
import type { LineFilter, OutputLine } from "./ordered-output.ts";

/** A line of the ApplicationMaster's log, which is JSON, with its time and generation. */
export function masterLine(line: string): OutputLine {
  const { time, generation } = fieldsOf(line);
  const atMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return {
    stream: "stdout",
    line,
    ...(typeof generation === "number" ? { generation } : {}),
    ...(Number.isNaN(atMs) ? {} : { atMs }),
  };
}

/** Whether a filter takes it, but for its number of last lines. */
export function isWanted({ atMs = 0, generation }: OutputLine, filter: LineFilter): boolean {
  return atMs >= (filter.sinceMs ?? 0) && (filter.generation === undefined || generation === filter.generation);
}

/** Which task ran in which container, from the lines that name both. */
export function tasksByContainer(masterLogText: string): Map<ContainerId, string> {
  const tasks = new Map<ContainerId, string>();
  for (const line of masterLogText.split("\n")) {
    const { task, container } = fieldsOf(line);
    if (typeof task === "string" && typeof container === "string") tasks.set(container, task);
  }
  return tasks;
}

/** The last generation of the job's tasks, from the lines that name it. */
export function lastGeneration(masterLogText: string): number {
  const generations = masterLogText.split("\n").map((line) => fieldsOf(line).generation);
  return generations.reduce<number>((last, next) => (typeof next === "number" ? Math.max(last, next) : last), 1);
}

interface Fields {
  readonly task?: unknown;
  readonly container?: unknown;
  readonly generation?: unknown;
  readonly time?: unknown;
}

function fieldsOf(line: string): Fields {
  if (!line.startsWith("{")) return {};
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    // A line that was cut when the AM was killed.
    return {};
  }
}
