import { inspect } from "node:util";
import { CodedError, errorCode } from "../../src/hadoop/errors.ts";
import { Random } from "../simulation/random.ts";

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
function mutated(seeds: readonly Uint8Array[], random: Random): Uint8Array {
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

/** Something of ours that reads bytes from outside. */
export interface Decoder {
  readonly name: string;
  /** Valid inputs, from which others are made. */
  readonly seeds: readonly Uint8Array[];
  readonly decode: (bytes: Uint8Array) => unknown;
  /** The classes of errors that its caller takes for a refusal, beside a CodedError. */
  readonly refusals?: readonly string[];
  /** It starts a process for each input: tests give it few. */
  readonly isSlow?: boolean;
}

export interface Finding {
  readonly seed: number;
  readonly input: Uint8Array;
  readonly problem: string;
}

/** Of a processor, far more than any input of 64 KiB takes: what is quadratic takes longer. How long it waits for one does not count. */
const longestMs = 5_000;

/** Gives a decoder inputs, each made from its seed. @returns what went wrong, ten at most */
export async function fuzz(decoder: Decoder, inputs: number, from: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let seed = from; seed < from + inputs && findings.length < 10; seed += 1) {
    const input = mutated(decoder.seeds, new Random(seed));
    const problem = await problemOf(decoder, input);
    if (problem !== undefined) findings.push({ seed, input, problem });
  }
  return findings;
}

/** What is wrong with how a decoder takes an input: an error that is none of ours, or too much time. */
export async function problemOf({ decode, refusals = [] }: Decoder, input: Uint8Array): Promise<string | undefined> {
  const started = process.cpuUsage();
  try {
    await decode(input);
  } catch (error) {
    if (!isRefusal(error, refusals)) return inspect(error);
  }
  const { user, system } = process.cpuUsage(started);
  const tookMs = (user + system) / 1_000;
  return tookMs > longestMs ? `took ${Math.round(tookMs)} ms for ${input.length} bytes` : undefined;
}

/**
 * What a mistake of ours throws, such as a TypeError, is no refusal even where its caller takes any Error for one. Classes are compared by
 * name: a test has another Error than Node's own modules.
 */
function isRefusal(error: unknown, refusals: readonly string[]): boolean {
  if (error instanceof CodedError) return true;
  if (typeof error !== "object" || error === null || refusals.length === 0) return false;
  return refusals.includes(error.constructor.name) || errorCode(error) === "ERR_ENCODING_INVALID_ENCODED_DATA";
}

export const utf8 = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");
export const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** JSON that is parsed before its reader has it, which refuses what is none with the whole answer. */
export function afterJson(
  name: string,
  decode: (document: unknown) => unknown,
  ...documents: readonly unknown[]
): Decoder {
  return {
    name,
    seeds: documents.map(json),
    decode: (bytes) => decode(JSON.parse(utf8(bytes))),
    refusals: ["SyntaxError"],
  };
}
