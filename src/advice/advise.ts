import type { Roundings } from "../job/amounts.ts";
import type { Prices } from "../job/cost.ts";
import { type AdviceReason, adviceWords } from "../job/reasons/advice.ts";
import { memoryWords } from "../job/reasons/words.ts";
import type { ShownAdvice } from "../page/portal-answers.ts";
import { idleGpus } from "./idle-gpus.ts";
import { keptContainers } from "./kept-containers.ts";
import { lostTime } from "./lost-time.ts";
import type { Run } from "./run.ts";
import { MEBIBYTE, sizesOf } from "./sizes.ts";
import { slowTasks } from "./slow-tasks.ts";

/**
 * What runs of one job suggest for its next one: sizes from all of them, everything else from the newest.
 * @param runs the newest first
 * @param prices used to say what a run would save
 */
export function advise(runs: readonly Run[], roundings: Roundings, prices: Prices): AdviceReason[] {
  const [newest] = runs;
  if (newest === undefined) return [];
  const { roles } = newest.status;
  return [
    ...roles.flatMap((role) => sizesOf(runs, role, roundings, prices)),
    ...roles.flatMap((role) => [...slowTasks(newest, role), ...idleGpus(newest, role)]),
    ...lostTime(newest),
    ...keptContainers(newest),
    ...(roles.length > 0 && runs.every(({ series }) => series === undefined) ? [{ code: "unseen" } as const] : []),
  ];
}

/** The same in the form that a page shows. */
export function shownAdvice(runs: readonly Run[], roundings: Roundings, prices: Prices): ShownAdvice {
  const advice = advise(runs, roundings, prices);
  const settings = settingsOf(advice).map(({ key, value }) => `${key}=${value}`);
  return { runs: runs.length, lines: advice.map(adviceLine), settings };
}

/** A setting to change. */
export interface AdvisedSetting {
  readonly key: string;
  readonly value: string;
}

/** In the form that `-conf` takes. */
export function settingsOf(advice: readonly AdviceReason[]): AdvisedSetting[] {
  return advice.flatMap((piece) => ("key" in piece ? [{ key: piece.key, value: piece.value }] : []));
}

/** The same, with whether the value is more than the runs asked for. */
export interface AdvisedChange extends AdvisedSetting {
  readonly isMore: boolean;
}

export function changesOf(advice: readonly AdviceReason[]): AdvisedChange[] {
  return advice.flatMap((piece) => {
    if (!("key" in piece)) return [];
    const { key, value, code } = piece;
    return [{ key, value, isMore: code === "more-memory" || code === "more-cores" }];
  });
}

/** The ratio of the request to the highest use. */
const FAR_TOO_MUCH = 2;

/** Advice that is worth a line when a job ends: memory that was nearly used up, or of which half was never used. */
export function strongest(advice: readonly AdviceReason[]): MemoryAdvice | undefined {
  const ofMemory = advice.filter((piece): piece is MemoryAdvice => "fromMiB" in piece);
  const isWaste = (piece: MemoryAdvice) => piece.fromMiB * MEBIBYTE >= piece.maxBytes * FAR_TOO_MUCH;
  return ofMemory.find(({ code }) => code === "more-memory") ?? ofMemory.find(isWaste);
}

type MemoryAdvice = Extract<AdviceReason, { readonly fromMiB: number }>;

/** What a piece of advice is about: `worker.memory`, `worker:5`. */
export function labelOf(piece: AdviceReason): string {
  if ("key" in piece) return piece.key.replace(/^tony\./, "");
  if ("task" in piece) return piece.task;
  return "role" in piece ? piece.role : piece.code;
}

/** `16 GiB → 9 GiB` */
export function changeWords(piece: Extract<AdviceReason, { readonly key: string }>): string {
  return "fromMiB" in piece
    ? `${memoryWords(piece.fromMiB)} → ${memoryWords(piece.toMiB)}`
    : `${piece.from} → ${piece.to}`;
}

/** `worker.memory 16 GiB → 9 GiB: the most that any task held is 7.3 GiB` */
export function adviceLine(piece: AdviceReason): string {
  const what = "key" in piece ? `${labelOf(piece)} ${changeWords(piece)}` : labelOf(piece);
  return `${what}: ${adviceWords(piece)}`;
}
