import protobuf from "protobufjs/minimal.js";

/**
 * Messages of many fields, written and read by tables of them: code generated from proto/tony/status.proto would be as long as all the
 * rest of the protocol. A test holds each table against that file.
 * See https://protobuf.dev/programming-guides/encoding/.
 */
export interface Message<T> {
  encode(message: T): Uint8Array;
  /** Unknown fields are skipped. @throws RangeError where bytes are missing, or a value is not of its kind */
  decode(bytes: Uint8Array): T;
}

/** How one value is written after its tag, and read. */
export interface Kind<T> {
  readonly wireType: 0 | 1 | 2;
  /** The value of an absent field. */
  empty(): T;
  write(writer: protobuf.Writer, value: T): void;
  read(reader: protobuf.Reader): T;
}

export const text: Kind<string> = {
  wireType: 2,
  empty: () => "",
  write: (writer, value) => void writer.string(value),
  read: (reader) => reader.string(),
};
/** Not negative: uint32 and uint64 are written alike. */
export const whole: Kind<number> = {
  wireType: 0,
  empty: () => 0,
  write: (writer, value) => void writer.uint64(value),
  read: (reader) => numberOf(reader.uint64()),
};
/** sint64 */
export const signed: Kind<number> = {
  wireType: 0,
  empty: () => 0,
  write: (writer, value) => void writer.sint64(value),
  read: (reader) => numberOf(reader.sint64()),
};
/** double */
export const real: Kind<number> = {
  wireType: 1,
  empty: () => 0,
  write: (writer, value) => void writer.double(value),
  read: (reader) => reader.double(),
};
export const flag: Kind<boolean> = {
  wireType: 0,
  empty: () => false,
  write: (writer, value) => void writer.bool(value),
  read: (reader) => reader.bool(),
};

/** All numbers of the protocol are below 2^53; protobufjs returns a Long if `long` is in the bundle. */
function numberOf(value: number | { toString(): string }): number {
  return Number(value.toString());
}

/** Text that is one of a few names; an absent field means the first. */
export function word<const T extends string>(first: T, ...others: readonly T[]): Kind<T> {
  return converted(text, { toWire: (value) => value, fromWire: (value) => oneOf([first, ...others], value) }, first);
}

function oneOf<T extends string>(words: readonly T[], value: string): T {
  const found = words.find((one) => one === value);
  if (found === undefined) throw new RangeError(`${value} is not one of ${words.join(", ")}`);
  return found;
}

/** A value that is written as another one. */
export function converted<T, W>(
  kind: Kind<W>,
  { toWire, fromWire }: { readonly toWire: (value: T) => W; readonly fromWire: (wire: W) => T },
  empty?: T,
): Kind<T> {
  return {
    wireType: kind.wireType,
    empty: () => empty ?? fromWire(kind.empty()),
    write: (writer, value) => kind.write(writer, toWire(value)),
    read: (reader) => fromWire(kind.read(reader)),
  };
}

/** One field of a message: its number, its value where it is absent, and how a further value is added to those that were read. */
export interface Field<T> {
  readonly number: number;
  absent(): T;
  write(writer: protobuf.Writer, value: T): void;
  add(reader: protobuf.Reader, before: T | undefined): T;
}

export function one<T>(number: number, kind: Kind<T>): Field<T> {
  return {
    number,
    absent: () => kind.empty(),
    write: (writer, value) => writeValue(writer, number, kind, value),
    add: (reader) => kind.read(reader),
  };
}

export function maybe<T>(number: number, kind: Kind<T>): Field<T | undefined> {
  return {
    number,
    absent: () => undefined,
    write(writer, value) {
      if (value !== undefined) writeValue(writer, number, kind, value);
    },
    add: (reader) => kind.read(reader),
  };
}

export function many<T>(number: number, kind: Kind<T>): Field<readonly T[]> {
  const { write, add } = some(number, kind);
  return { number, absent: () => [], write, add: (reader, before) => add(reader, before) ?? [] };
}

/** A list that is absent where it would be empty. */
export function some<T>(number: number, kind: Kind<T>): Field<readonly T[] | undefined> {
  return {
    number,
    absent: () => undefined,
    write(writer, values = []) {
      for (const value of values) writeValue(writer, number, kind, value);
    },
    add(reader, before) {
      const value = kind.read(reader);
      // The list was made here and grows in place: a gang may have thousands of tasks.
      if (!Array.isArray(before)) return [value];
      before.push(value);
      return before;
    },
  };
}

function writeValue<T>(writer: protobuf.Writer, number: number, kind: Kind<T>, value: T): void {
  writer.uint32(number * 8 + kind.wireType);
  kind.write(writer, value);
}

/** Every field of T; a field that may be absent has an optional Field. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Field<T[K] | undefined> : Field<T[K]>;
};

/** A message, alone or within another one. */
export function message<T extends object>(fields: FieldsOf<T>): Kind<T> & Message<T> {
  const all = Object.entries<Field<unknown>>(fields);
  const known = new Map(all.map(([name, field]) => [field.number, { name, field }]));
  const write = (writer: protobuf.Writer, value: T): protobuf.Writer => {
    for (const [name, field] of all) field.write(writer, Reflect.get(value, name));
    return writer;
  };
  const read = (reader: protobuf.Reader, end: number): T => {
    const values: Record<string, unknown> = {};
    while (reader.pos < end) {
      const tag = reader.uint32();
      const { name, field } = known.get(tag >>> 3) ?? {};
      if (name === undefined || field === undefined) reader.skipType(tag & 7);
      else values[name] = field.add(reader, values[name]);
    }
    for (const [name, field] of all) {
      const absent = values[name] === undefined ? field.absent() : undefined;
      if (absent !== undefined) values[name] = absent;
    }
    // Every field of T was read by its own kind: FieldsOf<T> leaves none out.
    return values as T;
  };
  return {
    wireType: 2,
    empty: () => read(protobuf.Reader.create(new Uint8Array()), 0),
    write: (writer, value) => void write(writer.fork(), value).ldelim(),
    read: (reader) => read(reader, reader.uint32() + reader.pos),
    encode: (value) => write(protobuf.Writer.create(), value).finish(),
    decode: (bytes) => read(protobuf.Reader.create(bytes), bytes.length),
  };
}

interface Entry {
  readonly key: string;
  readonly value: number;
}

type Numbers = Readonly<Record<string, number>>;

/** map<string, double> */
export function amounts(number: number): Field<Numbers> {
  const { write, add } = someAmounts(number);
  return { number, absent: () => ({}), write, add: (reader, before) => add(reader, before) ?? {} };
}

/** map<string, double>, absent where it would be empty */
export function someAmounts(number: number): Field<Numbers | undefined> {
  return numbers(number, real);
}

/** map<string, uint32>, absent where it would be empty */
export function someWholes(number: number): Field<Numbers | undefined> {
  return numbers(number, whole);
}

function numbers(number: number, kind: Kind<number>): Field<Numbers | undefined> {
  const entry = message<Entry>({ key: one(1, text), value: one(2, kind) });
  return {
    number,
    absent: () => undefined,
    write(writer, values = {}) {
      for (const [key, value] of Object.entries(values)) writeValue(writer, number, entry, { key, value });
    },
    add(reader, before) {
      const { key, value } = entry.read(reader);
      return { ...before, [key]: value };
    },
  };
}
