import { arrayOf, bool, count, literal, object, type Shape, string } from "../shape.ts";
import type { Cut } from "./cut.ts";

/** What a job's keys say of a feed. */
export interface FeedSpec {
  readonly name: string;
  /** Absolute paths and URLs, with patterns in them. */
  readonly input: readonly string[];
  readonly cut: Cut;
  /** The folder of what programs make of the splits. */
  readonly output?: string;
  /** Absent: without end. */
  readonly epochs?: number;
  /** Absent: in the order of the files. */
  readonly seed?: number;
  readonly window: number;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  /** Its input is looked up again so often, and what is new handed out, too; absent: it is what it was at the submission. */
  readonly relistMs?: number;
  /** The file that says that no more comes; absent: nothing does. */
  readonly until?: string;
  /** Absent: an epoch begins when all of the one before is used. */
  readonly boundary?: Boundary;
  /** Absent: tasks make as many steps as they have rows for. */
  readonly uneven?: Uneven;
  /** False: splits are given in their order alone, wherever their bytes are. */
  readonly locality?: boolean;
  /** Whose tasks read it; absent: those of any, and each is one of its own role's. */
  readonly roles?: readonly string[];
}

/**
 * How far what is handed out may be ahead of what is used.
 * - `overlap`: by the next epoch
 * - `infinite`: without limit: nobody waits for what others have
 */
export type Boundary = "overlap" | "infinite";

/** How all tasks make the same number of steps. */
export type Uneven = "drop" | "pad" | "stop-together";

/** Why a name is none of these feeds, and what to do. */
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
