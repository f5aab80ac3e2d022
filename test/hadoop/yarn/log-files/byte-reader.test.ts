import { describe, expect, test } from "@jest/globals";
import {
  ByteReader,
  decodeJavaUtf,
  readChunks,
  readText,
  readVLong,
} from "../../../../src/hadoop/yarn/log-files/byte-reader.ts";
import { tfileText } from "../../../support/tfile-writer.ts";

/** A reader of bytes that arrive in these chunks. */
const reader = (...chunks: readonly (string | Buffer)[]) =>
  new ByteReader(
    (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    })(),
  );
const ofHex = (hex: string) => reader(Buffer.from(hex, "hex"));

async function all(pieces: AsyncIterable<Buffer>): Promise<string[]> {
  const read: string[] = [];
  for await (const piece of pieces) read.push(String(piece));
  return read;
}

describe("bytes that arrive in chunks", () => {
  test("are read in any pieces, whatever the chunks, of which some are empty", async () => {
    const bytes = reader("ab", "", "cdef", "g");
    expect(String(await bytes.read(1))).toBe("a");
    expect(String(await bytes.read(3))).toBe("bcd");
    expect(await bytes.read(0)).toHaveLength(0);
    expect(await bytes.atEnd()).toBe(false);
    expect(String(await bytes.read(3))).toBe("efg");
    expect(await bytes.atEnd()).toBe(true);
  });

  test("are taken as they arrive", async () => {
    const bytes = reader("ab", "cdef", "g");
    expect(await all(bytes.take(4))).toEqual(["ab", "cd"]);
    expect(await all(bytes.take(0))).toEqual([]);
    expect(await all(bytes.take(3))).toEqual(["ef", "g"]);
  });

  test("are skipped, some or all that are left", async () => {
    const bytes = reader("ab", "cdef", "g");
    await bytes.skip(3);
    expect(String(await bytes.read(1))).toBe("d");
    await bytes.skipRest();
    expect(await bytes.atEnd()).toBe(true);
  });

  test("that end too early are an error, and so is a length that none can have", async () => {
    await expect(reader("ab", "c").read(5)).rejects.toMatchObject({
      code: "LOG_FILE_MALFORMED",
      message: "the data ends 2 bytes too early",
    });
    await expect(reader("ab").skip(3)).rejects.toThrow("the data ends 1 bytes too early");
    await expect(reader("ab").read(-1)).rejects.toThrow("a length of -1 is not possible here");
    await expect(reader("ab").read(16_777_217)).rejects.toThrow("a length of 16777217 is not possible here");
    await expect(reader("ab").read(16_777_216)).rejects.toThrow("the data ends 16777214 bytes too early");
  });
});

describe("an integer of TFile", () => {
  test.each([
    ["e0", -32],
    ["dfff", 5_119],
    ["b800", -5_120],
    ["b7ffff", 1_048_575],
    ["980000", -1_048_576],
    ["97ffffff", 134_217_727],
    ["88000000", -134_217_728],
    ["8308000000", 134_217_728],
    ["84ffffffffff", -1],
    ["85010000000000", 1_099_511_627_776],
    ["8600000000000001", 1],
    ["8700000000000000ff", 255],
    ["87ffffffffffffffff", -1],
  ])("%s is %i", async (hex, value) => {
    expect(await readVLong(ofHex(hex))).toBe(value);
  });

  test.each([
    ["begins with a byte that none begins with", "80", "-128 does not begin a variable-length integer"],
    ["is longer than any number here", "8700200000000000ff", "is too large for a length"],
    ["is cut off", "83080000", "the data ends 1 bytes too early"],
  ])("is none that %s", async (_what, hex, said) => {
    await expect(readVLong(ofHex(hex))).rejects.toThrow(said);
  });
});

test("a text of TFile has its length in bytes before it; a negative one is an empty text", async () => {
  const bytes = reader(tfileText("hällo"), Buffer.from("ff", "hex"), tfileText("next"));
  expect([await readText(bytes), await readText(bytes), await readText(bytes)]).toEqual(["hällo", "", "next"]);
});

describe("a text of Java", () => {
  test.each([
    ["41c3a4e282ac", "Aä€"],
    ["c080", "\0"],
    ["eda0bdedb880", "😀"],
  ])("%s is %j", (hex, text) => {
    expect(decodeJavaUtf(Buffer.from(hex, "hex"))).toBe(text);
  });

  test.each(["c3", "e282", "80", "f09f9880"])("is not %s", (hex) => {
    expect(() => decodeJavaUtf(Buffer.from(hex, "hex"))).toThrow("a text is not modified UTF-8");
  });
});

test("a value in chunks ends with the one whose length is not negative, which may be empty", async () => {
  const bytes = reader(Buffer.from("fe", "hex"), "ab", Buffer.from("ff", "hex"), "c", Buffer.of(2), "de", "rest");
  expect(await all(readChunks(bytes))).toEqual(["ab", "c", "de"]);
  expect(String(await bytes.read(4))).toBe("rest");
  expect(await all(readChunks(reader(Buffer.from("fe", "hex"), "ab", Buffer.of(0), "x")))).toEqual(["ab"]);
});
