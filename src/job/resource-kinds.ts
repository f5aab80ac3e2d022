import { isPlainGpu } from "./gpus.ts";
import { countWords, memoryWords, otherWords } from "./reasons/words.ts";
import type { Resource } from "./spec.ts";

/** One kind of resource: how to read it from an amount, its words, its name, and the last parts of a role's keys for it. */
export interface ResourceKind {
  readonly of: (amount: Resource) => number;
  readonly words: (count: number) => string;
  /** `memory`, `cores`, `GPUs`, `yarn.io/fpga` */
  readonly name: string;
  /** A job sets one of them; if it sets several, the first counts. */
  readonly keys: readonly [string, ...string[]];
}

/** The kinds that the request asks for. */
export function kindsOf(ask: Resource): ResourceKind[] {
  const kinds: ResourceKind[] = [
    { of: ({ memoryMiB }) => memoryMiB, words: memoryWords, name: "memory", keys: ["memory"] },
    { of: ({ vcores }) => vcores, words: (count) => countWords(count, "core"), name: "cores", keys: ["vcores"] },
    ...Object.keys(ask.others).map(otherKind),
  ];
  return kinds.filter(({ of }) => of(ask) > 0);
}

/** Whether a smaller request makes sense: without its only GPU a program would have to be another one. */
export function canBeLowered({ of }: ResourceKind, ask: Resource): boolean {
  return of(ask) > 1;
}

/** The keys for a type other than memory and cores: `gpus` requests the type that the site lists first. */
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

/** The amount of each kind, even where it is 0: `1.5 GiB, 4 cores, 0 GPUs`. Never below 0. */
export function amountOfKinds(kinds: readonly ResourceKind[], amount: Resource): string {
  return kinds.map(({ of, words }) => words(Math.max(0, of(amount)))).join(", ");
}

/** How many requests fit into an amount, considering one kind only. */
export function roomOfKind({ of }: ResourceKind, ask: Resource, amount: Resource): number {
  return Math.max(0, Math.floor(of(amount) / of(ask)));
}
