/** Checks a value that was read from JSON; `where` names it in the error. @throws ShapeError */
export type Shape<T> = (value: unknown, where: string) => T;

/** A value does not have the expected shape. */
export class ShapeError extends RangeError {
  override readonly name = "ShapeError";
}

export const string: Shape<string> = (value, where) => (typeof value === "string" ? value : fail(where, "text"));
export const bool: Shape<boolean> = (value, where) =>
  typeof value === "boolean" ? value : fail(where, "true or false");
export const count: Shape<number> = (value, where) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : fail(where, "a whole number");

/** Any number: a cluster's values are taken as they are. */
export const amount: Shape<number> = (value, where) =>
  typeof value === "number" && Number.isFinite(value) ? value : fail(where, "a number");

export function literal<const T extends string | number>(...allowed: readonly T[]): Shape<T> {
  return (value, where) => allowed.find((one) => one === value) ?? fail(where, `one of ${allowed.join(", ")}`);
}

export function arrayOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) return fail(where, "a list");
    return value.map((element, index) => item(element, `${where}[${index}]`));
  };
}

export function recordOf<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, where) => {
    const entries = Object.entries(objectAt(value, where));
    return Object.fromEntries(entries.map(([key, element]) => [key, item(element, `${where}.${key}`)]));
  };
}

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** Shapes of an object's fields: optional ones separate from required ones. */
export interface Fields<T> {
  readonly required: { readonly [K in Exclude<keyof T, OptionalKeys<T>>]: Shape<T[K]> };
  readonly optional: { readonly [K in OptionalKeys<T>]-?: Shape<Exclude<T[K], undefined>> };
}

/** Drops unknown fields: a newer program may have written them. */
export function object<T>(fields: Fields<T>): Shape<T> {
  const required = Object.entries<Shape<unknown>>(fields.required);
  const optional = Object.entries<Shape<unknown>>(fields.optional);
  return (value, where) => {
    const given = objectAt(value, where);
    const read: Record<string, unknown> = {};
    for (const [name, shape] of required) read[name] = shape(given[name], join(where, name));
    for (const [name, shape] of optional) {
      if (given[name] !== undefined) read[name] = shape(given[name], join(where, name));
    }
    // Every field of T was read by its own shape: Fields<T> leaves none out.
    return read as T;
  };
}

/** An object with the fields of both. */
export function both<A, B>(first: Shape<A>, second: Shape<B>): Shape<A & B> {
  return (value, where) => ({ ...first(value, where), ...second(value, where) });
}

function objectAt(value: unknown, where: string): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : fail(where, "an object");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function join(where: string, name: string): string {
  return where === "" ? name : `${where}.${name}`;
}

function fail(where: string, mustBe: string): never {
  throw new ShapeError(`${where === "" ? "the value" : where} must be ${mustBe}`);
}
