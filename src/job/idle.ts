import { durationWords } from "./reasons/words.ts";
import { taskSpans } from "./task.ts";

/** All running programs use neither their CPUs nor their GPUs. */
export interface Idle {
  readonly tasks: readonly string[];
  readonly sinceMs: number;
  /** The time of the last measurement. */
  readonly untilMs: number;
  /** The CPU time that they have used in all since then, at most. */
  readonly cpuMs: number;
  /** How many GPUs they have; every sample since then found them at 0%. */
  readonly gpus: number;
}

/** `worker:0 to worker:3 used no CPU for 10 min, and their GPUs were at 0% in every sample` */
export function idleWords({ tasks, sinceMs, untilMs, cpuMs, gpus }: Idle): string {
  const used = cpuMs === 0 ? "no CPU for" : `${cpuSeconds(cpuMs)} s of CPU in`;
  const whose = tasks.length === 1 ? "its" : "their";
  const ofGpus = gpus === 0 ? "" : `, and ${whose} GPUs were at 0% in every sample`;
  return `${taskSpans(tasks)} used ${used} ${durationWords(untilMs - sinceMs)}${ofGpus}`;
}

/** What helps to find the reason: `tony-ts stacks application_1795573810088_0001` */
export function idleRemedy(applicationId: string): string {
  return `tony-ts stacks ${applicationId}`;
}

/** Rounded up: an upper bound. */
function cpuSeconds(cpuMs: number): number {
  return Math.ceil(cpuMs / 100) / 10;
}
