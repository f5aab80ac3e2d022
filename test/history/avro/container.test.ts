import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { codecOf, readContainer } from "../../../src/history/avro/read.ts";
import type { AvroSchema } from "../../../src/history/avro/schema.ts";
import { writeContainer } from "../../../src/history/avro/write.ts";

const sync = Buffer.alloc(16, 7);

/** A number in zigzag, seven bits in each byte. */
function writeLong(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value) << 1n;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

const manyNulls = Array.from({ length: 1_000 }, () => ({ name: "none", type: "null" }));

/** A text of that length, and its length before it. */
function zeros(length: number): Buffer {
  return Buffer.concat([writeLong(length), Buffer.alloc(length)]);
}

/** The same block once more, and again. */
function manyBlocks(file: Buffer): Buffer {
  const block = file.subarray(file.indexOf(sync) + sync.length);
  return Buffer.concat([file, block, block]);
}

describe("an Avro container file", () => {
  test("is laid out as the specification says", () => {
    expect(writeContainer("string", ["ab"], sync)).toEqual(
      Buffer.concat([
        Buffer.from("Obj\u0001"),
        // A map of two entries, each text with its length in zigzag.
        Buffer.from([4, 22]),
        Buffer.from("avro.schema"),
        Buffer.from([16]),
        Buffer.from('"string"'),
        Buffer.from([20]),
        Buffer.from("avro.codec"),
        Buffer.from([8]),
        Buffer.from("null"),
        Buffer.from([0]),
        sync,
        // One value in three bytes.
        Buffer.from([2, 6, 4]),
        Buffer.from("ab"),
        sync,
      ]),
    );
  });

  /** An array, or a block, of `count` values in these bytes. */
  function blockOf(schema: AvroSchema, codec: "null" | "deflate", count: Buffer, block: Buffer): Buffer {
    const empty = writeContainer(schema, [], sync).toString("latin1");
    const header = empty
      .slice(0, empty.indexOf(sync.toString("latin1")))
      .replace("\u0008null", codec === "null" ? "\u0008null" : "\u000edeflate");
    return Buffer.concat([Buffer.from(header, "latin1"), sync, count, writeLong(block.length), block, sync]);
  }

  test.each([
    [
      "more values than bytes",
      blockOf("null", "null", writeLong(10 ** 12), Buffer.alloc(0)),
      "values that take no byte",
    ],
    [
      "more items than bytes",
      blockOf(
        { type: "array", items: "null" },
        "null",
        writeLong(1),
        Buffer.concat([writeLong(10 ** 12), writeLong(0)]),
      ),
      "values that take no byte",
    ],
    [
      "lists of lists of as many items as it has bytes",
      blockOf(
        { type: "array", items: { type: "array", items: "null" } },
        "null",
        writeLong(1),
        Buffer.concat([
          writeLong(9_000),
          Buffer.alloc(27_000, Buffer.concat([writeLong(8_000), writeLong(0)])),
          writeLong(0),
        ]),
      ),
      "values that take no byte",
    ],
    [
      "records of thousands of fields for each byte",
      blockOf(
        {
          type: "array",
          items: { type: "record", name: "Wide", fields: [{ name: "some", type: "int" }, ...manyNulls] },
        },
        "null",
        writeLong(1),
        Buffer.concat([writeLong(10_000), Buffer.alloc(10_000), writeLong(0)]),
      ),
      "more than 2000000 values",
    ],
    [
      "blocks that unpack to too much together",
      manyBlocks(blockOf("string", "deflate", writeLong(1), deflateRawSync(zeros(2 ** 25)))),
      "larger than",
    ],
    [
      "a block that unpacks to gigabytes",
      blockOf("string", "deflate", writeLong(1), deflateRawSync(Buffer.alloc(2 ** 27))),
      "larger than 67108864 bytes",
    ],
    [
      "a number of thousands of bytes",
      blockOf("long", "null", writeLong(1), Buffer.alloc(60_000, 0xff)),
      "a number that is too long",
    ],
  ])("that claims %s is refused at once", (_what, file, why) => {
    expect(() => readContainer(file)).toThrow(why);
  });

  test("gives back what was written", () => {
    const metric = { type: "record", name: "Metric", fields: [{ name: "value", type: "double" }] } as const;
    const schema: AvroSchema = {
      type: "record",
      name: "Event",
      fields: [
        { name: "text", type: "string" },
        { name: "time", type: "long" },
        { name: "kind", type: { type: "enum", name: "Kind", symbols: ["A", "B"] } },
        { name: "note", type: ["null", "string"] },
        { name: "metrics", type: { type: "array", items: metric } },
        { name: "last", type: "Metric" },
      ],
    };
    const value = fc.double({ noNaN: true });
    const event = fc.record(
      {
        text: fc.string({ unit: "grapheme" }),
        time: fc.maxSafeInteger(),
        kind: fc.constantFrom("A", "B"),
        note: fc.oneof(fc.constant({ branch: 0, of: null }), fc.record({ branch: fc.constant(1), of: fc.string() })),
        metrics: fc.array(fc.record({ value }, { noNullPrototype: true })),
        last: fc.record({ value }, { noNullPrototype: true }),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(event), (events) => {
        expect(readContainer(writeContainer(schema, events, sync))).toEqual(events);
      }),
    );
  });

  test("is read when it is compressed, as Java may write it", () => {
    const plain = writeContainer("string", ["ab"], sync);
    const block = plain.subarray(plain.length - 21);
    const header = Buffer.from(
      plain
        .subarray(0, plain.length - 21)
        .toString("latin1")
        .replace("\bnull", "\u000edeflate"),
      "latin1",
    );
    const data = deflateRawSync(block.subarray(2, 5));
    const compressed = Buffer.concat([header, Buffer.from([2, data.length * 2]), data, sync]);
    expect(readContainer(compressed)).toEqual(["ab"]);
  });

  test("has arrays in blocks, each with its length in bytes where a writer says that", () => {
    const [inBlocks, count] = [{ type: "array", items: "int" } as const, writeLong(1)];
    // Two items in two bytes, one item, the end.
    const block = Buffer.from([3, 4, 2, 4, 2, 6, 0]);
    expect(readContainer(blockOf(inBlocks, "null", count, block))).toEqual([[1, 2, 3]]);
  });

  test("tells by its beginning how it is compressed, and nothing where that is none of it", () => {
    const file = writeContainer("string", ["ab"], sync);
    expect(codecOf(file.subarray(0, file.indexOf(sync)))).toBe("null");
    expect(codecOf(blockOf("string", "deflate", writeLong(0), Buffer.alloc(0)))).toBe("deflate");
    expect([codecOf(file.subarray(0, 20)), codecOf(Buffer.from("<configuration/>"))]).toEqual([undefined, undefined]);
  });

  test.each([
    ["something else", Buffer.from("<configuration/>")],
    [
      "a file that is compressed in another way",
      Buffer.from(writeContainer("string", [], sync).toString("latin1").replace("\bnull", "\fsnappy"), "latin1"),
    ],
    ["a file that is cut off", writeContainer("string", ["ab"], sync).subarray(0, -20)],
  ])("%s is refused", (_what, bytes) => {
    expect(() => readContainer(bytes)).toThrow(expect.objectContaining({ code: "AVRO_UNREADABLE" }));
  });

  test.each<[AvroSchema, Parameters<typeof writeContainer>[1][number], string]>([
    ["long", "ab", '"ab" is no Avro long'],
    ["double", "1.5", '"1.5" is no Avro double'],
    ["string", 1, "1 is no Avro string"],
    ["null", 0, "0 is no Avro null"],
    [{ type: "array", items: "int" }, "ab", '"ab" is no Avro array'],
    [{ type: "record", name: "Event", fields: [] }, null, "null is no Avro Event"],
    [["null", "string"], "ab", '"ab" is no Avro union'],
    [["null", "string"], { branch: 2 }, '{"branch":2} is no Avro union'],
  ])("is not written of what its schema does not allow: %j of %j", (schema, value, message) => {
    expect(() => writeContainer(schema, [value], sync)).toThrow(
      expect.objectContaining({ code: "AVRO_INVALID", message }),
    );
  });
});
