import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { encodeFrame, FrameReader, readDelimited, readVarint32 } from "../../../src/hadoop/rpc/frame.ts";
import { delimited } from "../../support/rpc-server.ts";

const body = fc.uint8Array({ maxLength: 300 });

describe("frames", () => {
  test("a stream of frames is read back however it was split", () => {
    fc.assert(
      fc.property(fc.array(body, { maxLength: 8 }), fc.array(fc.nat(2_000), { maxLength: 12 }), (bodies, cuts) => {
        const stream = Buffer.concat(bodies.map((bytes) => encodeFrame(bytes)));
        const reader = new FrameReader();
        const frames = pieces(stream, cuts).flatMap((piece) =>
          [...reader.push(piece)].map((frame) => Buffer.from(frame)),
        );
        expect(frames).toEqual(bodies.map((bytes) => Buffer.from(bytes)));
      }),
    );
  });

  test("a frame of many small chunks is joined once, not at every chunk", () => {
    const reader = new FrameReader();
    const frame = encodeFrame(Buffer.alloc(200_000, 7));
    const found: Buffer[] = [];
    for (const byte of frame) found.push(...reader.push(Buffer.of(byte)));
    expect(found.map(({ length }) => length)).toEqual([200_000]);
  });

  test("a frame longer than the limit is an error before its bytes are awaited", () => {
    const reader = new FrameReader(1_000);
    expect(() => [...reader.push(encodeFrame(Buffer.alloc(1_001)).subarray(0, 4))]).toThrow(
      "A frame of 1001 bytes is announced; the limit is 1000",
    );
  });

  test("a frame of just the limit is taken", () => {
    expect([...new FrameReader(1_000).push(encodeFrame(Buffer.alloc(1_000)))]).toHaveLength(1);
  });

  test.each([
    ["HTTP/1.1 400 Bad Request\r\n", /HTTP server/],
    ["\x15\x03\x03\x00\x02\x02\x46", /TLS server/],
    ["SSH-2.0-OpenSSH_9.2\r\n", /limit/],
  ])("another protocol is told from its first bytes: %j", (greeting, message) => {
    expect(() => [...new FrameReader().push(Buffer.from(greeting, "latin1"))]).toThrow(message);
  });
});

describe("delimited parts", () => {
  test("are read one after the other", () => {
    fc.assert(
      fc.property(fc.array(body, { maxLength: 6 }), (bodies) => {
        const frame = Buffer.concat(bodies.map(delimited));
        const found: Buffer[] = [];
        for (let offset = 0; offset < frame.length; ) {
          const { bytes, next } = readDelimited(frame, offset);
          found.push(Buffer.from(bytes));
          offset = next;
        }
        expect(found).toEqual(bodies.map((bytes) => Buffer.from(bytes)));
      }),
    );
  });

  test("a part cut short is an error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), (bytes, cut) => {
        const whole = delimited(bytes);
        expect(() => readDelimited(whole.subarray(0, cut % whole.length), 0)).toThrow(/ends inside/);
      }),
    );
  });

  test("lengths are varints of 32 bits, no more", () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 32 - 1 }), (value) => {
        const bytes = varint(value);
        expect(readVarint32(bytes, 0)).toEqual({ value, next: bytes.length });
      }),
    );
    expect(() => readVarint32(varint(2 ** 32), 0)).toThrow(/longer than 32 bits/);
    expect(() => readVarint32(Buffer.alloc(10, 0xff), 0)).toThrow(/longer than 32 bits/);
  });
});

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

function pieces(stream: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (stream.length + 1)).sort((one, other) => one - other), stream.length];
  return at.slice(1).map((end, index) => stream.subarray(at[index], end));
}
