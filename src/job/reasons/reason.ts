import type { FailureClass } from "../failure-class.ts";
import { amount, arrayOf, bool, literal, object, type Shape, string } from "../shape.ts";

/** A key of the job, with the place where it is set: `job.xml:16`, `-conf`; absent for a default. */
export interface Setting {
  readonly key: string;
  readonly at?: string;
}

/** Kinds of facts, each with how it is read. */
const kinds = {
  text: string,
  number: amount,
  flag: bool,
  texts: arrayOf(string),
  class: literal<FailureClass>("program", "infrastructure"),
  setting: object<Setting>({ required: { key: string }, optional: { at: string } }),
  settings: arrayOf(object<Setting>({ required: { key: string }, optional: { at: string } })),
};

type Kinds = { readonly [K in keyof typeof kinds]: ReturnType<(typeof kinds)[K]> };

/** What a reason's facts are called, and the kind of each; `?`: it may be unknown. */
export type FactKinds = Readonly<Record<string, keyof Kinds | `${keyof Kinds}?`>>;

type RequiredFacts<F extends FactKinds> = { [N in keyof F]: F[N] extends keyof Kinds ? N : never }[keyof F];
type OptionalFacts<F extends FactKinds> = Exclude<keyof F, RequiredFacts<F>>;
type Unmarked<K> = K extends `${infer Kind extends keyof Kinds}?` ? Kind : K;

export type FactsOf<F extends FactKinds> = {
  readonly [N in RequiredFacts<F>]: F[N] extends keyof Kinds ? Kinds[F[N]] : never;
} & {
  readonly [N in OptionalFacts<F>]?: Unmarked<F[N]> extends keyof Kinds ? Kinds[Unmarked<F[N]>] : never;
};

/** One code's facts, and the sentence that they make. */
export interface ReasonKind<F extends FactKinds> {
  readonly facts: F;
  /** Its facts as they came, checked; further ones are dropped. @throws ShapeError */
  readonly read: Shape<FactsOf<F>>;
  /** The sentence. @throws ShapeError where facts are missing */
  readonly words: (facts: unknown) => string;
}

/** The codes of one family of reasons. */
export type ReasonTable = Readonly<Record<string, ReasonKind<FactKinds>>>;

/** A reason of the family, as plain JSON: its code beside its facts. */
export type ReasonOf<T extends Readonly<Record<string, { readonly facts: FactKinds }>>> = {
  [C in keyof T & string]: { readonly code: C } & FactsOf<T[C]["facts"]>;
}[keyof T & string];

export function reason<const F extends FactKinds>(facts: F, words: (facts: FactsOf<F>) => string): ReasonKind<F> {
  const read = shapeOf(facts);
  return { facts, read, words: (given) => words(read(given, "")) };
}

function shapeOf<F extends FactKinds>(facts: F): Shape<FactsOf<F>> {
  const required: Record<string, Shape<unknown>> = {};
  const optional: Record<string, Shape<unknown>> = {};
  for (const [name, kind] of Object.entries(facts)) {
    (kind.endsWith("?") ? optional : required)[name] = shapeOfKind(kind);
  }
  const read = object<Record<string, unknown>>({ required, optional });
  // Every fact was read by its own kind.
  return (value, where) => read(value, where) as FactsOf<F>;
}

function shapeOfKind(kind: FactKinds[string]): Shape<unknown> {
  const name = kind.endsWith("?") ? kind.slice(0, -1) : kind;
  const [, shape] = Object.entries(kinds).find(([one]) => one === name) ?? [];
  if (shape === undefined) {
    throw new RangeError(`no kind of fact is called ${name}`);
  }
  return shape;
}
