/** Whether a parsed JSON value is an object; its fields are still unknown. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A table's entry for a name that came from outside; undefined where there is none. Every object inherits a `constructor`, which no table
 * means as an entry.
 */
export function entryOf<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
