import path from "node:path";
import type { WallClock } from "../../src/hadoop/clock.ts";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import type { TrialLine } from "../../src/job/search/trials.ts";
import { textOfTrials } from "../core/status/search-files.ts";

/** How many files are written in parallel. */
const AT_ONCE = 8;

/**
 * Stores what a search leaves: in its folder below `tony.output.dir`, and with the local scheduler in the job's own folder. A reader sees whole
 * files only.
 */
export async function storeSearchFiles(
  files: Readonly<Record<string, string | Uint8Array>>,
  folders: readonly string[],
  fileSystems: Pick<FileSystems, "locate">,
): Promise<void> {
  await Promise.all(folders.map((folder) => storeIn(fileSystems.locate(folder), files)));
}

async function storeIn(
  { fileSystem, path: folder }: LocatedPath,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  const left = Object.entries(files);
  const storeNext = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [name, content] = next;
      const target = path.posix.join(folder, name);
      const draft = path.posix.join(path.posix.dirname(target), `.${path.posix.basename(target)}.tmp`);
      await fileSystem.create(draft, Buffer.from(content), { permission: 0o640, overwrite: true });
      await fileSystem.rename(draft, target, { overwrite: true });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, storeNext));
}

type Files = Readonly<Record<string, string | Uint8Array>>;

export interface SearchResultsOptions {
  readonly clock: WallClock;
  /** Absent for a job that is no search. */
  readonly leave?: () => Promise<void>;
  readonly folders: readonly string[];
  readonly fileSystems: Pick<FileSystems, "locate">;
  readonly lines: () => readonly TrialLine[];
  /** What is stored at the end: sets of files, one after the other. */
  readonly files: () => readonly Files[];
}

/** Trials are stored this often at most. */
const EACH_MS = 10_000;
/** Less often where storing takes long: it may take a 20th of the time at most. */
const RESTS = 20;
/** A timer this late may belong to an attempt that was replaced while it was paused. */
const LATE_MS = 2_000;

/**
 * What a search leaves: its trials as they end, so that they survive whatever happens to its ApplicationMaster, and everything else at its
 * end.
 */
export class SearchResults {
  readonly #options: SearchResultsOptions;
  #stored = 0;
  #underWay: Promise<void> = Promise.resolve();
  #cancel: (() => void) | undefined;

  constructor(options: SearchResultsOptions) {
    this.#options = options;
  }

  /** From now on trials are stored as they begin and end. */
  begin(pauseMs = EACH_MS): void {
    const { clock, leave } = this.#options;
    if (leave === undefined) return;
    const dueMs = clock.nowMs() + pauseMs;
    this.#cancel = clock.after(pauseMs, () => {
      if (clock.nowMs() > dueMs + LATE_MS) this.begin();
      else this.#underWay = this.#storeKnown();
    });
  }

  /** Rejects as the file system. */
  async end(): Promise<void> {
    this.#cancel?.();
    await this.#underWay;
    this.#cancel?.();
    for (const files of this.#options.files()) await this.#store(files);
  }

  async #storeKnown(): Promise<void> {
    const { clock, lines: linesNow } = this.#options;
    const sinceMs = clock.nowMs();
    const lines = linesNow();
    // A running trial may have a checkpoint, from which a search that continues this one goes on.
    const known = lines.length + lines.filter(({ state }) => state !== "running").length;
    if (known > this.#stored) {
      // What cannot be stored now is stored later.
      const files = [this.#store({ "trials.jsonl": textOfTrials(lines) }), this.#options.leave?.()];
      const stored = await Promise.all(files).then(
        () => known,
        () => this.#stored,
      );
      this.#stored = stored;
    }
    this.begin(Math.max(EACH_MS, RESTS * (clock.nowMs() - sinceMs)));
  }

  async #store(files: Files): Promise<void> {
    const { folders, fileSystems } = this.#options;
    if (folders.length > 0) await storeSearchFiles(files, folders, fileSystems);
  }
}
