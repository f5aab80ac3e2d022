import { amount, arrayOf, bool, literal, object, type Shape, ShapeError, string } from "../shape.ts";

/** A key of the job, with the place where it is set: `job.xml:16`, `-conf`; absent for a default. */
export interface Setting {
  readonly key: string;
  readonly at?: string;
}

/** @throws ShapeError */
export const readSetting = object<Setting>({ required: { key: string }, optional: { at: string } });

/** Kinds of facts by name, each with its reader. */
const kinds = {
  text: string,
  number: amount,
  flag: bool,
  class: literal<FailureClass>("program", "infrastructure"),
  setting: readSetting,
  settings: arrayOf(readSetting),
  names: arrayOf(string),
};

type Kinds = { readonly [K in keyof typeof kinds]: ReturnType<(typeof kinds)[K]> };
type Named = keyof Kinds | `${keyof Kinds}?`;

/** Facts by name, each with its kind: the name of a kind, or a reader; `?`: the fact may be unknown. */
export type FactKinds = Readonly<Record<string, Named | Shape<unknown>>>;

type OptionalFacts<F extends FactKinds> = { [N in keyof F]: F[N] extends `${string}?` ? N : never }[keyof F];
type RequiredFacts<F extends FactKinds> = Exclude<keyof F, OptionalFacts<F>>;

/** Facts as plain JSON. */
export type FactsOf<F extends FactKinds> = {
  readonly [N in RequiredFacts<F>]: ValueOf<F[N]>;
} & {
  readonly [N in OptionalFacts<F>]?: F[N] extends `${infer Kind}?` ? ValueOf<Kind> : never;
};

type ValueOf<K> = K extends keyof Kinds ? Kinds[K] : K extends Shape<infer T> ? T : never;

/** Checks facts from JSON; drops unknown ones. @throws ShapeError */
export function factsShape<F extends FactKinds>(facts: F): Shape<FactsOf<F>> {
  const required: Record<string, Shape<unknown>> = {};
  const optional: Record<string, Shape<unknown>> = {};
  for (const [name, kind] of Object.entries(facts)) {
    const isOptional = typeof kind === "string" && kind.endsWith("?");
    (isOptional ? optional : required)[name] = shapeOf(kind);
  }
  const read = object<Record<string, unknown>>({ required, optional });
  // Every fact was read by its own kind.
  return (value, where) => read(value, where) as FactsOf<F>;
}

function shapeOf(kind: FactKinds[string]): Shape<unknown> {
  if (typeof kind !== "string") {
    return kind;
  }
  const name = kind.replace("?", "");
  const [, shape] = Object.entries(kinds).find(([one]) => one === name) ?? [];
  if (shape === undefined) {
    throw new RangeError(`no kind of fact is called ${name}`);
  }
  return shape;
}

/** Objects of several shapes, distinguished by the value of one field. */
export type Tagged<Tag extends string, T extends Readonly<Record<string, FactKinds>>> = {
  [W in keyof T & string]: { readonly [F in Tag]: W } & FactsOf<T[W]>;
}[keyof T & string];

/** Checks an object whose field `tag` says which facts it has. @throws ShapeError */
export function taggedShape<Tag extends string, const T extends Readonly<Record<string, FactKinds>>>(
  tag: Tag,
  table: T,
): Shape<Tagged<Tag, T>> {
  const shapes = new Map(Object.entries(table).map(([word, facts]) => [word, factsShape(facts)]));
  const tagOf = factsShape({ [tag]: "text" });
  return (value, where) => {
    const word = String(tagOf(value, where)[tag]);
    const facts = shapes.get(word)?.(value, where);
    if (facts === undefined) {
      throw new ShapeError(`${where === "" ? "the value" : where} has an unknown ${tag}: ${word}`);
    }
    // The facts were read by the shape of that value.
    return { [tag]: word, ...facts } as Tagged<Tag, T>;
  };
}

/** Which kind of budget pays for a failure. */
export type FailureClass = "program" | "infrastructure";
