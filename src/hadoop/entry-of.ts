/**
 * What a table says of a name that came from outside; undefined where it has none. Every object has a `constructor`, whose value no table
 * means.
 */
export function entryOf<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
