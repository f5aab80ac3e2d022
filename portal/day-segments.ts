import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { access, constants, mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { errorCode, isNotThere } from "../src/hadoop/errors.ts";
import { amount, arrayOf, count, literal, object, type Shape, string } from "../src/job/shape.ts";
import type { JobRow } from "../src/page/portal-answers.ts";
import type { KnownJob } from "./job-index.ts";
import { readUsage } from "./stored-job.ts";
import type { Tally } from "./tally.ts";

/** All jobs of one day of a history, as the portal read them. */
export interface DaySegment {
  /** The day's folder, and when it last changed: until it changes again, nothing of it needs to be read anew. */
  readonly day: string;
  readonly changedAtMs: number;
  readonly jobs: readonly KnownJob[];
}

/** Raised when a reader could misunderstand a file of an earlier version, or miss something in it: that day is then read again from the history. */
const SEGMENT_VERSION = 2;
/** The same for the totals of removed jobs, which cannot be read again. */
const GONE_VERSION = 1;
const MOST_BYTES = 256 * 2 ** 20;

const compress = promisify(gzip);

/**
 * What the portal has read of a history, one file per day in a folder of this machine: at its start the portal reads these instead of the
 * history's own files, of which each job has several. Only the portal's user may read them, and they may be removed at any time.
 */
export class DaySegments {
  readonly #folder: string;

  /** @param history whose days they are: one folder may hold the days of several histories */
  constructor(folder: string, history: string) {
    this.#folder = path.join(folder, createHash("sha256").update(history).digest("hex").slice(0, 16));
  }

  /** Creates the folder. @throws Error where nothing can be stored there */
  async prepare(): Promise<void> {
    await makeFolders(this.#folder);
    await access(this.#folder, constants.W_OK | constants.X_OK);
  }

  /** The readable segments, the newest first; others are made again. */
  *load(): Generator<DaySegment> {
    for (const name of this.#names()) {
      const segment = this.#read(name);
      if (segment !== undefined) yield segment;
    }
  }

  async save({ day, changedAtMs, jobs }: DaySegment): Promise<void> {
    const text = JSON.stringify({ segmentVersion: SEGMENT_VERSION, day, changedAtMs, jobs });
    await this.#write(nameOf(day), await compress(text, { level: 1 }));
  }

  /** Totals of removed jobs; empty where they were not kept, or cannot be read. */
  gone(): readonly Tally[] {
    try {
      return readGone(JSON.parse(readFileSync(path.join(this.#folder, GONE), "utf8")), "").tallies;
    } catch {
      return [];
    }
  }

  async saveGone(tallies: readonly Tally[]): Promise<void> {
    await this.#write(GONE, JSON.stringify({ goneVersion: GONE_VERSION, tallies }));
  }

  /** Writes atomically: the file is complete or does not exist. */
  async #write(name: string, content: string | Buffer): Promise<void> {
    const file = path.join(this.#folder, name);
    await makeFolders(this.#folder);
    await writeFile(`${file}.new`, content, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  async remove(day: string): Promise<void> {
    await rm(path.join(this.#folder, nameOf(day)), { force: true });
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder)
        .filter((name) => name.endsWith(ENDING))
        .sort()
        .reverse();
    } catch (error) {
      if (isNotThere(error)) return [];
      throw error;
    }
  }

  #read(name: string): DaySegment | undefined {
    try {
      const text = gunzipSync(readFileSync(path.join(this.#folder, name)), { maxOutputLength: MOST_BYTES });
      const { segmentVersion: _version, ...segment } = readSegment(JSON.parse(text.toString("utf8")), "");
      return nameOf(segment.day) === name ? segment : undefined;
    } catch {
      return undefined;
    }
  }
}

/** As Node's `recursive`, which retries for ever in a folder that exists and reports a missing path when something is created in it (/proc). */
async function makeFolders(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) await makeFolders(above);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

const ENDING = ".json.gz";
/** The one file that does not belong to a day. */
const GONE = "gone.json";

/** `2026-10-30.json.gz` */
function nameOf(day: string): string {
  return `${day.split("/").slice(-3).join("-")}${ENDING}`;
}

const readState = literal("waiting", "running", "succeeded", "failed", "killed", "unknown");

const readRow = object<JobRow>({
  required: {
    applicationId: string,
    name: string,
    user: string,
    queue: string,
    state: readState,
    startedAtMs: amount,
    tasks: count,
    writtenBy: literal("tony-ts", "TonY"),
    usage: readUsage,
  },
  optional: { viewers: string, submittedAtMs: amount, endedAtMs: amount, tags: arrayOf(string), cause: string },
});

const readGone = object<{ readonly goneVersion: typeof GONE_VERSION; readonly tallies: readonly Tally[] }>({
  required: {
    goneVersion: literal(GONE_VERSION),
    tallies: arrayOf(
      object<Tally>({
        required: {
          ...{ user: string, queue: string, state: readState, currency: string, jobs: count, ms: amount },
          ...{ memoryMiBSeconds: amount, vcoreSeconds: amount, gpuSeconds: amount },
        },
        optional: { viewers: string, cost: amount },
      }),
    ),
  },
  optional: {},
});

const readJob = object<Omit<KnownJob, "outcome">>({
  required: { applicationId: string, folder: string, changedAtMs: amount, bytes: count, row: readRow },
  optional: {},
});

const readSegment: Shape<DaySegment & { readonly segmentVersion: typeof SEGMENT_VERSION }> = object<
  DaySegment & { readonly segmentVersion: typeof SEGMENT_VERSION }
>({
  required: {
    segmentVersion: literal(SEGMENT_VERSION),
    day: string,
    changedAtMs: amount,
    jobs: arrayOf<KnownJob>(readJob),
  },
  optional: {},
});
