import { describe, expect, test } from "@jest/globals";
import { type JavaValue, readJavaObjects } from "../../../../src/hadoop/yarn/log-files/java-objects.ts";

/** Java Object Serialization Specification, chapter 6.4. */
const bytes = (...values: readonly number[]) => Buffer.from(values);
const short = (value: number) => bytes(value >> 8, value & 0xff);
const int = (value: number) => {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
};
const utf = (text: string) => Buffer.concat([short(Buffer.byteLength(text)), Buffer.from(text)]);
const NULL = bytes(0x70);
const END = bytes(0x78);
const reference = (index: number) => Buffer.concat([bytes(0x71), int(0x7e0000 + index)]);
const string = (text: string) => Buffer.concat([bytes(0x74), utf(text)]);
const [SERIALIZABLE, WITH_METHOD, EXTERNALIZABLE] = [2, 3, 4];

type Field = readonly [type: string, name: string];
/** A class description, with what a class loader wrote beside it, and the class above. */
function classOf(name: string, fields: readonly Field[], { flags = SERIALIZABLE, beside = END, above = NULL } = {}) {
  const described = fields.flatMap(([type, field]) => {
    const own = type.startsWith("L") || type.startsWith("[") ? [string(type)] : [];
    return [bytes(type.charCodeAt(0)), utf(field), ...own];
  });
  const head = [bytes(0x72), utf(name), Buffer.alloc(8, 9), bytes(flags), short(fields.length)];
  return Buffer.concat([...head, ...described, beside, above]);
}
const object = (description: Buffer, ...values: readonly Buffer[]) =>
  Buffer.concat([bytes(0x73), description, ...values]);
const array = (description: Buffer, length: number, ...values: readonly Buffer[]) =>
  Buffer.concat([bytes(0x75), description, int(length), ...values]);

/** The objects in a stream, in the order in which they end. */
function read(...contents: readonly Buffer[]): [string, Record<string, JavaValue>][] {
  const found: [string, Record<string, JavaValue>][] = [];
  readJavaObjects(Buffer.concat([bytes(0xac, 0xed, 0, 5), ...contents]), ({ className, fields }) => {
    found.push([className, Object.fromEntries(fields)]);
  });
  return found;
}

describe("an object that Java wrote", () => {
  test("has numbers of every type, and texts", () => {
    const fields: readonly Field[] = [
      ["B", "byte"],
      ["Z", "flag"],
      ["C", "char"],
      ["S", "short"],
      ["I", "int"],
      ["F", "float"],
      ["D", "double"],
      ["J", "long"],
      ["Ljava/lang/String;", "text"],
      ["Ljava/lang/String;", "none"],
    ];
    const float = Buffer.alloc(4);
    float.writeFloatBE(0.5);
    const double = Buffer.alloc(8);
    double.writeDoubleBE(0.25);
    const long = Buffer.alloc(8);
    long.writeBigInt64BE(-5_000_000_000n);
    const values = [bytes(1), bytes(0), short(65), short(300), int(70_000), float, double, long, string("hällo"), NULL];
    expect(read(object(classOf("org.example.All", fields), ...values))).toEqual([
      [
        "org.example.All",
        {
          ...{ byte: 1, flag: 0, char: 65, short: 300, int: 70_000, float: 0.5, double: 0.25 },
          ...{ long: -5_000_000_000, text: "hällo", none: undefined },
        },
      ],
    ]);
  });

  test("is visited after those within it", () => {
    const inner = object(classOf("Inner", [["I", "n"]]), int(1));
    expect(
      read(
        object(
          classOf("Outer", [
            ["LInner;", "inner"],
            ["I", "n"],
          ]),
          inner,
          int(2),
        ),
      ),
    ).toEqual([
      ["Inner", { n: 1 }],
      ["Outer", { inner: undefined, n: 2 }],
    ]);
  });

  test("has the fields of the classes above first, the topmost before all", () => {
    const top = classOf("Top", [["B", "top"]]);
    const middle = classOf("Middle", [["B", "middle"]], { above: top });
    const bottom = classOf("Bottom", [["B", "bottom"]], { above: middle });
    expect(read(object(bottom, bytes(1), bytes(2), bytes(3)))).toEqual([["Bottom", { top: 1, middle: 2, bottom: 3 }]]);
  });

  test("may refer to texts and classes that came before", () => {
    const pair = classOf("Pair", [
      ["Ljava/lang/String;", "one"],
      ["Ljava/lang/String;", "two"],
    ]);
    // Handles: 0 the class, 1 the name of the fields' type, 2 that of the second, 3 the object, 4 the first text.
    const first = object(pair, string("said"), reference(4));
    const holder = classOf("Holder", [["B", "b"]], { flags: WITH_METHOD });
    expect(read(object(holder, bytes(7), object(reference(0), bytes(8), END), END))).toEqual([
      ["Holder", { b: 8 }],
      ["Holder", { b: 7 }],
    ]);
    expect(read(first)).toEqual([["Pair", { one: "said", two: "said" }]]);
  });

  test("that is referred to again is no value, nor visited again", () => {
    const inner = object(classOf("Inner", []));
    // Handles: 0 the class, 1 and 2 the types' names, 3 the object, 4 the inner class, 5 the inner object.
    const outer = classOf("Outer", [
      ["LInner;", "one"],
      ["LInner;", "two"],
    ]);
    expect(read(object(outer, inner, reference(5)))).toEqual([
      ["Inner", {}],
      ["Outer", { one: undefined, two: undefined }],
    ]);
  });

  test("may hold arrays, enumerations and classes, whose contents are passed over", () => {
    const fields: readonly Field[] = [
      ["[I", "numbers"],
      ["[LItem;", "items"],
      ["LColour;", "colour"],
      ["Ljava/lang/Class;", "class"],
      ["B", "last"],
    ];
    const numbers = array(classOf("[I", []), 2, int(1), int(2));
    const items = array(classOf("[LItem;", []), 2, object(classOf("Item", [["B", "b"]]), bytes(5)), NULL);
    const colour = Buffer.concat([bytes(0x7e), classOf("Colour", []), string("RED")]);
    const itself = Buffer.concat([bytes(0x76), classOf("Thing", [])]);
    expect(read(object(classOf("All", fields), numbers, items, colour, itself, bytes(9)))).toEqual([
      ["Item", { b: 5 }],
      ["All", { numbers: undefined, items: undefined, colour: "RED", class: undefined, last: 9 }],
    ]);
  });

  test("has as many handles before it as what is passed over has", () => {
    const fields: readonly Field[] = [
      ["[I", "numbers"],
      ["LColour;", "colour"],
      ["Ljava/lang/Class;", "class"],
      ["Ljava/lang/String;", "text"],
      ["Ljava/lang/String;", "again"],
    ];
    const numbers = array(classOf("[I", []), 0);
    const colour = Buffer.concat([bytes(0x7e), classOf("Colour", []), string("RED")]);
    const itself = Buffer.concat([bytes(0x76), classOf("Thing", [])]);
    // The class and its five types, the object; the array and the enumeration with their classes, its name; the class, twice; the text.
    const content = object(classOf("All", fields), numbers, colour, itself, string("said"), reference(14));
    expect(read(content)).toMatchObject([["All", { text: "said", again: "said" }]]);
  });

  test("may write bytes and objects beside its fields", () => {
    const beside = Buffer.concat([
      bytes(0x77, 2, 0x78, 0x78),
      object(classOf("Extra", [])),
      bytes(0x7a, 0, 0, 0, 3, 0x78, 0x78, 0x78),
      END,
    ]);
    const description = classOf("Writer", [["B", "b"]], { flags: WITH_METHOD });
    expect(read(object(description, bytes(1), beside))).toEqual([
      ["Extra", {}],
      ["Writer", { b: 1 }],
    ]);
  });

  test("may have a class about which its loader wrote something", () => {
    const beside = Buffer.concat([bytes(0x77, 1, 0x78), string("jar"), END]);
    expect(read(object(classOf("Loaded", [["B", "b"]], { beside }), bytes(1)))).toEqual([["Loaded", { b: 1 }]]);
  });

  test("may be none, or a text alone", () => {
    expect(read(NULL)).toEqual([]);
    expect(read(string("alone"))).toEqual([]);
  });
});

describe("what is no object of Java is refused:", () => {
  const one = object(classOf("One", [["I", "n"]]), int(1));
  /** Objects within each other, this many below the outermost. */
  const nested = (depth: number) => {
    const description = classOf("N", [["LN;", "n"]]);
    const heads = Array.from({ length: depth }, () => object(reference(0)));
    return Buffer.concat([object(description), ...heads, NULL]);
  };
  /** A class with that many above it. */
  const tall = (count: number) => {
    let above = NULL;
    for (let height = 0; height <= count; height += 1) above = classOf(`C${height}`, [], { above });
    return object(above);
  };

  test.each([
    ["a reference to nothing", object(classOf("One", [["LX;", "x"]]), reference(3)), "a reference leads nowhere"],
    ["a reference before the first", reference(-1), "a reference leads nowhere"],
    ["a class that is a text", object(classOf("A", [["LX;", "x"]]), object(reference(1))), "does not describe a class"],
    [
      "a class that is an object",
      object(classOf("A", [["LX;", "x"]]), object(reference(2))),
      "does not describe a class",
    ],
    ["an object without a class", object(NULL), "an object has no class"],
    ["an array without a class", array(NULL, 0), "an object has no class"],
    ["another tag", bytes(0x7f), "0x7f does not begin an object of Java"],
    ["a field of another type", object(classOf("One", [["Q", "q"]]), int(1)), '"Q" is not a Java type'],
    [
      "an object that its class writes by itself",
      object(classOf("Own", [], { flags: EXTERNALIZABLE })),
      "Own is written by a method of its own",
    ],
    ["objects 65 deep", nested(64), "an object is nested more than 64 deep"],
    ["a class with 64 above it", tall(64), "C64 has more than 64 classes above it"],
    ["a class with 65 above it", tall(65), "a class is nested more than 64 deep"],
  ])("%s", (_what, content, said) => {
    expect(() => read(content)).toThrow(said);
    expect(() => read(content)).toThrow(expect.objectContaining({ code: "LOG_FILE_MALFORMED" }));
  });

  test("but objects 64 deep, and a class with 63 above it, are read", () => {
    expect(read(nested(63))).toHaveLength(64);
    expect(read(tall(63))).toHaveLength(1);
  });

  test("a class that is below itself", () => {
    const head = Buffer.concat([bytes(0x72), utf("Loop"), Buffer.alloc(8), bytes(SERIALIZABLE), short(0), END]);
    expect(() => read(object(Buffer.concat([head, reference(0)])))).toThrow("0x71 does not describe a class of Java");
  });

  test("one that is cut off, wherever", () => {
    for (let length = 0; length < one.length; length += 1)
      expect(() => read(one.subarray(0, length))).toThrow("an object ends too early");
    expect(() => readJavaObjects(bytes(0xac, 0xed, 0, 6, 0x70), () => undefined)).toThrow("objects of Java");
  });
});
