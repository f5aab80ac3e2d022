import type { Shape } from "../shape.ts";
import { type FactKinds, type FactsOf, factsShape, type Tagged, taggedShape } from "./facts.ts";

/** The facts of one code, and the sentence made from them. */
export interface ReasonKind<F extends FactKinds> {
  readonly facts: F;
  /** @throws ShapeError where facts are missing */
  readonly words: (facts: unknown) => string;
}

/** The codes of one family of reasons. */
export type ReasonTable = Readonly<Record<string, ReasonKind<FactKinds>>>;

/** A reason of the family as plain JSON: its code together with its facts. */
export type ReasonOf<T extends ReasonTable> = Tagged<"code", { readonly [C in keyof T]: T[C]["facts"] }>;

export function reason<const F extends FactKinds>(facts: F, words: (facts: FactsOf<F>) => string): ReasonKind<F> {
  const read = factsShape(facts);
  return { facts, words: (given) => words(read(given, "")) };
}

/** Checks a reason of the family that was read from JSON. @throws ShapeError */
export function reasonShape<T extends ReasonTable>(table: T): Shape<ReasonOf<T>> {
  const facts = Object.fromEntries(Object.entries(table).map(([code, kind]) => [code, kind.facts]));
  // The same codes with the same facts.
  return taggedShape("code", facts) as Shape<ReasonOf<T>>;
}
