/** The part of Avro's schemas that TonY's events use (https://avro.apache.org/docs/1.11.1/specification/). */
export type AvroSchema = AvroTypeName | AvroComplex | readonly AvroSchema[];
/** A primitive, or a record or enum that was defined earlier. */
type AvroTypeName = string;
type AvroComplex =
  | {
      readonly type: "record";
      readonly name: string;
      readonly namespace?: string;
      readonly fields: readonly AvroField[];
    }
  | { readonly type: "enum"; readonly name: string; readonly symbols: readonly string[] }
  | { readonly type: "array"; readonly items: AvroSchema }
  /** A primitive with properties. */
  | { readonly type: "string" };

interface AvroField {
  readonly name: string;
  readonly type: AvroSchema;
}

/** A value as in JSON, except that a union's value is wrapped: the number of its branch, from 0, and the value. */
export type AvroValue = null | string | number | readonly AvroValue[] | AvroChoice | AvroRecord;
export interface AvroRecord {
  readonly [field: string]: AvroValue;
}
export interface AvroChoice {
  readonly branch: number;
  readonly of: AvroValue;
}

/** The first bytes of every container file. */
export const containerMagic = Buffer.from("Obj\u0001", "latin1");
export const syncMarkerBytes = 16;

/** The records and enums that a schema defines, by name: the schema may refer to each again by its name. */
export function namedTypes(schema: AvroSchema): Map<string, AvroSchema> {
  if (typeof schema === "string") return new Map();
  if ("length" in schema) return union(schema.map(namedTypes));
  switch (schema.type) {
    case "enum":
      return new Map([[schema.name, schema]]);
    case "array":
      return namedTypes(schema.items);
    case "record":
      return union([new Map([[schema.name, schema]]), ...schema.fields.map(({ type }) => namedTypes(type))]);
    default:
      return new Map();
  }
}

function union(maps: readonly Map<string, AvroSchema>[]): Map<string, AvroSchema> {
  return new Map(maps.flatMap((map) => [...map]));
}
