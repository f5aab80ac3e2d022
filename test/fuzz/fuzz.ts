import { inspect } from "node:util";
import { CodedError, errorCode } from "../../src/hadoop/errors.ts";
import { Random } from "../simulation/random.ts";
import { mutated } from "./mutate.ts";

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
