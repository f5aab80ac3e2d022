/** Whether a parsed JSON value is an object, whose fields are then unknown. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What a table says of a name that came from outside; undefined where it has none. Every object has a `constructor`, whose value no table
 * means.
 */
export function entryOf<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
