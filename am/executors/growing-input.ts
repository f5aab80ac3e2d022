import type { WallClock } from "../../src/hadoop/clock.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { findFiles } from "../../src/hadoop/hdfs/find-files.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { whyUnreadable } from "../../src/job/feeds/cut.ts";
import type { FeedSpec } from "../../src/job/feeds/feed-spec.ts";
import { type InputFile, Listing } from "../../src/job/feeds/listing.ts";
import { bool, object, type Shape } from "../../src/job/shape.ts";
import type { Log } from "../../src/log.ts";
import { journalClosed, type SealedJournal } from "../storage/sealed-journal.ts";

/** What one look has found: files that came since the one before, and whether more will come. */
export interface Found {
  readonly files: Listing;
  readonly isComplete: boolean;
}

export const foundShape: Shape<Found> = object({
  required: { files: Listing.shape, isComplete: bool },
  optional: {},
});

/** The same limit as at a submission. */
const MOST_FILES = 100_000;

export interface GrowingInputOptions {
  readonly spec: FeedSpec & { readonly relistMs: number };
  readonly fileSystems: Pick<FileSystems, "locate">;
  readonly clock: WallClock;
  readonly log: Pick<Log, "warn">;
  readonly journal: Pick<SealedJournal<Found>, "write">;
  /** Files that are in the feed; only the feed keeps their list. */
  readonly known: () => Listing;
  /** As they were at the last look. */
  readonly seen: Iterable<InputFile>;
  /** Called once what was found is in the journal. */
  readonly found: (found: Found) => void;
}

/**
 * Looks for new files of a feed, again after each pause. A file joins the feed when it was the same at two looks and nobody has it open:
 * half-written files are not read. What was found is in the journal, in the order in which it was found, before anybody hears of it: a later
 * attempt has the same order.
 */
export class GrowingInput {
  readonly #options: GrowingInputOptions;
  #seen: ReadonlyMap<string, InputFile>;
  readonly #said = new Set<string>();
  #sequence = 0;

  constructor(options: GrowingInputOptions) {
    this.#options = options;
    this.#seen = byPath(options.seen);
  }

  /** Runs until no more files come, or nothing is written any more. */
  async watch(): Promise<void> {
    const { spec, clock, found } = this.#options;
    let unwritten: Found | undefined;
    for (;;) {
      try {
        unwritten ??= await this.#look();
        if (unwritten !== undefined) {
          await this.#write(unwritten);
          found(unwritten);
          if (unwritten.isComplete) return;
        }
        unwritten = undefined;
      } catch (error) {
        if (errorCode(error) === journalClosed) return;
        this.#warnOnce("feed-not-looked-up", `New files of feed ${spec.name} are not found: ${errorMessage(error)}`);
      }
      await new Promise<void>((resolve) => clock.after(spec.relistMs, resolve));
    }
  }

  /** Undefined: nothing new. */
  async #look(): Promise<Found | undefined> {
    const { spec, fileSystems } = this.#options;
    const isEnd = spec.until !== undefined && (await isThere(fileSystems, spec.until));
    const now = new Map<string, InputFile>();
    for (const place of spec.input) {
      const { fileSystem, path } = fileSystems.locate(place);
      for (const { path: file, ...facts } of await findFiles(fileSystem, path)) {
        const url = `${fileSystem.uri}${file}`;
        // An empty file may be one that is still being written.
        if (facts.length > 0) now.set(url, { path: url, ...facts });
      }
    }
    this.#leaveOutKnown(now);
    const fresh = [...now.values()].filter((file) => this.#isUsable(file));
    const still = fresh.filter((file) => isSame(this.#seen.get(file.path), file));
    const files = [];
    for (const file of still) if (await this.#isWhole(file)) files.push(file);
    this.#seen = byPath(fresh);
    const isComplete = isEnd && files.length === fresh.length;
    return files.length > 0 || isComplete ? { files: Listing.of(this.#withinLimit(files)), isComplete } : undefined;
  }

  #leaveOutKnown(now: Map<string, InputFile>): void {
    const { spec, known } = this.#options;
    for (const before of known()) {
      const file = now.get(before.path);
      if (file !== undefined && !isSame(before, file))
        this.#warnOnce(
          "feed-file-changed",
          `${file.path} of feed ${spec.name} has changed since it was found, and is not read again`,
        );
      now.delete(before.path);
    }
  }

  #isUsable(file: InputFile): boolean {
    const { spec } = this.#options;
    const why = whyUnreadable(spec.cut, file);
    if (why === undefined || !isSame(this.#seen.get(file.path), file)) return true;
    this.#warnOnce("feed-file-unusable", `Feed ${spec.name} does not take ${why}`);
    return false;
  }

  async #isWhole({ path: url }: InputFile): Promise<boolean> {
    const { spec, fileSystems } = this.#options;
    const { fileSystem, path } = fileSystems.locate(url);
    try {
      return !(await fileSystem.blockAt(path)).isBeingWritten;
    } catch (error) {
      // It has been moved since.
      if (hasCode(error, "FILE_NOT_FOUND")) return false;
      this.#warnOnce("feed-not-looked-up", `${url} of feed ${spec.name} cannot be read yet: ${errorMessage(error)}`);
      return false;
    }
  }

  #withinLimit(files: readonly InputFile[]): readonly InputFile[] {
    const room = MOST_FILES - this.#options.known().size;
    if (files.length > room)
      this.#warnOnce("feed-full", `Feed ${this.#options.spec.name} has ${MOST_FILES} files and takes no more`);
    return files.slice(0, room);
  }

  /** A write whose result is unknown is repeated unchanged: it counts once. */
  async #write(found: Found): Promise<void> {
    this.#sequence += 1;
    await this.#options.journal.write({ sequence: this.#sequence, content: JSON.stringify(found), isWhole: false });
  }

  #warnOnce(event: string, message: string): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.#options.log.warn(event, message);
  }
}

/** What earlier attempts found, each file once, in the order in which it came. */
export function foundBefore(written: readonly { readonly file: Found }[]): readonly Found[] {
  const known = new Set<string>();
  return written.flatMap(({ file: { files, isComplete } }) => {
    const fresh = [...files].filter(({ path }) => !known.has(path));
    for (const { path } of fresh) known.add(path);
    return fresh.length > 0 || isComplete ? [{ files: Listing.of(fresh), isComplete }] : [];
  });
}

function byPath(files: Iterable<InputFile>): Map<string, InputFile> {
  const known = new Map<string, InputFile>();
  for (const file of files) known.set(file.path, file);
  return known;
}

function isSame(before: InputFile | undefined, { length, modifiedMs }: InputFile): boolean {
  return before?.length === length && before.modifiedMs === modifiedMs;
}

async function isThere(fileSystems: Pick<FileSystems, "locate">, place: string): Promise<boolean> {
  const { fileSystem, path } = fileSystems.locate(place);
  return (await ifThere(fileSystem.stat(path))) !== undefined;
}
