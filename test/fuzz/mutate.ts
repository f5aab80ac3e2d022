import type { Random } from "../simulation/random.ts";

/** Numbers at which readers of lengths, counts and varints go wrong. */
const edges = [0, 1, 0x7f, 0x80, 0xff];
const words = [
  "__proto__",
  "constructor",
  "\\u0000",
  "1e999",
  "-1",
  "{}",
  "[]",
  "null",
  "\n",
  "\u202e",
  '"',
  "<!--",
  "&x;",
];
const longestInput = 65_536;

/** One of the seeds with a few edits, or bytes without any form. */
export function mutated(seeds: readonly Uint8Array[], random: Random): Uint8Array {
  const seed = random.chance(0.95) ? random.any(seeds) : undefined;
  let bytes: Buffer = Buffer.from(seed ?? noise(random, random.integer(0, 200)));
  for (let edits = random.integer(seed === undefined ? 0 : 1, 6); edits > 0; edits -= 1) {
    bytes = edited(bytes, seeds, random).subarray(0, longestInput);
  }
  return bytes;
}

function edited(bytes: Buffer, seeds: readonly Uint8Array[], random: Random): Buffer {
  const at = random.integer(0, bytes.length);
  const end = Math.min(bytes.length, at + random.integer(0, 16));
  const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
  switch (random.integer(0, 7)) {
    case 0:
      return Buffer.concat([before, Uint8Array.of(random.any(edges) ?? 0), bytes.subarray(at + 1)]);
    case 1:
      return Buffer.concat([before, Uint8Array.of(random.integer(0, 255)), bytes.subarray(at + 1)]);
    case 2:
      return before;
    case 3:
      return Buffer.concat([before, after]);
    case 4:
      return Buffer.concat([before, part, part, part, after]);
    case 5:
      return Buffer.concat([before, Buffer.from(random.any(words) ?? ""), after]);
    case 6:
      return Buffer.concat([before, noise(random, random.integer(1, 9)), after]);
    default:
      return Buffer.concat([before, (random.any(seeds) ?? before).subarray(random.integer(0, 64))]);
  }
}

function noise(random: Random, lengthBytes: number): Buffer {
  return Buffer.from(Array.from({ length: lengthBytes }, () => random.integer(0, 255)));
}
