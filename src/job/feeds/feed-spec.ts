import { arrayOf, bool, count, literal, object, type Shape, string } from "../shape.ts";
import type { Cut } from "./cut.ts";

/** A feed, as described by a job's keys. */
export interface FeedSpec {
  readonly name: string;
  /** Absolute paths and URLs, which may contain patterns. */
  readonly input: readonly string[];
  readonly cut: Cut;
  /** The folder for the results that programs make from the splits. */
  readonly output?: string;
  /** Absent: no end. */
  readonly epochs?: number;
  /** Absent: in the order of the files. */
  readonly seed?: number;
  readonly window: number;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  /** How often the input is listed again, with new files handed out too; absent: it stays as it was at the submission. */
  readonly relistMs?: number;
  /** The file that says that nothing more will be added; absent: there is none. */
  readonly until?: string;
  /** Absent: an epoch begins when the previous one is used up. */
  readonly boundary?: Boundary;
  /** Absent: each task makes as many steps as it has rows for. */
  readonly uneven?: Uneven;
  /** False: splits are handed out strictly in order, wherever their bytes are. */
  readonly locality?: boolean;
  /** The roles whose tasks read it; absent: all roles, and each reads within its own role. */
  readonly roles?: readonly string[];
}

/**
 * How far ahead of what is used splits may be handed out.
 * - `overlap`: by the next epoch
 * - `infinite`: without limit: no task waits for what others have
 */
export type Boundary = "overlap" | "infinite";

/** How all tasks are made to take the same number of steps. */
export type Uneven = "drop" | "pad" | "stop-together";

/** The message for a name that is none of these feeds, with what to do. */
export function noFeedWords(name: string, feeds: readonly Pick<FeedSpec, "name">[]): string {
  const there =
    feeds.length === 0 ? "set tony.feed.NAME.input" : `there is ${feeds.map((feed) => feed.name).join(", ")}`;
  return `the job has no feed ${name}: ${there}`;
}

const splitBytes = { splitBytes: count };

const cutShapes: { readonly [F in Cut["format"]]: Shape<Extract<Cut, { format: F }>> } = {
  lines: object({ required: { format: literal("lines"), ...splitBytes }, optional: {} }),
  bytes: object({ required: { format: literal("bytes"), ...splitBytes }, optional: {} }),
  avro: object({ required: { format: literal("avro"), ...splitBytes }, optional: {} }),
  parquet: object({ required: { format: literal("parquet"), ...splitBytes }, optional: {} }),
  fixed: object({ required: { format: literal("fixed"), ...splitBytes, recordBytes: count }, optional: {} }),
  file: object({ required: { format: literal("file") }, optional: {} }),
  tfrecord: object({ required: { format: literal("tfrecord") }, optional: {} }),
};

const ofFormat: Shape<Pick<Cut, "format">> = object({
  required: { format: literal("lines", "bytes", "avro", "parquet", "fixed", "file", "tfrecord") },
  optional: {},
});

const cutShape: Shape<Cut> = (value, where) => cutShapes[ofFormat(value, where).format](value, where);

export const feedSpecShape: Shape<FeedSpec> = object<FeedSpec>({
  required: {
    name: string,
    input: arrayOf(string),
    cut: cutShape,
    window: count,
    leaseMs: count,
    maxAttempts: count,
  },
  optional: {
    output: string,
    epochs: count,
    seed: count,
    relistMs: count,
    until: string,
    boundary: literal("overlap", "infinite"),
    uneven: literal("drop", "pad", "stop-together"),
    locality: bool,
    roles: arrayOf(string),
  },
});
