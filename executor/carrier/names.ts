import type { TaskName } from "../../src/job/task.ts";

/** How a checkpoint's folder is called where it stays: what orders it, and tells it from one of the same step in another life. */
export interface CarriedName {
  readonly name: string;
  readonly step: number;
  /** When the program said that it was complete. */
  readonly atMs: number;
}

/** What is not complete yet has a name of this beginning, and counts for nothing. */
export const UNFINISHED = "_unfinished-";
/** Says what a carried checkpoint consists of; written last. */
export const MANIFEST = "_complete.json";

/** Below the job's folder for checkpoints or output: applications, and tasks in them, do not meet. */
export function folderOfTask(folder: string, applicationId: string, { role, index }: TaskName): string {
  return `${folder.replace(/\/+$/, "")}/${applicationId}/${role}-${index}`;
}

export function carriedName(step: number, atMs: number): string {
  return `step-${step}-at-${atMs}`;
}

/** Undefined when it is no complete checkpoint's. */
export function parseCarriedName(name: string): CarriedName | undefined {
  const [, step, atMs] = /^step-(\d+)-at-(\d+)$/.exec(name) ?? [];
  return step === undefined ? undefined : { name, step: Number(step), atMs: Number(atMs) };
}

/** The complete ones among these names, the furthest first. */
export function furthestFirst(names: readonly string[]): CarriedName[] {
  return names.flatMap((name) => parseCarriedName(name) ?? []).sort((a, b) => b.step - a.step || b.atMs - a.atMs);
}

/**
 * What goes once a newer checkpoint is complete: all but the furthest, and whatever an upload that died has left.
 * @param names of everything in the task's folder
 */
export function surplus(names: readonly string[], keep: number): string[] {
  const old = furthestFirst(names).slice(keep);
  return [...old.map(({ name }) => name), ...names.filter((name) => name.startsWith(UNFINISHED))];
}
