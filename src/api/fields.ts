import protobuf from "protobufjs/minimal.js";

/**
 * Messages are written and read by tables of their fields, which scripts/messages.mjs generates from proto/tony
 * (docs/makers/decisions/0059-messages-by-tables.md).
 * See https://protobuf.dev/programming-guides/encoding/.
 */
export interface Message<T> {
  encode(message: T): Uint8Array;
  /** Unknown fields are skipped. @throws RangeError if bytes are missing, or a value has the wrong type */
  decode(bytes: Uint8Array): T;
}

/** The factor of a number's tenth byte, the last one that 64 bits need. */
const LARGEST_FACTOR = 2 ** 63;

/** How one value is written after its tag, and how it is read. */
export interface Kind<T> {
  readonly wireType: 0 | 1 | 2;
  /** The value of an absent field. */
  empty(): T;
  /** Such a value is not written, because an absent field means it. Absent: every value is written. */
  isEmpty?(value: T): boolean;
  write(writer: protobuf.Writer, value: T): void;
  read(reader: protobuf.Reader): T;
}

export const text: Kind<string> = {
  wireType: 2,
  empty: () => "",
  isEmpty: (value) => value === "",
  write: (writer, value) => void writer.string(value),
  read: (reader) => reader.string(),
};
/** A non-negative integer: uint32 and uint64 have the same encoding. */
export const whole: Kind<number> = {
  wireType: 0,
  empty: () => 0,
  isEmpty: (value) => value === 0,
  write: (writer, value) => void writer.uint64(value),
  read: readWhole,
};
/** sint64 */
export const signed: Kind<number> = {
  wireType: 0,
  empty: () => 0,
  isEmpty: (value) => value === 0,
  write: (writer, value) => void writer.sint64(value),
  read: (reader) => numberOf(reader.sint64()),
};
/** int32 */
export const small: Kind<number> = {
  wireType: 0,
  empty: () => 0,
  isEmpty: (value) => value === 0,
  write: (writer, value) => void writer.int32(value),
  read: (reader) => reader.int32(),
};
/** int64 */
export const large: Kind<number> = {
  wireType: 0,
  empty: () => 0,
  isEmpty: (value) => value === 0,
  write: (writer, value) => void writer.int64(value),
  read: (reader) => numberOf(reader.int64()),
};
export const data: Kind<Uint8Array> = {
  wireType: 2,
  empty: () => new Uint8Array(),
  isEmpty: (value) => value.length === 0,
  write: (writer, value) => void writer.bytes(value),
  read: (reader) => reader.bytes(),
};
/** Bytes as a string with one character for each. */
export const latin1: Kind<string> = {
  wireType: 2,
  empty: () => "",
  isEmpty: (value) => value === "",
  write: (writer, value) => void writer.bytes(Buffer.from(value, "latin1")),
  read: (reader) => Buffer.from(reader.bytes()).toString("latin1"),
};
/** double */
export const real: Kind<number> = {
  wireType: 1,
  empty: () => 0,
  isEmpty: (value) => Object.is(value, 0),
  write: (writer, value) => void writer.double(value),
  read: (reader) => reader.double(),
};
export const flag: Kind<boolean> = {
  wireType: 0,
  empty: () => false,
  isEmpty: (value) => !value,
  write: (writer, value) => void writer.bool(value),
  read: (reader) => reader.bool(),
};

/** Replaces reader.uint64(), which creates three objects per number: with messages from 1,000 executors a second, that dominates the time. */
function readWhole(reader: protobuf.Reader): number {
  let value = 0;
  for (let factor = 1; factor <= LARGEST_FACTOR; factor *= 128) {
    const byte = reader.buf[reader.pos];
    if (byte === undefined || reader.pos >= reader.len) throw new RangeError("a number has no end");
    reader.pos += 1;
    value += (byte & 127) * factor;
    if (byte < 128) return exact(value);
  }
  throw new RangeError("a number is longer than 64 bits");
}

/** All numbers of the protocol are below 2^53. A larger one is clamped to the largest exact integer. */
function exact(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER));
}

/** protobufjs returns a Long if `long` is in the bundle. */
function numberOf(value: number | { readonly high: number; readonly low: number }): number {
  return exact(typeof value === "number" ? value : value.high * 2 ** 32 + (value.low >>> 0));
}

/** Text that is one of a few words; an absent field means the first. */
export function word<const T extends string>(first: T, ...others: readonly T[]): Kind<T> {
  return converted(text, { toWire: (value) => value, fromWire: (value) => oneOf([first, ...others], value) }, first);
}

/** Like `word`, for text that people read too: any other text means the first. */
export function wordOrFirst<const T extends string>(first: T, ...others: readonly T[]): Kind<T> {
  const fromWire = (value: string) => others.find((one) => one === value) ?? first;
  return converted(text, { toWire: (value) => value, fromWire }, first);
}

/** An enum; an unknown number means the value with number 0. */
export function numbered<const T extends string>(numbers: Readonly<Record<T, number>>): Kind<T> {
  const wordOf = wordsOf(numbers);
  // A proto3 enum has a 0, so the result is never absent.
  const fromWire = (number: number) => (wordOf.get(number) ?? wordOf.get(0)) as T;
  return converted(whole, { toWire: (value) => numbers[value], fromWire });
}

function wordsOf<T extends string>(numbers: Readonly<Record<T, number>>): ReadonlyMap<number, T> {
  // All keys are of type T.
  return new Map(Object.entries<number>(numbers).map(([name, number]) => [number, name as T]));
}

export type ValueOf<K> = K extends Kind<infer T> ? T : never;

/** The text is none of the words that this side knows: a newer side has more. */
class UnknownWord extends RangeError {}

function oneOf<T extends string>(words: readonly T[], value: string): T {
  const found = words.find((one) => one === value);
  if (found === undefined) throw new UnknownWord(`${value} is not one of ${words.join(", ")}`);
  return found;
}

/** A value that is encoded as another one. */
export function converted<T, W>(
  kind: Kind<W>,
  { toWire, fromWire }: { readonly toWire: (value: T) => W; readonly fromWire: (wire: W) => T },
  empty?: T,
): Kind<T> {
  const { isEmpty } = kind;
  return {
    wireType: kind.wireType,
    empty: () => empty ?? fromWire(kind.empty()),
    ...(isEmpty && { isEmpty: (value) => isEmpty(toWire(value)) }),
    write: (writer, value) => kind.write(writer, toWire(value)),
    read: (reader) => fromWire(kind.read(reader)),
  };
}

/** One field of a message: its number, its value where it is absent, and how another value is merged into those already read. */
export interface Field<T> {
  /** Each member of a oneof has its own number. */
  readonly numbers: readonly number[];
  absent(): T;
  write(writer: protobuf.Writer, value: T): void;
  add(reader: protobuf.Reader, before: T | undefined, number: number): T;
}

export function one<T>(number: number, kind: Kind<T>): Field<T> {
  return {
    numbers: [number],
    absent: () => kind.empty(),
    write(writer, value) {
      if (kind.isEmpty?.(value) !== true) writeValue(writer, number, kind, value);
    },
    add: (reader) => kind.read(reader),
  };
}

export function maybe<T>(number: number, kind: Kind<T>): Field<T | undefined> {
  return {
    numbers: [number],
    absent: () => undefined,
    write(writer, value) {
      if (value !== undefined) writeValue(writer, number, kind, value);
    },
    add: (reader) => kind.read(reader),
  };
}

/** Text that is undefined instead of empty. */
export function someText(number: number): Field<string | undefined> {
  return { ...maybe(number, text), add: (reader) => reader.string() || undefined };
}

/** An enum that is undefined instead of 0, which `numbers` does not contain. */
export function someNumbered<const T extends string>(
  number: number,
  numbers: Readonly<Record<T, number>>,
): Field<T | undefined> {
  const wordOf = wordsOf(numbers);
  return {
    numbers: [number],
    absent: () => undefined,
    write(writer, value) {
      if (value !== undefined) writeValue(writer, number, whole, numbers[value]);
    },
    add: (reader) => wordOf.get(whole.read(reader)),
  };
}

export function many<T>(number: number, kind: Kind<T>): Field<readonly T[]> {
  const { write, add } = some(number, kind);
  return { numbers: [number], absent: () => [], write, add: (reader, before) => add(reader, before, number) ?? [] };
}

/** A list that is undefined instead of empty. */
export function some<T>(number: number, kind: Kind<T>): Field<readonly T[] | undefined> {
  return {
    numbers: [number],
    absent: () => undefined,
    write(writer, values = []) {
      for (const value of values) writeValue(writer, number, kind, value);
    },
    add(reader, before) {
      const value = kind.read(reader);
      // The list was created here and grows in place: a gang may have thousands of tasks.
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

/** Every field of T; an optional property has an optional Field. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Field<T[K] | undefined> : Field<T[K]>;
};

/** A message, alone or nested in another one. */
export function message<T extends object>(fields: FieldsOf<T>): Kind<T> & Message<T> {
  const all = Object.entries<Field<unknown>>(fields);
  const known = new Map(all.flatMap(([name, field]) => field.numbers.map((number) => [number, { name, field }])));
  const write = (writer: protobuf.Writer, value: T): protobuf.Writer => {
    for (const [name, field] of all) field.write(writer, Reflect.get(value, name));
    return writer;
  };
  const read = (reader: protobuf.Reader, end: number): T => {
    const values: Record<string, unknown> = {};
    while (reader.pos < end) {
      const tag = reader.uint32();
      const found = known.get(tag >>> 3);
      if (found === undefined) reader.skipType(tag & 7);
      else values[found.name] = found.field.add(reader, values[found.name], tag >>> 3);
    }
    if (reader.pos !== end) throw new RangeError("a message is longer than it says");
    for (const [name, field] of all) {
      const absent = values[name] === undefined ? field.absent() : undefined;
      if (absent !== undefined) values[name] = absent;
    }
    // Every field of T was read by its own kind: FieldsOf<T> omits none.
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

/** A message that programs use in another form. */
export function convertedMessage<T, W>(
  form: Kind<W> & Message<W>,
  ways: { readonly toWire: (value: T) => W; readonly fromWire: (wire: W) => T },
): Kind<T> & Message<T> {
  return {
    ...converted(form, ways),
    encode: (value) => form.encode(ways.toWire(value)),
    decode: (bytes) => ways.fromWire(form.decode(bytes)),
  };
}

/** One member of a oneof: a message, or a value of that name. */
export interface Member<T> {
  readonly number: number;
  write(writer: protobuf.Writer, value: T): void;
  read(reader: protobuf.Reader): T;
}

export function member<T extends object>(number: number, kind: Kind<T>): Member<T>;
export function member<T, const N extends string>(
  number: number,
  kind: Kind<T>,
  name: N,
): Member<{ readonly [K in N]: T }>;
export function member(number: number, kind: Kind<unknown>, name?: string): Member<object> {
  return {
    number,
    write: (writer, value) => writeValue(writer, number, kind, name === undefined ? value : Reflect.get(value, name)),
    read(reader) {
      const value = kind.read(reader);
      return name === undefined ? Object(value) : { [name]: value };
    },
  };
}

type MembersOf<T extends { readonly type: string }> = {
  readonly [K in Exclude<T["type"], "unknown">]: Member<Omit<Extract<T, { readonly type: K }>, "type">>;
};

/** A oneof: `type` names its member. A member that only a newer peer knows, or that contains a word of such a peer, is `unknown`. */
export function choice<T extends { readonly type: string }>(members: MembersOf<T>): Field<T> {
  const all = Object.entries<Member<object>>(members);
  const byType = new Map(all);
  const byNumber = new Map(all.map(([type, each]) => [each.number, { type, each }]));
  return {
    numbers: [...byNumber.keys()],
    // Whatever is read here was created by its own member: MembersOf<T> omits none.
    absent: () => ({ type: "unknown" }) as unknown as T,
    write: (writer, value) => byType.get(value.type)?.write(writer, value),
    add(reader, _before, number) {
      const start = reader.pos;
      const { type, each } = byNumber.get(number) ?? {};
      try {
        return { type, ...each?.read(reader) } as unknown as T;
      } catch (error) {
        if (!(error instanceof UnknownWord)) throw error;
        reader.pos = start;
        reader.skipType(2);
        return { type: "unknown" } as unknown as T;
      }
    },
  };
}

/** A message that consists only of a oneof. */
export function onlyChoice<T extends { readonly type: string }>(body: Field<T>): Kind<T> & Message<T> {
  // FieldsOf checks whether T may be undefined, which no oneof is.
  const form = message<{ readonly body: T }>({ body } as FieldsOf<{ readonly body: T }>);
  return convertedMessage(form, { toWire: (value) => ({ body: value }), fromWire: (wire) => wire.body });
}

interface Entry<V> {
  readonly key: string;
  readonly value: V;
}

type Numbers = Readonly<Record<string, number>>;

/** map<string, double> */
export function amounts(number: number): Field<Numbers> {
  const { write, add } = someAmounts(number);
  return { numbers: [number], absent: () => ({}), write, add: (reader, before) => add(reader, before, number) ?? {} };
}

/** map<string, double>, undefined instead of empty */
export function someAmounts(number: number): Field<Numbers | undefined> {
  return map(number, real);
}

/** map<string, uint32> or map<string, uint64>, undefined instead of empty */
export function someWholes(number: number): Field<Numbers | undefined> {
  return map(number, whole);
}

/** map<string, string>, undefined instead of empty */
export function someTexts(number: number): Field<Readonly<Record<string, string>> | undefined> {
  return map(number, text);
}

/** map<string, string> */
export function texts(number: number): Field<Readonly<Record<string, string>>> {
  const { write, add } = someTexts(number);
  return { numbers: [number], absent: () => ({}), write, add: (reader, before) => add(reader, before, number) ?? {} };
}

function map<V>(number: number, kind: Kind<V>): Field<Readonly<Record<string, V>> | undefined> {
  // Both are always written, as by protobufjs, and neither is absent; FieldsOf<Entry<V>> cannot express that.
  const always = <T>(id: number, of: Kind<T>) => ({ ...one(id, of), write: maybe(id, of).write });
  const entry = message<Entry<V>>({ key: always(1, text), value: always(2, kind) } as FieldsOf<Entry<V>>);
  return {
    numbers: [number],
    absent: () => undefined,
    write(writer, values = {}) {
      for (const [key, value] of Object.entries(values)) writeValue(writer, number, entry, { key, value });
    },
    add(reader, before) {
      const { key, value } = entry.read(reader);
      // Like a list, the object was created here and grows in place: copying it for each entry would take quadratic time.
      return Object.defineProperty(before ?? {}, key, { value, enumerable: true, configurable: true, writable: true });
    },
  };
}
