import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { checkedRecords } from "../../../executor/feeds/tfrecord.ts";
import { crc32c, masked } from "../../../src/crc32c.ts";

/** As TensorFlow 2.21's TFRecordWriter wrote the records "a" and "" one after the other. */
const WRITTEN = Buffer.from("01000000000000000175de4161786ee428000000000000000029039807d8ea82a2", "hex");

const read = (chunks: readonly Uint8Array[]) =>
  buffer(checkedRecords(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), "/data/a"));
/** The first bytes of a record that says it has so many. */
function headOf(length: bigint): Buffer {
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(length);
  head.writeUInt32LE(masked(crc32c(head.subarray(0, 8))), 8);
  return head;
}
const changed = (at: number) => WRITTEN.map((byte, place) => (place === at ? byte ^ 1 : byte));

describe("the records of a TFRecord file", () => {
  test("are passed on as they are, however they come", async () => {
    const cuts = fc.array(fc.integer({ min: 0, max: WRITTEN.length }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const bounds = [0, ...places.sort((a, b) => a - b), WRITTEN.length];
        const chunks = bounds.slice(1).map((end, nth) => WRITTEN.subarray(bounds[nth], end));
        expect((await read(chunks)).equals(WRITTEN)).toBe(true);
      }),
    );
    expect(await read([])).toHaveLength(0);
  });

  test.each([
    ["a length that was changed", changed(0), "the record at byte 0 has a length that does not match its checksum"],
    ["bytes that were changed", changed(12), "the record at byte 0 has data that does not match its checksum"],
    ["the checksum of a later one", changed(31), "the record at byte 17 has data that does not match its checksum"],
    [
      "a record that is too long",
      headOf(67_108_865n),
      "the record at byte 0 has 67108865 bytes; the limit is 67108864",
    ],
    ["an end in the middle", WRITTEN.subarray(0, 20), "the record at byte 17 is truncated"],
    ["bytes behind the last", Buffer.concat([WRITTEN, Buffer.of(1)]), "the record at byte 33 is truncated"],
  ])("with %s end with its place", async (_what, bytes, why) => {
    await expect(read([bytes])).rejects.toMatchObject({
      code: "FEED_FILE_DAMAGED",
      message: `/data/a cannot be read: ${why}`,
    });
  });

  test("have the checksum of RFC 3720, of however many parts", () => {
    // Its appendix B.4.
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
    const ascending = Buffer.from(Array.from({ length: 32 }, (_, nth) => nth));
    expect(crc32c(ascending)).toBe(0x46dd794e);
    expect(crc32c(ascending.subarray(13), crc32c(ascending.subarray(0, 13)))).toBe(0x46dd794e);
  });
});
