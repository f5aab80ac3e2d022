import type { Resource } from "../../hadoop/yarn/records.ts";
import type { Usage } from "../cost.ts";
import { isPlainGpu } from "../gpus.ts";
import type { JobSpec } from "../spec.ts";
import type { FailureClass, Setting } from "./facts.ts";

/** A key with the place where the job sets it. */
export function settingOf({ sources }: Pick<JobSpec, "sources">, key: string): Setting {
  const at = sources[key];
  return at === undefined ? { key } : { key, at };
}

/** `tony.worker.memory (job.xml:16)` */
export function settingWords({ key, at }: Setting): string {
  const place = placeWords(at);
  return place === undefined ? key : `${key} (${place})`;
}

/** Where a key is set; undefined for the temporary file that the Python package makes from arguments and deletes after the submission. */
export function placeWords(at: string | undefined): string | undefined {
  return at?.includes("tony-ts-submit.xml:") ? undefined : at;
}

/** A key with the place where the job sets it: `tony.worker.memory (job.xml:16)`. */
export function keyWords({ spec }: { readonly spec: JobSpec }, key: string): string {
  return settingWords(settingOf(spec, key));
}

/** `1 core`, `2 cores` */
export function countWords(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `0 B`, `6 KiB`, `94.3 MiB`, `1.2 GiB` */
export function sizeWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${rounded(bytes / 1024, bytes < 10 * 1024 ? 1 : 0)} KiB`;
  if (bytes < 1024 ** 3) return `${rounded(bytes / 1024 ** 2, 1)} MiB`;
  return `${rounded(bytes / 1024 ** 3, 2)} GiB`;
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/** `1.5 GiB`, `512 MiB`, `0 MiB` */
export function memoryWords(memoryMiB: number): string {
  return memoryMiB === 0 ? "0 MiB" : sizeWords(memoryMiB * 1024 ** 2);
}

/** In the form that keys take: `4g`, `1536m` */
export function memoryValue(memoryMiB: number): string {
  return memoryMiB % 1024 === 0 ? `${memoryMiB / 1024}g` : `${memoryMiB}m`;
}

/** Memory held over time: `0.007 GiB·h`. */
export function memoryHoursWords(memoryMiBSeconds: number): string {
  return `${hours(memoryMiBSeconds / 1024)} GiB·h`;
}

/** Resources held over time: `12 GiB·h, 40 core·h, 3 GPU·h`; without GPUs where there were none. */
export function heldWords({ memoryMiBSeconds, vcoreSeconds, gpuSeconds }: Usage): string {
  return [memoryHoursWords(memoryMiBSeconds), coreHoursWords(vcoreSeconds), ...gpuHoursWords(gpuSeconds)].join(", ");
}

export function coreHoursWords(vcoreSeconds: number): string {
  return `${hours(vcoreSeconds)} core·h`;
}

/** `3 GPU·h`; nothing where there were none. */
export function gpuHoursWords(gpuSeconds: number | undefined): string[] {
  return gpuSeconds === undefined ? [] : [`${hours(gpuSeconds)} GPU·h`];
}

function hours(seconds: number): number {
  return Number((seconds / 3600).toPrecision(2));
}

/** `4 GiB, 2 cores, 1 GPU` */
export function amountWords(amount: Resource): string {
  return [memoryWords(amount.memoryMiB), countWords(amount.vcores, "core"), ...restWords(amount)].join(", ");
}

/** The part of an amount that the scheduler counts: `4 GiB` where it counts memory only. Never below 0. */
export function countedWords(amount: Resource, counted: "all" | "all-but-cores" | "memory"): string {
  const cores = counted === "all" ? [countWords(Math.max(0, amount.vcores), "core")] : [];
  return [
    memoryWords(Math.max(0, amount.memoryMiB)),
    ...cores,
    ...(counted === "memory" ? [] : restWords(amount)),
  ].join(", ");
}

function restWords({ others }: Resource): string[] {
  return Object.entries(others).flatMap(([type, count]) => (count > 0 ? [otherWords(type, count)] : []));
}

/** `1 GPU`, `2 yarn.io/fpga`; YARN reports Java's largest int for a type without a limit. */
export function otherWords(type: string, count: number): string {
  if (count > Number.MAX_SAFE_INTEGER) return `any number of ${isPlainGpu(type) ? "GPUs" : type}`;
  return isPlainGpu(type) ? countWords(count, "GPU") : `${count} ${type}`;
}

/** `12 s`, `3 min 5 s`, `2 h 10 min`, `2 d 4 h`: rounded down to the smaller of the units shown. */
export function durationWords(durationMs: number): string {
  const seconds = Math.floor(Math.max(0, durationMs) / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return twoUnits(minutes, "min", seconds % 60, "s");
  if (hours < 48) return twoUnits(hours, "h", minutes % 60, "min");
  return twoUnits(Math.floor(hours / 24), "d", hours % 24, "h");
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** `n2 (DECOMMISSIONING)` */
export function nodeWords({ host, state = "RUNNING" }: { readonly host: string; readonly state?: string }): string {
  return `${host} (${state})`;
}

/** `worker:0, worker:1 and 5 more` */
export function listWords(items: readonly string[], most = 5): string {
  const shown = items.slice(0, most).join(", ");
  return items.length > most ? `${shown} and ${items.length - most} more` : shown;
}

interface Counted {
  readonly used: number;
  readonly limit: number;
  readonly windowMs?: number;
  /** The role that the budget belongs to, where it is not the job's. */
  readonly role?: string;
}

/**
 * `program restarts: 1 of 3 used`, `program restarts of ps: none allowed`, `infrastructure restarts: 2 of 10 used within 1 h`
 */
export function budgetWords(failureClass: FailureClass, { used, limit, windowMs, role }: Counted): string {
  const within = used > 0 && windowMs !== undefined ? ` within ${durationWords(windowMs)}` : "";
  const whose = role === undefined ? "" : ` of ${role}`;
  return `${failureClass} restarts${whose}: ${limit === 0 ? "none allowed" : `${used} of ${limit} used${within}`}`;
}
