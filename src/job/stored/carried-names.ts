import type { TaskName } from "../task.ts";

/** The name of an uploaded checkpoint's folder: its step and its time, which differs when the same step is saved again. */
export interface CarriedName {
  readonly name: string;
  readonly step: number;
  /** When the program reported it. */
  readonly atMs: number;
}

/** The prefix of incomplete uploads, which are ignored. */
export const UNFINISHED = "_unfinished-";
/** The list of an uploaded checkpoint's files; written last. */
export const MANIFEST = "_complete.json";

/** The files of a task's output that are stored under another name, or not stored; absent where there are none. */
export const NAMES = "_tony-names.json";

/** The task's folder below the job's folder for checkpoints or output. */
export function folderOfTask(folder: string, applicationId: string, { role, index }: TaskName): string {
  return `${folder.replace(/\/+$/, "")}/${applicationId}/${role}-${index}`;
}

export function carriedName(step: number, atMs: number): string {
  return `step-${step}-at-${atMs}`;
}

/** Undefined when the name is not the name of a complete checkpoint. */
export function parseCarriedName(name: string): CarriedName | undefined {
  const [, step, atMs] = /^step-(\d+)-at-(\d+)$/.exec(name) ?? [];
  return step === undefined ? undefined : { name, step: Number(step), atMs: Number(atMs) };
}

/** The complete checkpoints among these names, the latest first. */
export function furthestFirst(names: readonly string[]): CarriedName[] {
  return names.flatMap((name) => parseCarriedName(name) ?? []).sort((a, b) => b.step - a.step || b.atMs - a.atMs);
}

/**
 * What to remove when a newer checkpoint is complete: all but the latest ones, and what an interrupted upload has left.
 * @param names of everything in the task's folder
 */
export function surplus(names: readonly string[], keep: number): string[] {
  const old = furthestFirst(names).slice(keep);
  return [...old.map(({ name }) => name), ...names.filter((name) => name.startsWith(UNFINISHED))];
}
