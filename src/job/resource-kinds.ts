import { isPlainGpu } from "./gpus.ts";
import { countWords, memoryWords, otherWords } from "./reasons/words.ts";
import type { Resource } from "./spec.ts";

/** One kind of resource: how much of it an amount has, its words, its name, and the ends of a role's keys for it. */
export interface ResourceKind {
  readonly of: (amount: Resource) => number;
  readonly words: (count: number) => string;
  /** `memory`, `cores`, `GPUs`, `yarn.io/fpga` */
  readonly name: string;
  /** A job sets one of them, the first where it sets several. */
  readonly keys: readonly [string, ...string[]];
}

/** The kinds of which the ask wants any. */
export function kindsOf(ask: Resource): ResourceKind[] {
  const kinds: ResourceKind[] = [
    { of: ({ memoryMiB }) => memoryMiB, words: memoryWords, name: "memory", keys: ["memory"] },
    { of: ({ vcores }) => vcores, words: (count) => countWords(count, "core"), name: "cores", keys: ["vcores"] },
    ...Object.keys(ask.others).map(otherKind),
  ];
  return kinds.filter(({ of }) => of(ask) > 0);
}

/** Whether less of it can be asked for: without its only GPU a program is another one. */
export function canBeLowered({ of }: ResourceKind, ask: Resource): boolean {
  return of(ask) > 1;
}

/** The keys of a type that is neither memory nor cores: `gpus` asks for the one that the site names first. */
export function keysOfType(type: string): [string, string] {
  return [`resource.${type}`, "gpus"];
}

function otherKind(type: string): ResourceKind {
  return {
    of: ({ others }) => others[type] ?? 0,
    words: (count) => otherWords(type, count),
    name: isPlainGpu(type) ? "GPUs" : type,
    keys: keysOfType(type),
  };
}

/** So much of each kind, also where it is none: `1.5 GiB, 4 cores, 0 GPUs`. Never below 0. */
export function amountOfKinds(kinds: readonly ResourceKind[], amount: Resource): string {
  return kinds.map(({ of, words }) => words(Math.max(0, of(amount)))).join(", ");
}

/** How many asks an amount has room for by one kind alone. */
export function roomOfKind({ of }: ResourceKind, ask: Resource, amount: Resource): number {
  return Math.max(0, Math.floor(of(amount) / of(ask)));
}
