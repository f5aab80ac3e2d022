import type { Resource } from "../hadoop/yarn/records.ts";
import { countWords, memoryWords, otherWords } from "./reasons/words.ts";
import type { JobSpec } from "./spec.ts";

/** Every resource type that either amount names, memory and cores included, with both numbers. */
function pairs(a: Resource, b: Resource): { type: string; a: number; b: number }[] {
  const others = [...new Set([...Object.keys(a.others), ...Object.keys(b.others)])];
  return [
    { type: "memory-mb", a: a.memoryMiB, b: b.memoryMiB },
    { type: "vcores", a: a.vcores, b: b.vcores },
    ...others.map((type) => ({ type, a: a.others[type] ?? 0, b: b.others[type] ?? 0 })),
  ];
}

/** The types for which `wanted` exceeds `limit`; empty when it fits. */
export function typesBeyond(wanted: Resource, limit: Resource): { type: string; wanted: number; limit: number }[] {
  return pairs(wanted, limit)
    .filter(({ a, b }) => a > b)
    .map(({ type, a, b }) => ({ type, wanted: a, limit: b }));
}

/** An amount of one type, as `typesBeyond` names it. */
export function typeWords(type: string, amount: number): string {
  if (type === "memory-mb") return `${memoryWords(amount)} of memory`;
  return type === "vcores" ? countWords(amount, "core") : otherWords(type, amount);
}

/** `total` minus `part`, never below 0. */
export function subtract(total: Resource, part: Resource): Resource {
  return combine(total, part, (a, b) => Math.max(0, a - b));
}

export function add(one: Resource, other: Resource): Resource {
  return combine(one, other, (a, b) => a + b);
}

/** The amount multiplied by `count`. */
export function times(count: number, { memoryMiB, vcores, others }: Resource): Resource {
  const multiplied = Object.entries(others).map(([type, amount]) => [type, count * amount] as const);
  return { memoryMiB: count * memoryMiB, vcores: count * vcores, others: Object.fromEntries(multiplied) };
}

export function sumOf(amounts: readonly Resource[]): Resource {
  return amounts.reduce(add, { memoryMiB: 0, vcores: 0, others: {} });
}

/** Every container of a job, including its AM's. */
export function wholeJob({ am, roles }: Pick<JobSpec, "am" | "roles">): {
  readonly containers: number;
  readonly resource: Resource;
} {
  return {
    containers: roles.reduce((sum, { instances }) => sum + instances, 1),
    resource: sumOf([am.resource, ...roles.map(({ instances, resource }) => times(instances, resource))]),
  };
}

function combine(x: Resource, y: Resource, rule: (a: number, b: number) => number): Resource {
  const others = pairs(x, y)
    .slice(2)
    .map(({ type, a, b }) => [type, rule(a, b)] as const);
  return {
    memoryMiB: rule(x.memoryMiB, y.memoryMiB),
    vcores: rule(x.vcores, y.vcores),
    others: Object.fromEntries(others),
  };
}

/** How the scheduler rounds requests. */
export interface Roundings {
  readonly memoryMiB: Rounding;
  readonly vcores: Rounding;
}

/** How a scheduler rounds an amount up. */
export interface Rounding {
  readonly least: number;
  readonly step: number;
}

export function roundedUp(amount: number, { least, step }: Rounding): number {
  return Math.ceil(Math.max(amount, least) / step) * step;
}
