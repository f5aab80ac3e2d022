import { object, type Shape } from "../shape.ts";
import type { KeyDefinition, SpecSection } from "./key.ts";
import type { KeyType } from "./types.ts";

/** Rows by the names of their keys. */
export type KeyTable = Readonly<Record<string, KeyDefinition>>;

/** The type of a row's parsed value: includes undefined only where the row has no default, or a value that means none. */
export type RowValue<Row> = Row extends { readonly type: KeyType<infer Value> }
  ? Row extends { readonly default: string }
    ? Value
    : Value | undefined
  : never;

/** The fields that a table's rows contribute to one section of JobSpec; a field that may be undefined may be absent, as in JSON. */
export type SectionFields<Table extends KeyTable, Section extends SpecSection> = AbsentForUndefined<{
  [Name in keyof Table as FieldIn<Table[Name], Section>]: RowValue<Table[Name]>;
}>;

/** The field that a row fills, if it belongs to this section. */
type FieldIn<Row, Section extends SpecSection> = Row extends { readonly spec: readonly [Section, infer Field] }
  ? Field & string
  : never;

type AbsentForUndefined<Fields> = {
  readonly [F in keyof Fields as undefined extends Fields[F] ? never : F]: Fields[F];
} & {
  readonly [F in keyof Fields as undefined extends Fields[F] ? F : never]?: Exclude<Fields[F], undefined>;
};

/**
 * The fields of a section from a job's settings.
 * @param read the value of a row: the job's, else the default
 */
export function readSection<Table extends KeyTable, Section extends SpecSection>(
  table: Table,
  section: Section,
  read: (name: keyof Table & string) => unknown,
): SectionFields<Table, Section> {
  const fields: Record<string, unknown> = {};
  for (const { name, field } of rowsOf(table, section)) {
    const value = read(name);
    if (value !== undefined) fields[field] = value;
  }
  // Each field was read by the type of its own row, which is what SectionFields is made from.
  return fields as SectionFields<Table, Section>;
}

/** Checks the fields of a section that was read from JSON. */
export function sectionShape<Table extends KeyTable, Section extends SpecSection>(
  table: Table,
  section: Section,
): Shape<SectionFields<Table, Section>> {
  const required: Record<string, Shape<unknown>> = {};
  const optional: Record<string, Shape<unknown>> = {};
  for (const { field, row } of rowsOf(table, section)) {
    const always = row.default !== undefined && row.type.mayBeNone !== true;
    (always ? required : optional)[field] = row.type.shape;
  }
  const shape: Shape<unknown> = object({ required, optional });
  // As above, by the shapes of the rows' types.
  return shape as Shape<SectionFields<Table, Section>>;
}

function rowsOf<Table extends KeyTable>(table: Table, section: SpecSection) {
  const names: (keyof Table & string)[] = Object.keys(table);
  return names.flatMap((name) => {
    const row: KeyDefinition | undefined = table[name];
    return row?.spec?.[0] === section ? [{ name, field: row.spec[1], row }] : [];
  });
}
