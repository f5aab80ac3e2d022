import { decodeJavaUtf } from "./byte-reader.ts";
import { LogFormatError } from "./errors.ts";

/** A field's value, if it is a text or number; for anything else only its presence is recorded. */
export type JavaValue = string | number | undefined;

/** An object that has been read to its end. */
export interface JavaObject {
  /** `org.apache.hadoop.…$IndexedLogsMeta` */
  readonly className: string;
  readonly fields: ReadonlyMap<string, JavaValue>;
}

/** The deepest nesting of objects in objects, and of classes below classes, in real files; deeper nesting is meant to exhaust the stack. */
const deepest = 64;

/** java.io.ObjectStreamConstants: the first byte of each content, and the flags of a class. */
const Tag = {
  null: 0x70,
  reference: 0x71,
  classDescription: 0x72,
  object: 0x73,
  string: 0x74,
  array: 0x75,
  class: 0x76,
  blockData: 0x77,
  endBlockData: 0x78,
  longBlockData: 0x7a,
  enum: 0x7e,
} as const;
const magic = 0xaced0005;
const firstHandle = 0x7e0000;
const Flag = { writeMethod: 1, serializable: 2 } as const;

interface ClassDescription {
  readonly name: string;
  flags: number;
  fields: readonly { readonly type: string; readonly name: string }[];
  above: ClassDescription | undefined;
  /** How many classes there are from the topmost; 0 until its description has been read completely. */
  height: number;
}

/** What a handle refers to. */
type Referred = ClassDescription | string | undefined;

/**
 * Reads the output of Java's ObjectOutputStream (Java Object Serialization Specification, chapter 6), and visits each object at its end,
 * nested ones first. It never instantiates a class: a stream can name any it likes. It keeps only texts and class descriptions, to which
 * later parts refer.
 *
 *   content  = null | reference | object | string | array | class | enum
 *   object   = classDescription, then for each class from the topmost: its fields, and where it writes more: (content | blockData)*, end
 *   classDescription = name, number, flags, fields, annotation, the class above
 *
 * @throws LogFormatError for anything that is not such a stream
 */
export function readJavaObjects(bytes: Buffer, visit: (object: JavaObject) => void): void {
  const handles: Referred[] = [];
  let at = 0;

  const number = (lengthBytes: 1 | 2 | 4): number => {
    at += lengthBytes;
    if (at > bytes.length) throw new LogFormatError("an object ends too early");
    return bytes.readUIntBE(at - lengthBytes, lengthBytes);
  };
  const take = (lengthBytes: number): Buffer => {
    at += lengthBytes;
    if (at > bytes.length) throw new LogFormatError("an object ends too early");
    return bytes.subarray(at - lengthBytes, at);
  };
  const utf = () => decodeJavaUtf(take(number(2)));

  if (number(4) !== magic) throw new LogFormatError("it does not hold objects of Java");
  content(number(1), 0);

  function content(tag: number, depth: number): JavaValue {
    if (depth > deepest) throw new LogFormatError(`an object is nested more than ${deepest} deep`);
    switch (tag) {
      case Tag.null:
        return undefined;
      case Tag.reference: {
        const referred = handle();
        return typeof referred === "string" ? referred : undefined;
      }
      case Tag.string:
        return remember(utf());
      case Tag.class:
        describedClass(depth);
        return remember(undefined);
      case Tag.enum:
        describedClass(depth);
        remember(undefined);
        return content(number(1), depth + 1);
      case Tag.array:
        return array(depth);
      case Tag.object:
        return object(depth);
      default:
        throw new LogFormatError(`0x${tag.toString(16)} does not begin an object of Java`);
    }
  }

  function object(depth: number): undefined {
    const description = described(depth);
    remember(undefined);
    const fields = new Map<string, JavaValue>();
    for (const { flags, fields: own } of lineageOf(description)) {
      if ((flags & Flag.serializable) === 0)
        throw new LogFormatError(`${description.name} is written by a method of its own`);
      for (const { type, name } of own) fields.set(name, value(type, depth));
      if ((flags & Flag.writeMethod) !== 0) annotation(depth);
    }
    visit({ className: description.name, fields });
  }

  function array(depth: number): undefined {
    const { name } = described(depth);
    remember(undefined);
    for (let left = number(4); left > 0; left -= 1) value(name.charAt(1), depth);
  }

  function value(type: string, depth: number): JavaValue {
    switch (type) {
      case "Z":
      case "B":
        return number(1);
      case "C":
      case "S":
        return number(2);
      case "I":
        return number(4);
      case "F":
        return take(4).readFloatBE();
      case "D":
        return take(8).readDoubleBE();
      case "J":
        return Number(take(8).readBigInt64BE());
      case "L":
      case "[":
        return content(number(1), depth + 1);
      default:
        throw new LogFormatError(`"${type}" is not a Java type`);
    }
  }

  /** Bytes and objects that a class writes beside its fields. */
  function annotation(depth: number): void {
    for (let tag = number(1); tag !== Tag.endBlockData; tag = number(1)) {
      if (tag === Tag.blockData) take(number(1));
      else if (tag === Tag.longBlockData) take(number(4));
      else content(tag, depth + 1);
    }
  }

  function described(depth: number): ClassDescription {
    const description = describedClass(depth);
    if (description === undefined) throw new LogFormatError("an object has no class");
    return description;
  }

  /** Undefined above the topmost class. */
  function describedClass(depth: number): ClassDescription | undefined {
    const tag = number(1);
    if (tag === Tag.null) return undefined;
    if (tag === Tag.reference) {
      const referred = handle();
      if (typeof referred === "object" && referred.height > 0) return referred;
    }
    if (tag !== Tag.classDescription)
      throw new LogFormatError(`0x${tag.toString(16)} does not describe a class of Java`);
    return newClass(depth);
  }

  function newClass(depth: number): ClassDescription {
    if (depth > deepest) throw new LogFormatError(`a class is nested more than ${deepest} deep`);
    const description: ClassDescription = { name: utf(), flags: 0, fields: [], above: undefined, height: 0 };
    take(8);
    handles.push(description);
    description.flags = number(1);
    description.fields = Array.from({ length: number(2) }, () => {
      const type = String.fromCharCode(number(1));
      const name = utf();
      if (type === "L" || type === "[") content(number(1), depth + 1);
      return { type, name };
    });
    annotation(depth);
    description.above = describedClass(depth + 1);
    description.height = (description.above?.height ?? 0) + 1;
    if (description.height > deepest)
      throw new LogFormatError(`${description.name} has more than ${deepest} classes above it`);
    return description;
  }

  function handle(): Referred {
    const index = number(4) - firstHandle;
    if (index < 0 || index >= handles.length) throw new LogFormatError("a reference leads nowhere");
    return handles[index];
  }

  function remember<V extends string | undefined>(referred: V): V {
    handles.push(referred);
    return referred;
  }
}

/** The classes of an object, topmost first. */
function lineageOf(description: ClassDescription): ClassDescription[] {
  const lineage: ClassDescription[] = [];
  for (let one: ClassDescription | undefined = description; one !== undefined; one = one.above) lineage.push(one);
  return lineage.reverse();
}
